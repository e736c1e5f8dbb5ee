"""What every example here does: one process is told something, another one is asked about it.

The model is a script, so that nothing is asked over a network: it acknowledges what it is told, and answers a
question from what it is given. It knows the day only if memory has given it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import memorata

TOLD = "We deploy on Fridays."
ASKED = "When do we deploy?"
_ANSWER = "agent:"


def reply(given: object) -> str:
    """Return what the scripted model answers, given all that it can see."""
    seen = str(given)
    if ASKED not in seen:
        return "Noted."
    return "On Fridays." if "Fridays" in seen else "I do not know."


def run(file: str, answer: Callable[[memorata.Engine, str], str]) -> None:
    """Let an example answer a prompt if it is given one; otherwise start it twice, on one database."""
    if len(sys.argv) == 3:
        with memorata.open(sys.argv[1], embedder="lexical") as memory:
            # In one piece and on a line of its own: CrewAI prints what it does from a thread.
            sys.stdout.write(f"\n{_ANSWER} {answer(memory, sys.argv[2])}\n")
            sys.stdout.flush()
        return
    with tempfile.TemporaryDirectory() as folder:
        for prompt in (TOLD, ASKED):
            command = [sys.executable, file, str(Path(folder) / "memories.db"), prompt]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            said = next(line for line in done.stdout.splitlines() if line.startswith(_ANSWER))
            print(f"user: {prompt}\n{said}")
