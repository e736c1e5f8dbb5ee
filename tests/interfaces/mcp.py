"""An engine with words only, and a client of the SDK that talks to our server in the test's own process."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from mcp import Client

import memorata
from memorata.engine import Engine
from memorata_server.mcp.server import EngineRunner, server


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", namespace="acme/alice") as memory:
        yield memory


@pytest.fixture
def talk(engine: Engine) -> Callable[..., Any]:
    """Run a conversation with a server; `reference` for the tools of the reference server."""

    def run(conversation: Callable[[Client], Awaitable[Any]], *, reference: bool = False) -> Any:
        async def main() -> Any:
            runner = EngineRunner(lambda: nullcontext(engine))
            try:
                async with Client(server(runner, reference=reference)) as client:
                    return await conversation(client)
            finally:
                runner.close()

        return asyncio.run(main())

    return run


@pytest.fixture
def call(talk: Callable[..., Any]) -> Callable[..., Any]:
    """Call one tool; return its result."""

    def run(tool: str, /, *, reference: bool = False, **arguments: Any) -> Any:
        return talk(lambda client: client.call_tool(tool, arguments), reference=reference)

    return run


@pytest.fixture
def say(call: Callable[..., Any]) -> Callable[..., str]:
    """Call one tool that must work; return its text."""

    def run(tool: str, /, **arguments: Any) -> str:
        result = call(tool, **arguments)
        assert not result.is_error, result.content[0].text
        return str(result.content[0].text)

    return run


@pytest.fixture
def fail(call: Callable[..., Any]) -> Callable[..., str]:
    """Call one tool that must fail; return what it says."""

    def run(tool: str, /, **arguments: Any) -> str:
        result = call(tool, **arguments)
        assert result.is_error
        return str(result.content[0].text)

    return run
