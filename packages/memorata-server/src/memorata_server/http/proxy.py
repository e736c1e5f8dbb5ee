"""A proxy before a chat service: adds what is remembered to a request, and captures what was said.

Everything but the prompt passes through as it is: paths, headers, the client's key, errors, and the bytes of
a stream as they come. Memory never fails a chat: what goes wrong there, or takes too long, is logged, and the
request goes on without it. Turns are captured once an answer has come, behind it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from memorata import Engine, MemorataError
from memorata.extend import frozen
from memorata.extend.access import WRITE, ApiKeys
from memorata.extend.conversation import (
    BUDGET,
    ChatFormat,
    Conversation,
    chat_format,
    namespace_segment,
    user_of,
)
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_server.connections import serve_bounded
from memorata_server.http.middleware import LOOPBACK_NAMES
from memorata_server.http.server import leave
from memorata_server.sockets import address_of, listening

NAMESPACE: Final = "x-memorata-namespace"
SESSION: Final = "x-memorata-session"
KEY: Final = "x-memorata-key"
RECALLED: Final = "x-memorata-recalled"
"""Of an answer: how many memories were added to the prompt."""
PROXY: Final = "proxy"
RECALL_SECONDS: Final = 1.5
"""For how long a chat waits for its memories."""
_UPSTREAM_SECONDS: Final = httpx2.Timeout(600.0, connect=10.0)
_MAX_BODY: Final = 64 * 1024 * 1024
_MAX_CAPTURED: Final = 4 * 1024 * 1024
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
_OWN: Final = frozenset({NAMESPACE, SESSION, KEY})
_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer",
     "transfer-encoding", "upgrade", "host", "content-length"}
)  # fmt: skip
"""Headers that are about one connection (RFC 9110, 7.6.1), or that the next one writes itself."""
_LOG: Final = logging.getLogger(__name__)


@frozen
class ProxySettings:
    """How chats are given memories: how many, within how many tokens, and whether they are captured.

    `standing`: token budget of the standing memories, added to every request whatever its query.
    """

    limit: int = 8
    budget: int = BUDGET
    standing: int = BUDGET // 2
    capture: bool = True
    recall_seconds: float = RECALL_SECONDS


@frozen
class _Chat:
    """A chat request, and the conversation that it belongs to."""

    format: ChatFormat
    body: Mapping[str, Any]
    conversation: Conversation
    place: int
    prompt: str


def checked_upstream(url: str) -> str:
    """Return the address of a service without its ``/v1``, which comes with every request; raise if none.

    >>> checked_upstream("https://api.openai.com/v1/")
    'https://api.openai.com'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InvalidArgument("--upstream", url, "an address such as https://api.openai.com")
    return url.rstrip("/").removesuffix("/v1")


class Proxy:
    """Forwards requests to one service, with what an engine remembers."""

    def __init__(
        self,
        engine: Engine,
        upstream: str,
        *,
        keys: ApiKeys | None = None,
        settings: ProxySettings | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._engine = engine.scope(via=PROXY)
        self._upstream = checked_upstream(upstream)
        self._keys = keys
        self._settings = ProxySettings() if settings is None else settings
        self._client = httpx2.AsyncClient(timeout=_UPSTREAM_SECONDS, transport=transport)
        self._captures: set[asyncio.Task[None]] = set()

    def app(self) -> Starlette:
        """Return the application; it ends when what was captured is written."""

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            yield
            await asyncio.gather(*self._captures)
            await self._client.aclose()

        route = Route("/{path:path}", self._forward, methods=_METHODS)
        return Starlette(routes=[route], lifespan=lifespan)

    async def _forward(self, request: Request) -> Response:
        if refused := await self._refused(request):
            return refused
        body = await _limited_body(request)
        if body is None:
            return _problem(413, f"a request has at most {_MAX_BODY:,} bytes")
        chat = self._chat(request, body) if request.method == "POST" else None
        recalled = 0
        if chat is not None and (extended := await self._recalled(chat)) is not None:
            body, recalled = extended
        headers = [
            (name, value)
            for name, value in request.headers.raw
            if name.decode("latin-1") not in _HOP_BY_HOP | _OWN
            and not (chat is not None and name == b"accept-encoding")
        ]
        if chat is not None:
            # What is captured is read as it passes.
            headers.append((b"accept-encoding", b"identity"))
        query = f"?{request.url.query}" if request.url.query else ""
        target = f"{self._upstream}{request.scope['raw_path'].decode('ascii').partition('?')[0]}{query}"
        try:
            answer = await self._client.send(
                httpx2.Request(request.method, target, headers=headers, content=body), stream=True
            )
        except httpx2.HTTPError as error:
            return _problem(502, f"the service does not answer: {type(error).__name__}")
        passed = StreamingResponse(self._passed(answer, chat), status_code=answer.status_code)
        passed.raw_headers = [
            (name.lower(), value)
            for name, value in answer.headers.raw
            if name.decode("latin-1").lower() not in _HOP_BY_HOP - {"content-length"}
        ]
        if chat is not None:
            passed.headers[RECALLED] = str(recalled)
        return passed

    async def _refused(self, request: Request) -> Response | None:
        """Return the refusal of a request that a page of another site sent, or that has no key of ours."""
        origin = urlsplit(request.headers.get("origin") or "").hostname
        host = (urlsplit(f"//{request.headers.get('host', '')}").hostname or "").lower()
        if self._keys is None:
            if not {host, host if origin is None else origin} <= LOOPBACK_NAMES:
                return _problem(403, "this proxy is for programs on this machine")
            return None
        token = request.headers.get(KEY) or ""
        try:
            access = self._keys.authenticate_cached(token)
            if access is None:
                # Other chats do not wait for the store.
                access = await asyncio.to_thread(self._keys.authenticate, token)
            if not access.may(WRITE):
                return _problem(403, f"the key in {KEY} may not write")
        except MemorataError as error:
            return _problem(401, f"{KEY}: {error}")
        return None

    def _chat(self, request: Request, body: bytes) -> _Chat | None:
        """Return the chat that a request is; None for another request, and where memory has no part in it."""
        format_ = chat_format(request.url.path)
        try:
            data = None if format_ is None else json.loads(body)
            if format_ is None or not isinstance(data, dict):
                return None
            place, prompt = format_.prompt(data)
            path, user = request.headers.get(NAMESPACE), user_of(data)
            if place < 0:
                return None
            own = self._engine.namespace
            if path is None:
                path = f"{own}/{namespace_segment(user)}" if user else own
            path = checks.namespace(NAMESPACE, path)
            if self._keys is not None:
                self._keys.authenticate(request.headers.get(KEY) or "").require(WRITE, path)
            session = request.headers.get(SESSION) or format_.session(data)
            return _Chat(format_, data, Conversation(self._engine, path, session), place, prompt)
        except Exception as error:
            _without_memory(error)
            return None

    async def _recalled(self, chat: _Chat) -> tuple[bytes, int] | None:
        """Return a request with its memories, and how many; None for none, or where they cannot be had."""
        how = self._settings

        def work() -> tuple[bytes, int] | None:
            block = chat.conversation.recalled(
                chat.prompt, limit=how.limit, budget=how.budget, standing=how.standing
            )
            if not block:
                return None
            # Between the first line and the last stand the notice and the memories, a line each.
            count = block.count("\n") - 2
            return json.dumps(chat.format.with_block(chat.body, block), ensure_ascii=False).encode(), count

        try:
            return await asyncio.wait_for(asyncio.to_thread(work), how.recall_seconds)
        except Exception as error:
            _without_memory(error)
            return None

    async def _passed(self, answer: httpx2.Response, chat: _Chat | None) -> AsyncIterator[bytes]:
        """Yield the bytes of an answer as they come, and have the turn captured at their end."""
        copy, complete = bytearray(), False
        captured = chat if self._settings.capture and answer.is_success else None
        try:
            async for chunk in answer.aiter_raw():
                if captured is not None and len(copy) <= _MAX_CAPTURED:
                    copy += chunk
                yield chunk
            complete = len(copy) <= _MAX_CAPTURED
        finally:
            if captured is not None:
                media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
                self._capture_later(captured, bytes(copy) if complete else b"", media_type)
            await answer.aclose()

    def _capture_later(self, chat: _Chat, reply: bytes, media_type: str) -> None:
        def work() -> None:
            chat.conversation.remember("user", chat.prompt, chat.place)
            if reply and (text := chat.format.reply(reply, media_type)):
                chat.conversation.remember("assistant", text, len(chat.format.messages(chat.body)))

        async def capture() -> None:
            try:
                await asyncio.to_thread(work)
            except Exception as error:  # The chat is over, and was well.
                _LOG.warning("a turn was not captured: %s", type(error).__name__)

        task = asyncio.get_running_loop().create_task(capture())
        self._captures.add(task)
        task.add_done_callback(self._captures.discard)


def _without_memory(error: Exception) -> None:
    # Not what the error says: it may quote what was asked.
    _LOG.warning("a chat goes on without its memory: %s", type(error).__name__)


async def _limited_body(request: Request) -> bytes | None:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BODY:
            return None
    return bytes(body)


def _problem(status: int, message: str) -> Response:
    """Return an error in the shape that clients of both services read."""
    error = {"message": f"memorata server proxy: {message}", "type": "memorata_proxy", "code": None}
    return JSONResponse({"type": "error", "error": error}, status)


def serve(proxy: Proxy, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the address once it listens."""
    with closing(listening(host, port)) as sock:
        announce(address_of(sock))
        before = signal.signal(signal.SIGTERM, leave)
        try:
            serve_bounded(proxy.app(), sock, server_header=False, date_header=False)
        finally:
            signal.signal(signal.SIGTERM, before)
