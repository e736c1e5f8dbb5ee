"""A situation to run parts of a recipe in, and an embedding service that comes and goes."""

import contextlib
import json
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import memorata
from memorata.engine.graph import Graphs
from memorata.engine.recall.query import RecallContext, parse_query
from memorata.engine.write.names import NameIndex
from memorata.engine.write.terms import terms_of
from memorata.text import RuleClassifier

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def context() -> Iterator[Callable[..., RecallContext]]:
    """Return a maker of recall contexts: the contents, the query, and anything else to change."""
    with ExitStack() as stack:

        def make(
            contents: list[Any], question: str, relations: Sequence[tuple[str, str, str]] = (), **changes: Any
        ) -> RecallContext:
            memory = stack.enter_context(memorata.open(":memory:", embedder="lexical", clock=lambda: NOW))
            memory.remember_many(contents, duplicates="off")
            assert memory.embedder is not None
            for source, type_, target in relations:
                memory.entities.relate(source, type_, target)
            graphs = Graphs(memory.store, NameIndex(memory.store, None))
            view = stack.enter_context(memory.store.view("default", NOW))
            values: dict[str, Any] = {
                "view": view,
                "query": parse_query(question, memory.analyser),
                "classifier": RuleClassifier(),
                "vector": memory.embedder.embed_query(question),
                "least_similarity": memory.embedder.similarity_threshold,
                "noise": memory.embedder.similarity_threshold,
                "now": NOW,
                "period": None,
                "graph": lambda: graphs.at("default", NOW),
                "overview": lambda: memory.store.view("default", NOW),
                "terms_of": lambda said: terms_of(said, memory.analyser),
            }
            return RecallContext(**(values | changes))

        yield make


class Ollama:
    """A real server on the loopback interface that can be started, stopped, made to hang, and changed.

    Its vectors count the words of a text, hashed, so that texts with the same words are near each other.
    """

    def __init__(self) -> None:
        self.width = 64
        self.asked: list[list[str]] = []
        self.hangs = threading.Event()
        self.released = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    @property
    def name(self) -> str:
        """What opens an embedder of it."""
        return f"ollama:words@http://127.0.0.1:{self._port}"

    def start(self) -> None:
        ollama = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
                ollama.asked.append(texts)
                if ollama.hangs.is_set():
                    ollama.released.wait(30)
                    return
                body = json.dumps({"embeddings": [ollama.vector(text) for text in texts]}).encode()
                with contextlib.suppress(ConnectionError):
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test's output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self.released.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = None

    def vector(self, text: str) -> list[int]:
        counts = [0] * self.width
        for word in text.lower().replace(".", "").replace("?", "").split():
            counts[zlib.crc32(word.encode()) % self.width] += 1
        return counts


@pytest.fixture
def ollama() -> Iterator[Ollama]:
    """Return an embedding service that is there, for now."""
    service = Ollama()
    service.start()
    yield service
    service.stop()
