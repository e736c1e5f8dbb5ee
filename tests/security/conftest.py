"""A service that writes down whoever comes: what was sent to it, and with which key."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memorata.engine.settings import Settings


class Spy:
    """An embedding service on the loopback interface that remembers every request."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str | None, Any]] = []
        spy = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                spy.requests.append((self.path, self.headers.get("Authorization"), body))
                texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
                rows = [{"index": at, "embedding": [0.6, 0.8]} for at, _ in enumerate(texts)]
                answer = json.dumps({"data": rows}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def embedder(self) -> str:
        return f"openai:m@{self.origin}/v1"

    @property
    def keys(self) -> list[str | None]:
        return [key for _, key, _ in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def spy() -> Iterator[Spy]:
    made = Spy()
    yield made
    made.close()


@pytest.fixture
def another() -> Iterator[Spy]:
    made = Spy()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder of the test's own, and no setting in the environment."""
    for field in [*Settings.names, "config"]:
        monkeypatch.delenv(f"MEMORATA_{field.upper()}", raising=False)
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder
