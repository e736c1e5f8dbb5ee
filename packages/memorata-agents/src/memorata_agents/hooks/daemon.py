"""The background process of the hooks: one per user and settings, with the memory and its model open.

It listens on loopback and answers requests with the token, which is in a file that only the user can
read. It ends after half an hour without an event, and when another has taken its place. :func:`answer` maps
each event of an agent to a query or a capture, and its result to the form of that agent.
"""

from __future__ import annotations

import hmac
import json
import os
import queue
import secrets
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memorata.extend.conversation import Conversation, message_fields, message_text
from memorata.extend.environment import make_folder
from memorata.extend.errors import InvalidArgument
from memorata.extend.quoting import recalled_block
from memorata.extend.transfer import Importer, Reading, Record, stable_id
from memorata_agents.hooks.client import MAX_EVENT_BYTES, address_file, log_failure, run_folder
from memorata_agents.importers.agent_logs import claude_code, codex

if TYPE_CHECKING:
    from memorata import Engine

AGENTS: Final = ("claude-code", "codex", "cursor")
BRIEFING_BUDGET: Final = 1_200
HOOK: Final = "hook"
_MIN_QUERY_WORDS: Final = 2
_READERS: Final[Mapping[str, Callable[[bytes], Reading]]] = {
    "claude-code": claude_code,
    "codex": codex,
}

Json = dict[str, Any]
Capture = Callable[[], None]


def answer(engine: Engine, agent: str, event: Mapping[str, Any]) -> tuple[Json | None, Capture | None]:
    """Return the reply to the agent, and the capture to run after it; None for nothing."""
    if agent not in AGENTS:
        raise InvalidArgument("agent", agent, f"one of {', '.join(AGENTS)}")
    name = str(event.get("hook_event_name"))
    if name in ("SessionStart", "sessionStart"):
        brief = engine.briefing(budget=BRIEFING_BUDGET)
        text = recalled_block("What stands and what is recent.", [item.memory for item in brief.items])
        return _context(agent, name, text), None
    if name == "UserPromptSubmit":
        return _context(agent, name, _recalled(engine, event)), None
    if name == "beforeSubmitPrompt":
        # Cursor lets a hook stop a prompt, and not add to it.
        return {"continue": True}, _message(engine, event, "user", event.get("prompt"))
    if name == "afterAgentResponse":
        return None, _message(engine, event, "assistant", event.get("text"))
    if name in ("Stop", "PreCompact", "SessionEnd", "SubagentStop") and agent in _READERS:
        return None, _transcript(engine, agent, event)
    return None, None


def _context(agent: str, name: str, text: str) -> Json | None:
    if not text:
        return None
    if agent == "cursor":
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _recalled(engine: Engine, event: Mapping[str, Any]) -> str:
    prompt = str(event.get("prompt") or "").strip()
    if prompt.startswith("/") or (prompt.isascii() and len(prompt.split()) < _MIN_QUERY_WORDS):
        return ""
    return Conversation(engine, session=str(event.get("session_id") or "")).recalled(prompt)


def _transcript(engine: Engine, agent: str, event: Mapping[str, Any]) -> Capture | None:
    path = event.get("transcript_path")
    if not isinstance(path, str) or not path:
        return None

    def capture() -> None:
        file = Path(path).expanduser()
        if not file.is_file():
            raise InvalidArgument("transcript_path", path, "a file")
        reading = _READERS[agent](file.read_bytes())
        for _ in Importer(engine, via=HOOK).add_file(path, reading.records):
            pass

    return capture


def _message(engine: Engine, event: Mapping[str, Any], role: str, text: object) -> Capture | None:
    if not isinstance(text, str) or not (content := message_text(text)):
        return None
    session = str(event.get("conversation_id") or "")
    id_ = stable_id("cursor", session, event.get("generation_id"), role, content)
    fields = message_fields(id_, role, content, session)
    folders = event.get("workspace_roots")
    if isinstance(folders, list) and folders:
        fields["metadata"] = {"folder": str(folders[0])}

    def capture() -> None:
        Importer(engine, via=HOOK).add([Record(1, fields)], "cursor")

    return capture


IDLE_SECONDS: Final = 1_800.0
_TOKEN_BYTES: Final = 32
_SECONDS_PER_LINE: Final = 5.0
_MAX_REQUESTS: Final = 32
"""Requests that are read or answered at once; more are refused, for any user of the machine may connect."""


class HookServer(socketserver.ThreadingTCPServer):
    """Answers events; captures are done one after the other, behind the answers.

    A request has two lines, the token and the event in JSON. Without the token nothing long is read.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, engine: Engine, address: Path, folder: Path, *, idle: float = IDLE_SECONDS) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.engine = engine
        self.token = secrets.token_hex(_TOKEN_BYTES)
        self.folder = folder
        self._address = address
        self._idle = idle
        self._last = time.monotonic()
        self._free = threading.Semaphore(_MAX_REQUESTS)
        self._captures: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker = threading.Thread(target=self._capture_all, name="captures")

    def serve(self) -> None:
        """Serve until idle, or until another process has taken over."""
        self._worker.start()
        self._write_address()
        try:
            self.serve_forever(poll_interval=0.5)
        finally:
            self.server_close()
            self._captures.put(None)
            self._worker.join()
            if self._is_current():
                self._address.unlink(missing_ok=True)

    def answered(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to a request; its capture is queued."""
        self._last = time.monotonic()
        reply, capture = answer(self.engine, str(request.get("agent")), request["event"])
        if capture is not None:
            self._captures.put(capture)
        return {"answer": reply}

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401 - socketserver's
        """Return whether there is room for a request."""
        return self._free.acquire(blocking=False)

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer one request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def service_actions(self) -> None:
        """Shut down when idle; called between requests."""
        if time.monotonic() - self._last > self._idle or not self._is_current():
            threading.Thread(target=self.shutdown).start()

    def _capture_all(self) -> None:
        while (capture := self._captures.get()) is not None:
            try:
                capture()
            except Exception as error:
                # The next capture of the same transcript brings what this one did not.
                log_failure(self.folder, f"capture: {type(error).__name__}: {error}")
            self._last = time.monotonic()

    def _write_address(self) -> None:
        """Write port and token, readable by the user alone, in one step."""
        make_folder(self._address.parent)
        part = self._address.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({"port": self.server_address[1], "token": self.token, "pid": os.getpid()}, file)
        part.replace(self._address)

    def _is_current(self) -> bool:
        try:
            return bool(json.loads(self._address.read_text("utf-8"))["token"] == self.token)
        except (OSError, ValueError, KeyError):
            return False


class _Handler(socketserver.StreamRequestHandler):
    timeout = _SECONDS_PER_LINE
    server: HookServer

    def handle(self) -> None:
        # A caller that is slow or gone needs no answer, and is no failure of the server.
        with suppress(OSError):
            self._answer()

    def _answer(self) -> None:
        token = self.rfile.readline(2 * _TOKEN_BYTES + 1)
        if not hmac.compare_digest(token, f"{self.server.token}\n".encode()):
            self._refuse()
            return
        try:
            reply = self.server.answered(json.loads(self.rfile.readline(MAX_EVENT_BYTES)))
        except Exception as error:  # The client logs it; the server goes on.
            reply = {"error": f"{type(error).__name__}: {error}"}
        self.wfile.write(json.dumps(reply).encode() + b"\n")

    def _refuse(self) -> None:
        self.wfile.write(b'{"error": "wrong token"}\n')
        self.connection.shutdown(socket.SHUT_WR)
        # A connection that is closed before all was read is reset, and the reply lost.
        unread = MAX_EVENT_BYTES
        while unread > 0 and (part := self.rfile.read1(65_536)):
            unread -= len(part)


def main() -> int:
    """Open the memory of the user's settings and serve."""
    from memorata.extend.settings import Settings

    folder = run_folder(os.environ, Path.home())
    try:
        settings = Settings()
        # Prompts hold keys and passwords more often than memories that are chosen.
        if settings.origin("redact") == "default":
            settings = settings.changed(redact=True)
        if isinstance(settings.db, Path):
            make_folder(settings.db.parent)
        with settings.open(must_exist=False, embed=True) as engine:
            engine.recall("warm up")
            HookServer(engine, address_file(folder, os.environ), folder).serve()
    except Exception as error:
        log_failure(folder, f"background process: {type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
