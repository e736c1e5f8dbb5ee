"""The command of a hook: send the event to the background process, and print its answer.

An agent waits for this, so it loads the standard library alone, and it never fails: errors are written to a
log, whose last line ``memorata agents list`` shows, and the exit code is 0.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from memorata.extend.environment import ONE_THREAD, data_folder, make_folder

MAX_EVENT_BYTES: Final = 4_000_000
MAX_LOG_BYTES: Final = 100_000
PREFIX: Final = "MEMORATA_"
# Seconds that an agent waits. The start of the background process is worth waiting for at the start of a
# session and for a capture; a prompt goes on without.
TIMEOUT_SECONDS: Final = {"SessionStart": 3.0, "sessionStart": 3.0, "UserPromptSubmit": 1.0}
_CAPTURE_TIMEOUT_SECONDS: Final = 3.0
_RETRY_SECONDS: Final = 0.05


def main() -> int:
    """Answer one event on standard input; ``memorata-hook AGENT``."""
    agent = sys.argv[1] if len(sys.argv) > 1 else ""
    return run(agent, sys.stdin.buffer, sys.stdout, os.environ, home=Path.home())


def run(agent: str, events: BinaryIO, answers: TextIO, environment: Mapping[str, str], *, home: Path) -> int:
    """Send one event and write the answer; always 0."""
    folder = run_folder(environment, home)
    try:
        event = json.loads(events.read(MAX_EVENT_BYTES))
        answer = ask({"agent": agent, "event": event}, _seconds(event), environment, folder)
        if answer:
            json.dump(answer, answers)
            answers.flush()
    except Exception as error:  # The agent goes on without memory.
        log_failure(folder, f"{agent}: {type(error).__name__}: {error}")
    return 0


def _seconds(event: object) -> float:
    name = event.get("hook_event_name") if isinstance(event, dict) else None
    return TIMEOUT_SECONDS.get(str(name), _CAPTURE_TIMEOUT_SECONDS)


def ask(
    request: Mapping[str, Any], seconds: float, environment: Mapping[str, str], folder: Path
) -> dict[str, Any] | None:
    """Return the answer of the background process, or None; start the process if there is none.

    A process that is still starting when the time is up has no answer. Raises `TimeoutError` where a running
    one does not answer in time, and `ConnectionError` where it refuses, or ends while it starts.
    """
    deadline = time.monotonic() + seconds
    started: subprocess.Popen[bytes] | None = None
    while True:
        address = read_address(folder, environment)
        if address is not None:
            try:
                return _exchange(address, request, deadline)
            except ConnectionRefusedError:
                pass  # It ended without removing its address.
        if started is None:
            started = start(environment)
        elif started.poll():
            raise ConnectionError(f"the background process ended with exit code {started.returncode}")
        if time.monotonic() > deadline:
            return None
        time.sleep(_RETRY_SECONDS)


def _exchange(
    address: Mapping[str, Any], request: Mapping[str, Any], deadline: float
) -> dict[str, Any] | None:
    seconds = max(0.01, deadline - time.monotonic())
    with socket.create_connection(("127.0.0.1", address["port"]), timeout=seconds) as connection:
        connection.sendall(f"{address['token']}\n{json.dumps(request)}\n".encode())
        with connection.makefile("rb") as lines:
            reply = json.loads(lines.readline(MAX_EVENT_BYTES))
    if "error" in reply:
        raise ConnectionError(reply["error"])
    answer: dict[str, Any] | None = reply["answer"]
    return answer


def start(environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the background process, detached from the agent."""
    command = [sys.executable, "-m", "memorata_agents.hooks.daemon"]
    # Its settings are those of the user, not those of the folder of a project.
    return subprocess.Popen(
        command,
        cwd=Path.home(),
        env={**ONE_THREAD, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def run_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Return the folder of addresses and of the log, beside the user's memories."""
    return data_folder(environment, sys.platform, home) / "hooks"


def address_file(folder: Path, environment: Mapping[str, str]) -> Path:
    """Return the file with port and token of the process with these settings."""
    settings = sorted((name, value) for name, value in environment.items() if name.startswith(PREFIX))
    return folder / f"{hashlib.sha256(repr(settings).encode()).hexdigest()[:16]}.json"


def read_address(folder: Path, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """Return port and token of the running process; None if there is none."""
    try:
        address: dict[str, Any] = json.loads(address_file(folder, environment).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return address


def end_processes(folder: Path) -> None:
    """End the background processes of a user: each looks for its address twice a second."""
    for address in folder.glob("*.json"):
        address.unlink(missing_ok=True)


def log_failure(folder: Path, message: str) -> None:
    """Log why a hook failed; a log that is too large loses its older half."""
    try:
        make_folder(folder)
        log = folder / "failures.log"
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.write_bytes(log.read_bytes()[-MAX_LOG_BYTES // 2 :])
        opened = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(opened, "a", encoding="utf-8") as lines:
            lines.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {' '.join(message.split())}\n")
    except OSError as error:
        sys.stderr.write(f"memorata-hook: {message}; and the log cannot be written: {error}\n")


def last_failure(folder: Path) -> str | None:
    """Return the last line of the log; None if nothing ever failed."""
    try:
        lines = (folder / "failures.log").read_text("utf-8").splitlines()
    except OSError:
        return None
    return lines[-1] if lines else None


if __name__ == "__main__":
    sys.exit(main())
