"""The server: tools, resources and the prompt, served over standard input and output or over HTTP.

On standard output there is nothing but the protocol; logs go to standard error. Over HTTP without keys only
addresses of this machine are served, and requests that a web page of another origin makes a browser send (DNS
rebinding) are refused by the SDK. With keys each call is about a namespace that its key is for.

The engine behind the tools: opened once, when it is first needed, and used from a few threads.

The engine is synchronous and the protocol is not. A call waits its turn for one of a few threads; one that is
cancelled while it waits never happens, and one that has begun runs to its end, for a write is either done or
not, even if its answer is not waited for any more.

Writing may wait for minutes, for an embedding service that hangs, and so it has threads of its own: reads are
answered meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from memorata import __version__
from memorata.extend import declared, missing
from memorata_server.mcp import answers
from memorata_server.mcp.answers import PROMPT, Busy, error_answer
from memorata_server.mcp.tools import ACCESS, Tool, tools

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from memorata import Engine
    from memorata_server.mcp.answers import Answer
    from memorata_server.mcp.auth import Verifier

    Opening = Callable[[], AbstractContextManager[Engine]]
    Context = ServerRequestContext[Any]
    Page = types.PaginatedRequestParams | None

THREADS: Final = 4
MAX_CALLS: Final = 64
"""How many calls may be in hand at once, running or waiting."""

_LOG: Final = logging.getLogger(__name__)


class EngineRunner:
    """Runs work on an engine, which `opening` gives on a thread, when it is first needed.

    So many `threads` read and as many write at once; `max_calls` are taken in hand.
    """

    def __init__(self, opening: Opening, *, threads: int = THREADS, max_calls: int = MAX_CALLS) -> None:
        self._opening = opening
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="memorata-mcp")
        self._writing = ThreadPoolExecutor(threads, thread_name_prefix="memorata-mcp-writing")
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._opened: AbstractContextManager[Engine] | None = None
        self._engine: Engine | None = None
        self._max_calls = max_calls
        self._in_hand = 0

    async def run(self, work: Callable[[Engine], _Answer], *, writing: bool = False) -> _Answer:
        """Return what `work` returns on a thread, or raise Busy; `writing` uses other threads."""
        with self._counting:
            if self._in_hand >= self._max_calls:
                raise Busy(f"{self._in_hand} calls are waiting already: wait for answers, then try again.")
            self._in_hand += 1
        submitted = (self._writing if writing else self._pool).submit(lambda: work(self.engine()))
        submitted.add_done_callback(lambda _: self._done())
        return await asyncio.wrap_future(submitted)

    def engine(self) -> Engine:
        """Return the engine, opening it if it is not open; if that fails, the next call tries again."""
        with self._lock:
            if self._engine is None:
                opened = self._opening()
                self._engine = opened.__enter__().scope(via="mcp")
                self._opened = opened
            return self._engine

    def warm(self) -> None:
        """Begin to open the engine, without waiting for it."""
        self._pool.submit(self._try)

    def close(self) -> None:
        """Let the calls that run come to their end, drop those that wait, and close the engine."""
        for pool in (self._writing, self._pool):
            pool.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            if self._opened is not None:
                self._opened.__exit__(None, None, None)
                self._opened = self._engine = None

    def _try(self) -> None:
        try:
            self.engine()
        except Exception as error:
            # Callers of tools get the error; the log has it for the operator.
            _LOG.error("the memory cannot be opened: %s", error)

    def _done(self) -> None:
        # Not under the lock that opening holds: a call that is cancelled meanwhile must not wait for it.
        with self._counting:
            self._in_hand -= 1


NAME: Final = "memorata"
PATH: Final = "/mcp"
MAX_BODY_BYTES: Final = 1024**2
"""The longest request over HTTP, in bytes: ten times the longest text to remember."""

_Answer = TypeVar("_Answer")
_GRACE_SECONDS: Final = 5


def server(runner: EngineRunner, *, reference: bool = False) -> Server[Any]:
    """Return a server of our tools, or of those of the protocol's reference memory server."""
    offered, instructions = tools(), answers.INSTRUCTIONS
    if reference:
        tool_set = declared("tool_sets").get("reference")
        if tool_set is None:
            raise missing("the tools of the reference memory server", "memorata-graph")
        module = tool_set.load()
        offered, instructions = module.TOOLS, module.INSTRUCTIONS
    handlers = _Handlers(runner, offered)
    return Server(
        NAME,
        title="Memorata",
        version=__version__,
        instructions=instructions,
        # Otherwise the SDK lists all tools for every call over HTTP.
        get_tool_input_schema=handlers.input_schema,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        # The prompt speaks of our own tools, so it comes with them only.
        on_list_prompts=None if reference else handlers.list_prompts,
        on_get_prompt=None if reference else handlers.get_prompt,
    )


class _Handlers:
    def __init__(self, runner: EngineRunner, tools: Iterable[Tool]) -> None:
        self._runner = runner
        self._tools = {tool.name: tool for tool in tools}

    @cached_property
    def _definitions(self) -> dict[str, types.Tool]:
        return {name: tool.definition() for name, tool in self._tools.items()}

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        return self._definitions[name].input_schema if name in self._tools else None

    async def list_tools(self, _: Context, params: Page) -> types.ListToolsResult:
        # A client that lists tools will soon call one; the engine loads while its model thinks.
        self._runner.warm()
        return types.ListToolsResult(tools=list(self._definitions.values()))

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            names = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}; there are {names}")
        try:
            arguments = tool.validated(params.arguments or {})
            run, writing = tool.run, not tool.read_only
            answer = await self._run(context, lambda engine: run(engine, arguments), writing=writing)
        except Exception as error:
            return _result(error_answer(error, tool.name), is_error=True)
        return _result(answer)

    async def list_resources(self, context: Context, params: Page) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await self._answered(context, answers.resources))

    async def list_templates(self, context: Context, params: Page) -> types.ListResourceTemplatesResult:
        listed = await self._answered(context, answers.templates)
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = params.uri
        text = await self._answered(context, lambda engine: answers.read(engine, address))
        contents = types.TextResourceContents(uri=address, mime_type=answers.MIME, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, _: Context, params: Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no prompt {params.name!r}; there is {PROMPT.name}"
            )
        return answers.prompt_result()

    async def _run(
        self, context: Context, work: Callable[[Engine], _Answer], *, writing: bool = False
    ) -> _Answer:
        """Return what `work` returns, done in the namespace of the request."""
        request = context.request

        def work_in_namespace(engine: Engine) -> _Answer:
            if request is None:
                return work(engine)
            from memorata_server.mcp.auth import access_of, namespace_of

            path = namespace_of(request, "write" if writing else "read", engine.namespace)
            ACCESS.set(access_of(request))
            return work(engine.scope(path))

        # A context of its own: what is set in it is not there for the next call on the same thread.
        own = copy_context()
        return await self._runner.run(lambda engine: own.run(work_in_namespace, engine), writing=writing)

    async def _answered(self, context: Context, work: Callable[[Engine], Any]) -> Any:  # noqa: ANN401 - what `work` returns
        """Return what `work` returns; what goes wrong is an error of the protocol, for no tool was called."""
        try:
            return await self._run(context, work)
        except answers.ResourceNotFound as error:
            raise MCPError(
                types.INVALID_PARAMS, "there is nothing at this address", {"uri": str(error)}
            ) from error
        except Exception as error:
            raise MCPError(types.INTERNAL_ERROR, error_answer(error, "this").text) from error


def _result(answer: Answer, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=answer.text)], structured_content=answer.data, is_error=is_error
    )


def log_to_stderr(*, debug: bool = False) -> None:
    """Send what is logged to standard error: warnings, or everything."""
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING,
        stream=sys.stderr,
        format="memorata server mcp: %(levelname)s %(name)s: %(message)s",
        force=True,
    )


def serve_stdio(opening: Opening, *, reference: bool = False) -> None:
    """Serve the client at the other end of standard input and output, until it closes them."""

    async def serve(runner: EngineRunner) -> None:
        ours = server(runner, reference=reference)
        async with stdio_server() as (read, write):
            await ours.run(read, write, ours.create_initialization_options())

    # A read of standard input cannot be interrupted, so a signal ends the process as it is. That is safe:
    # a write is on the disk before it is acknowledged, and one that is not finished never happened.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    runner = EngineRunner(opening)
    try:
        asyncio.run(serve(runner))
    finally:
        runner.close()


def serve_http(
    opening: Opening,
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    reference: bool = False,
    verifier: Callable[[Engine], Verifier] | None = None,
) -> None:
    """Serve clients until interrupted: on this machine, or with a `verifier` those whose token is good.

    The engine is opened before the first request, so that errors show at once. `announce` is called
    with the address once it is listened on; port 0 is any that is free.
    """
    from memorata.extend.errors import InvalidArgument
    from memorata.extend.serving import prepare_to_serve
    from memorata_server.connections import serve_bounded
    from memorata_server.sockets import is_loopback, listening

    if verifier is None and not is_loopback(host):
        raise InvalidArgument(
            "--host", host, "127.0.0.1, ::1 or localhost: without keys, only this machine is served"
        )
    sock = listening(host, port)
    runner = EngineRunner(opening)
    try:
        prepare_to_serve(runner.engine())
        ours = server(runner, reference=reference)
        checked = None if verifier is None else verifier(runner.engine())
        app = ours.streamable_http_app(
            streamable_http_path=PATH,
            # A page of another origin has no key, and requests through a proxy name the proxy as host.
            host="127.0.0.1" if checked is None else "",
            max_request_body_size=MAX_BODY_BYTES,
            # A tool has one answer, and nothing to tell before it: no stream of events is needed.
            json_response=True,
            auth=None if checked is None else checked.settings,
            token_verifier=checked,
        )
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{sock.getsockname()[1]}{PATH}")
        serve_bounded(app, sock, ws="none", proxy_headers=False, timeout_graceful_shutdown=_GRACE_SECONDS)
    finally:
        sock.close()
        runner.close()
