"""Two coding agents and a server on one file: nothing is lost, and no hook keeps its agent waiting.

    python -m benchmarks.agents --seconds 60

Claude Code and Codex each hold conversations: a hook process when a session starts, one for every prompt, a
transcript that grows, and one when the agent stops. Meanwhile a server on the same file takes memories and
answers recalls. At the end everything that was said or acknowledged must be in the file, once, the file must
be sound, and no hook may have taken longer than the time-out that `memorata agents install` gives it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import memorata
from memorata_agents.hooks.client import TIMEOUT_SECONDS, last_failure, read_address, run_folder
from memorata_agents.hooks.install import CLAUDE_CODE_EVENTS

TURNS_PER_SESSION: Final = 5
_WAIT_SECONDS: Final = 60.0


@dataclass
class Agent:
    """A coding agent: what it said, and how long its hooks took."""

    name: str
    folder: Path
    environment: Mapping[str, str]
    said: list[str] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    answered: int = 0

    def talk(self, until: float) -> None:
        """Hold one conversation after the other."""
        number = 0
        while time.monotonic() < until:
            number += 1
            self._session(f"{self.name}-{number}", until)

    def _session(self, session: str, until: float) -> None:
        transcript = self.folder / f"{session}.jsonl"
        transcript.write_text("" if self.name == "claude-code" else _codex_head(session), "utf-8")
        self._hook("SessionStart", session, transcript)
        for turn in range(TURNS_PER_SESSION):
            if time.monotonic() > until:
                break
            prompt = f"Question {turn} of {session}: what about module {turn * 7}?"
            self._hook("UserPromptSubmit", session, transcript, prompt=prompt)
            answer = f"Answer {turn} of {session}: module {turn * 7} is written in Go."
            with transcript.open("a", encoding="utf-8") as lines:
                for role, text in (("user", prompt), ("assistant", answer)):
                    lines.write(json.dumps(_line(self.name, session, role, text)) + "\n")
            self.said += [prompt, answer]
            self._hook("Stop", session, transcript)

    def _hook(self, event: str, session: str, transcript: Path, **more: str) -> None:
        given = {"hook_event_name": event, "session_id": session, "transcript_path": str(transcript), **more}
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "memorata_agents.hooks.client", self.name],
            input=json.dumps(given),
            text=True,
            capture_output=True,
            env=dict(self.environment),
            check=True,
        )
        self.seconds.setdefault(event, []).append(time.monotonic() - started)
        self.answered += bool(done.stdout)


def _codex_head(session: str) -> str:
    head = {"type": "session_meta", "payload": {"id": session, "cwd": "/code"}}
    return json.dumps({"timestamp": _now(), **head}) + "\n"


def _line(agent: str, session: str, role: str, text: str) -> dict[str, Any]:
    if agent == "claude-code":
        message = {"role": role, "content": text}
        return {
            "type": role,
            "sessionId": session,
            "timestamp": _now(),
            "uuid": f"{session}-{text}",
            "message": message,
        }
    part = {"type": "input_text" if role == "user" else "output_text", "text": text}
    payload = {"type": "message", "role": role, "content": [part]}
    return {"timestamp": _now(), "type": "response_item", "payload": payload}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


@dataclass
class Caller:
    """A program that asks the server: what was acknowledged."""

    url: str
    acknowledged: list[str] = field(default_factory=list)
    recalls: int = 0

    def work(self, until: float) -> None:
        """Write and recall in turns."""
        while time.monotonic() < until:
            text = f"Server note {len(self.acknowledged)}: the build took {len(self.acknowledged)} seconds."
            _post(f"{self.url}/v1/memories", {"content": text})
            self.acknowledged.append(text)
            _post(f"{self.url}/v1/recall", {"query": "how long did the build take?", "limit": 3})
            self.recalls += 1
            time.sleep(0.02)


def _post(url: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the server answers
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@dataclass
class Report:
    """What came of a run."""

    seconds: float
    hooks: dict[str, int]
    median: dict[str, float]
    longest: dict[str, float]
    timeouts: dict[str, float]
    answered: int
    said: int
    captured: int
    lost: list[str]
    twice: int
    acknowledged: int
    recalls: int
    missing: int
    problems: list[str]
    failure: str | None

    @property
    def passed(self) -> bool:
        """Whether nothing was lost or captured twice, nothing is damaged, and no hook was too late."""
        late = [event for event, most in self.longest.items() if most > self.timeouts[event]]
        return not (self.lost or self.twice or self.missing or self.problems or late or self.failure)


def run(seconds: float, folder: Path) -> Report:
    """Let two agents and a server work on one file, and compare what is there with what was said."""
    file, home = folder / "memories.db", folder / "home"
    home.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORATA_")}
    environment |= {
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "MEMORATA_DB": str(file),
        "MEMORATA_EMBEDDER": "lexical",
    }
    hooks = run_folder(environment, home)
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "memorata",
            "server",
            "start",
            "--port",
            "0",
            "--no-pages",
            "--log-level",
            "error",
        ],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert server.stderr is not None
        url = next(found[1] for line in server.stderr if (found := re.search(r"Serving at (\S+)", line)))
        agents = [Agent(name, folder, environment) for name in ("claude-code", "codex")]
        caller = Caller(url)
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=agent.talk, args=(until,)) for agent in agents]
        threads.append(threading.Thread(target=caller.work, args=(until,)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        report = _compared(seconds, file, agents, caller, hooks)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
        address = read_address(hooks, environment)
        if address is not None:
            os.kill(address["pid"], signal.SIGTERM)
    return report


def _compared(seconds: float, file: Path, agents: Sequence[Agent], caller: Caller, hooks: Path) -> Report:
    said = [text for agent in agents for text in agent.said]
    until = time.monotonic() + _WAIT_SECONDS
    with memorata.open(file, embedder="lexical") as memory:
        while True:
            contents = [each.content for each in memory.admin.transfer.export("default")]
            lost = sorted(set(said) - set(contents))
            # Captures are done behind the answers of hooks.
            if not lost or time.monotonic() > until:
                break
            time.sleep(0.2)
        problems = memory.admin.check()
    captured = [text for text in contents if text in set(said)]
    times: dict[str, list[float]] = {}
    for agent in agents:
        for event, taken in agent.seconds.items():
            times.setdefault(event, []).extend(taken)
    return Report(
        seconds,
        {event: len(taken) for event, taken in times.items()},
        {event: statistics.median(taken) for event, taken in times.items()},
        {event: max(taken) for event, taken in times.items()},
        {event: float(CLAUDE_CODE_EVENTS[event]) for event in times},
        sum(agent.answered for agent in agents),
        len(said),
        len(set(captured)),
        lost,
        len(captured) - len(set(captured)),
        len(caller.acknowledged),
        caller.recalls,
        len(set(caller.acknowledged) - set(contents)),
        problems,
        last_failure(hooks),
    )


def main() -> int:
    """Run, and print what came of it as JSON; 1 if anything was lost or late."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder:
        report = run(seconds, Path(folder))
    sys.stdout.write(
        json.dumps({**asdict(report), "patience": TIMEOUT_SECONDS, "passed": report.passed}, indent=2) + "\n"
    )
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
