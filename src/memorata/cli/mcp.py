"""Memory for agents: mcp."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from memorata.cli.command import command
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine import Engine

_PORT: Final = 8766
_PACKAGES: Final = ("mcp", "mcp_types", "uvicorn")

Transport = Annotated[
    Literal["stdio", "http"],
    typer.Option("--transport", "-t", help="How clients connect: stdio, when they start it, or http."),
]
Host = Annotated[str, typer.Option("--host", help="Where to listen, for http: an address of this machine.")]
Port = Annotated[
    int, typer.Option("--port", "-p", min=0, max=65_535, help="The port, for http; 0 for any that is free.")
]
Compat = Annotated[
    Literal["reference"] | None,
    typer.Option("--compat", help="Tools by the names of the protocol's reference memory server."),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "mcp", "For agents")(mcp)


def mcp(
    session: Session,
    transport: Transport = "stdio",
    host: Host = "127.0.0.1",
    port: Port = _PORT,
    compat: Compat = None,
) -> None:
    """Serve this memory to agents by the Model Context Protocol."""
    serving = _loaded()
    serving.log_to_stderr(debug=session.given.debug)
    reference = compat == "reference"

    def opening() -> AbstractContextManager[Engine]:
        return session.memory(create=True, embed=True)

    if transport == "stdio":
        if sys.stdin.isatty():
            session.output.say(
                "Waiting for a client to speak on standard input; clients start this command themselves, "
                "and docs/mcp.md says how. Ctrl-C ends it.",
                "",
            )
        serving.serve_stdio(opening, reference=reference)
    else:
        serving.serve_http(opening, host, port, _announcer(session), reference=reference)


def _announcer(session: Session) -> Callable[[str], None]:
    return lambda address: session.output.say(f"Listening on {address}")


def _loaded() -> ModuleType:
    """Return the module that serves, loaded with haste, for a client waits for it.

    The SDK makes hundreds of classes of messages, most of which a conversation never meets. They are told to
    build their validators when one is first needed, and nobody looks for garbage among them meanwhile: that
    takes a quarter off the time.
    """
    try:
        with _hasty():
            from memorata.mcp import server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _PACKAGES:
            raise
        from memorata.model.errors import MissingExtra

        raise MissingExtra("memorata mcp", "'memorata[mcp]'") from error
    return server


@contextmanager
def _hasty() -> Iterator[None]:
    from pydantic import BaseModel

    was_on = gc.isenabled()
    gc.disable()
    # A class takes over what its base is configured with at the moment it is made.
    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]
        if was_on:
            gc.enable()
