"""What lives in the first process of a server is answered there, whichever process was asked.

That processes are started, watched, replaced and stopped is in `tests/test_commands_workers.py`.
"""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import h11
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from memorata_server.http.supervisor import FirstWorker
from memorata_server.testing import TestClient


class Told:
    """An application that answers with what it was asked, and notes who disconnected."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.disconnected = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        start = {"type": "http.response.start", "status": 207, "headers": [(b"x-answered-by", b"told")]}
        if scope["path"] == "/endless":
            await send(start)
            await send({"type": "http.response.body", "body": b"first", "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                pass
            self.disconnected.set()
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        said = {
            "answered by": self.name,
            "method": scope["method"],
            "path": scope["path"],
            "query": scope["query_string"].decode(),
            "client": scope["client"] and scope["client"][0],
            "header": dict(scope["headers"]).get(b"x-told", b"").decode(),
            "length": len(body),
        }
        await send(start)
        await send({"type": "http.response.body", "body": json.dumps(said).encode()})


@pytest.fixture
def first() -> Iterator[tuple[Told, str]]:
    """The application of the first process, and the socket at which the others find it."""
    # The path of a socket has to be short.
    with TemporaryDirectory(prefix="m") as folder:
        path, told = str(Path(folder) / "s"), Told("first")
        app = FirstWorker(told, path, forwards=False)
        server = uvicorn.Server(uvicorn.Config(app, uds=path, log_level="error", ws="none", lifespan="off"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield told, path
        server.should_exit = True
        thread.join()


@pytest.fixture
def another(first: tuple[Told, str]) -> FirstWorker:
    """Another process of the same server."""
    return FirstWorker(Told("another"), first[1], forwards=True)


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/jobs/7/events", "/review", "/"])
def test_what_lives_in_the_first_process_is_answered_there(another: FirstWorker, path: str) -> None:
    client = TestClient(another, client=("10.0.0.7", 1))
    answer = client.post(f"{path}?a=1&b=%20", content=b"x" * 200_000, headers={"X-Told": "yes"})
    assert (answer.status_code, answer.headers["x-answered-by"]) == (207, "told")
    assert answer.json() == {
        "answered by": "first",
        "method": "POST",
        "path": path,
        "query": "a=1&b=%20",
        "client": "10.0.0.7",
        "header": "yes",
        "length": 200_000,
    }


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/jobsite", "/mem0/v1/memories", "/docs"])
def test_everything_else_is_answered_where_it_was_asked(another: FirstWorker, path: str) -> None:
    answer = TestClient(another, client=("10.0.0.7", 1)).get(path).json()
    assert (answer["answered by"], answer["client"]) == ("another", "10.0.0.7")


def test_no_client_can_say_where_it_came_from(another: FirstWorker) -> None:
    headers = {"X-Memorata-Client": "127.0.0.1"}
    client = TestClient(another, client=("10.0.0.7", 1), headers=headers)
    assert client.get("/review").json()["client"] == "10.0.0.7"
    assert client.get("/v1/recall").json()["client"] == "10.0.0.7"


def test_a_client_that_leaves_is_gone_for_the_first_process_too(
    another: FirstWorker, first: tuple[Told, str]
) -> None:
    sent: list[Any] = []

    async def watch() -> None:
        leaves = asyncio.Event()
        requests = iter([{"type": "http.request", "body": b""}])

        async def receive() -> Any:
            if request := next(requests, None):
                return request
            await leaves.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)
            if message.get("body") == b"first":
                leaves.set()

        scope = {
            "type": "http", "method": "GET", "path": "/endless", "raw_path": b"/endless", "query_string": b"",
            "headers": [(b"host", b"localhost")], "client": None,
        }  # fmt: skip
        await another(scope, receive, send)

    with pytest.raises(h11.RemoteProtocolError, match="closed connection"):
        asyncio.run(watch())
    assert first[0].disconnected.wait(60)
    assert [message.get("body") for message in sent][:2] == [None, b"first"]
