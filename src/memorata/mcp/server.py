"""The server: tools, resources and the prompt behind the protocol's requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from memorata._version import __version__
from memorata.mcp import resources
from memorata.mcp.failures import explained
from memorata.mcp.reading_tools import READING
from memorata.mcp.teaching import INSTRUCTIONS, PROMPT, REFERENCE_INSTRUCTIONS, lesson
from memorata.mcp.writing_tools import WRITING

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from memorata.engine import Engine
    from memorata.mcp.answers import Answer
    from memorata.mcp.calls import Calls
    from memorata.mcp.tool import Tool

NAME: Final = "memorata"

OWN: Final = (READING[0], *WRITING, *READING[1:])
"""Memorata's own tools."""


def server(calls: Calls, *, reference: bool = False) -> Server[Any]:
    """Return a server whose work is done by `calls`.

    Parameters
    ----------
    calls
        Runs the work of tools on an engine.
    reference
        Whether the tools are those of the protocol's reference memory server instead of our own.
    """
    tools: Iterable[Tool] = OWN
    if reference:
        from memorata.mcp.reference_tools import REFERENCE

        tools = REFERENCE
    handlers = _Handlers(calls, tools)
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
    def __init__(self, calls: Calls, tools: Iterable[Tool]) -> None:
        self._calls = calls
        self._tools = {tool.name: tool for tool in tools}

    async def list_tools(
        self, _: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        # A client that lists tools will soon call one; the engine loads while its model thinks.
        self._calls.warm()
        return types.ListToolsResult(tools=[tool.listed() for tool in self._tools.values()])

    async def call_tool(
        self, _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            names = ", ".join(self._tools)
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}; there are {names}")
        try:
            given = tool.checked(params.arguments or {})
            answer = await self._calls.run(lambda engine: tool.run(engine, given), writing=not tool.reads)
        except Exception as error:
            return _result(explained(error, tool.name), is_error=True)
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
        return lesson()

    async def _answered(self, work: Callable[[Engine], Any]) -> Any:  # noqa: ANN401 - what `work` returns
        """Return what `work` returns; what goes wrong is an error of the protocol, for no tool was called."""
        try:
            return await self._calls.run(work)
        except resources.UnknownResource as error:
            raise MCPError(
                types.INVALID_PARAMS, "there is nothing at this address", {"uri": str(error)}
            ) from error
        except Exception as error:
            raise MCPError(types.INTERNAL_ERROR, explained(error, "this").text) from error


def _read(engine: Engine, address: str) -> str:
    return resources.read(engine, address)


def _result(answer: Answer, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=answer.text)],
        structured_content=answer.data,
        is_error=is_error,
    )
