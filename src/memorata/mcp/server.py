"""The server: tools, resources and the prompt, served over standard input and output or over HTTP.

On standard output there is nothing but the protocol; logs go to standard error. Over HTTP there are no keys
yet, so only addresses of this machine are served, and requests that a web page of another origin makes a
browser send (DNS rebinding) are refused by the SDK.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from memorata._version import __version__
from memorata.mcp import resources
from memorata.mcp.errors import error_answer
from memorata.mcp.resources import INSTRUCTIONS, PROMPT, REFERENCE_INSTRUCTIONS, prompt_result
from memorata.mcp.runner import EngineRunner
from memorata.mcp.tools import OWN_TOOLS, Tool

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from memorata.engine import Engine
    from memorata.mcp.answers import Answer

    Opening = Callable[[], AbstractContextManager[Engine]]

NAME: Final = "memorata"
PATH: Final = "/mcp"
MAX_BODY_BYTES: Final = 1024**2
"""The longest request over HTTP, in bytes: ten times the longest text to remember."""

_GRACE_SECONDS: Final = 5
_BACKLOG: Final = 128


def server(runner: EngineRunner, *, reference: bool = False) -> Server[Any]:
    """Return a server of our tools, or of those of the protocol's reference memory server."""
    tools: Iterable[Tool] = OWN_TOOLS
    if reference:
        from memorata.mcp.reference_tools import REFERENCE

        tools = REFERENCE
    handlers = _Handlers(runner, tools)
    return Server(
        NAME,
        title="Memorata",
        version=__version__,
        instructions=REFERENCE_INSTRUCTIONS if reference else INSTRUCTIONS,
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

    async def list_tools(
        self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        # A client that lists tools will soon call one; the engine loads while its model thinks.
        self._runner.warm()
        return types.ListToolsResult(tools=[tool.definition() for tool in self._tools.values()])

    async def call_tool(
        self, _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            names = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}; there are {names}")
        try:
            given = tool.validated(params.arguments or {})
            answer = await self._runner.run(
                lambda engine: tool.run(engine, given), writing=not tool.read_only
            )
        except Exception as error:
            return _result(error_answer(error, tool.name), is_error=True)
        return _result(answer)

    async def list_resources(
        self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await self._answered(resources.listed))

    async def list_templates(
        self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=await self._answered(resources.templates))

    async def read_resource(
        self, _: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = params.uri
        text = await self._answered(partial(_read, address=address))
        contents = types.TextResourceContents(uri=address, mime_type=resources.MIME, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(
        self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(
        self, _: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(
                types.INVALID_PARAMS, f"there is no prompt {params.name!r}; there is {PROMPT.name}"
            )
        return prompt_result()

    async def _answered(self, work: Callable[[Engine], Any]) -> Any:  # noqa: ANN401 - what `work` returns
        """Return what `work` returns; what goes wrong is an error of the protocol, for no tool was called."""
        try:
            return await self._runner.run(work)
        except resources.ResourceNotFound as error:
            raise MCPError(
                types.INVALID_PARAMS, "there is nothing at this address", {"uri": str(error)}
            ) from error
        except Exception as error:
            raise MCPError(types.INTERNAL_ERROR, error_answer(error, "this").text) from error


def _read(engine: Engine, address: str) -> str:
    return resources.read(engine, address)


def _result(answer: Answer, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=answer.text)],
        structured_content=answer.data,
        is_error=is_error,
    )


def log_to_stderr(*, debug: bool = False) -> None:
    """Send what is logged to standard error: warnings, or everything."""
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING,
        stream=sys.stderr,
        format="memorata mcp: %(levelname)s %(name)s: %(message)s",
        force=True,
    )


def serve_stdio(opening: Opening, *, reference: bool = False) -> None:
    """Serve the client at the other end of standard input and output, until it closes them."""

    async def serve(runner: EngineRunner) -> None:
        ours = server(runner, reference=reference)
        async with stdio_server() as (read, write):
            await ours.run(read, write, ours.create_initialization_options())

    # Whoever reads standard input cannot be interrupted, so a signal ends the process as it is. That is safe:
    # a write is on the disk before it is acknowledged, and one that is not finished never happened.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    runner = EngineRunner(opening)
    try:
        asyncio.run(serve(runner))
    finally:
        runner.close()


def serve_http(
    opening: Opening, host: str, port: int, announce: Callable[[str], None], *, reference: bool = False
) -> None:
    """Serve clients on this machine, until interrupted.

    The engine is opened before anybody is served, so that what is wrong shows at once. `announce` is called
    with the address once it is listened on; port 0 is any that is free.
    """
    import uvicorn

    listening = _listening(host, port)
    runner = EngineRunner(opening)
    try:
        runner.engine()
        ours = server(runner, reference=reference)
        app = ours.streamable_http_app(
            streamable_http_path=PATH, host="127.0.0.1", max_request_body_size=MAX_BODY_BYTES
        )
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            ws="none",
            proxy_headers=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listening.getsockname()[1]}{PATH}")
        asyncio.run(uvicorn.Server(config).serve([listening]))
    finally:
        listening.close()
        runner.close()


def _listening(host: str, port: int) -> socket.socket:
    from memorata.model.errors import InvalidArgument
    from memorata.service.auth import is_loopback

    if not is_loopback(host):
        raise InvalidArgument(
            "--host", host, "127.0.0.1, ::1 or localhost: without keys, only this machine is served"
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two programs listen on one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it: no packet waits for the acknowledgement of the one before.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listening.bind((host, port))
        # From here on whoever connects waits in line, and is not refused.
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise InvalidArgument("--port", port, f"one that is free ({error.strerror})") from error
    except BaseException:
        listening.close()
        raise
    return listening
