"""A client in the test's process, and a server in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal
from starlette import testclient
from starlette.types import ASGIApp

from memorata import Engine
from memorata.extend.access import ApiKeys
from memorata_server.http.app import create_api
from memorata_server.web.app import create_pages

IN_PARTS = "in parts"
"""The extension of a request whose answer is read while it is written."""


class WholeAnswers(httpx2.BaseTransport):
    """Have an application answer in its event loop, and return what it has sent when it is done."""

    def __init__(
        self,
        application: httpx2.ASGITransport,
        portal: Callable[[], AbstractContextManager[BlockingPortal]],
        in_parts: httpx2.BaseTransport,
    ) -> None:
        self._application = application
        self._portal = portal
        self._in_parts = in_parts

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer to a request, whole unless it is asked for in parts."""
        if request.extensions.get(IN_PARTS):
            return self._in_parts.handle_request(request)
        request.read()
        with self._portal() as portal:
            return portal.call(self._answer, request)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        answer = await self._application.handle_async_request(request)
        assert isinstance(answer.stream, httpx2.AsyncByteStream)
        body = b"".join([part async for part in answer.stream])
        return httpx2.Response(answer.status_code, headers=answer.headers.raw, stream=httpx2.ByteStream(body))

    def close(self) -> None:
        """Close the transport beneath."""
        self._in_parts.close()


class TestClient(testclient.TestClient):
    """Asks an application in the test's process; the options are those of starlette's client.

    It calls the thread of the event loop once for a request instead of eight times, which were more than half
    of the processor time of a short request. An answer comes whole, unless it is asked for with `stream`.
    """

    def __init__(
        self,
        app: ASGIApp,
        base_url: str = "http://testserver",
        raise_server_exceptions: bool = True,
        *,
        client: tuple[str, int] = ("testclient", 50000),
        **options: Any,
    ) -> None:
        super().__init__(app, base_url, raise_server_exceptions, client=client, **options)
        application = httpx2.ASGITransport(app, raise_server_exceptions, client=client)
        self._transport = WholeAnswers(application, self._portal_factory, self._transport)

    @contextmanager
    def stream(self, *request: Any, **options: Any) -> Iterator[httpx2.Response]:
        """Send a request whose answer is read in parts."""
        with super().stream(*request, **options, extensions={IN_PARTS: True}) as answer:
            yield answer


@contextmanager
def api_client(
    engine: Engine, *, required: bool = False, token: str | None = None, **options: Any
) -> Iterator[TestClient]:
    """Yield a client of the HTTP interface over an engine; the options are those of the application."""
    api = create_api(engine, ApiKeys(engine.store, required=required), **options)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with TestClient(
        api, base_url="http://localhost", headers=headers, raise_server_exceptions=False
    ) as client:
        yield client


@contextmanager
def page_client(engine: Engine, **options: Any) -> Iterator[TestClient]:
    """Yield a browser's place in front of the pages over an engine; the options are those of the pages."""
    pages = create_pages(engine, **options)
    with TestClient(pages, base_url="http://localhost", follow_redirects=False) as client:
        yield client


def form_token(client: TestClient) -> str:
    """Return the token that the forms of a client's pages carry."""
    return client.get("/memories").text.partition('name="token" value="')[2].partition('"')[0]


@contextmanager
def served(home: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a server on a port of its own until the block ends."""
    command = [sys.executable, "-m", "memorata", "server", "start", "--port", "0", "--json", *options]
    process = subprocess.Popen(
        command, cwd=home, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate(timeout=120)[1])
        yield process, json.loads(line)["address"]
    finally:
        process.kill()
        process.communicate()
