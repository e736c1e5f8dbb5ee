"""A program written for mem0: only its import is changed."""

from __future__ import annotations

import two_processes

import memorata
from memorata_agents.mem0 import Memory  # was: from mem0 import Memory


def answer(engine: memorata.Engine, prompt: str) -> str:
    memory = Memory(engine=engine)
    found = memory.search(prompt, filters={"user_id": "anna"})
    said: str = two_processes.reply([prompt, found])
    memory.add([{"role": "user", "content": prompt}, {"role": "assistant", "content": said}], user_id="anna")
    return said


if __name__ == "__main__":
    two_processes.run(__file__, answer)
