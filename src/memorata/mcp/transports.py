"""Serving: over standard input and output to the client that started us, or over HTTP to any on this machine.

On standard output there is nothing but the protocol; logs go to standard error. Over HTTP there are no keys
yet, so only addresses of this machine are served, and requests that a web page of another origin makes a
browser send (DNS rebinding) are refused by the SDK.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from mcp.server.stdio import stdio_server

from memorata.mcp.calls import Calls
from memorata.mcp.server import server

if TYPE_CHECKING:
    from memorata.engine import Engine

    Opening = Callable[[], AbstractContextManager[Engine]]

PATH: Final = "/mcp"
LARGEST_BODY: Final = 1024**2
"""The longest request over HTTP, in bytes: ten times the longest text to remember."""

_GRACE_SECONDS: Final = 5
_LINE: Final = 128


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

    async def serve(calls: Calls) -> None:
        ours = server(calls, reference=reference)
        async with stdio_server() as (read, write):
            await ours.run(read, write, ours.create_initialization_options())

    # Whoever reads standard input cannot be interrupted, so a signal ends the process as it is. That is safe:
    # a write is on the disk before it is acknowledged, and one that is not finished never happened.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    calls = Calls(opening)
    try:
        asyncio.run(serve(calls))
    finally:
        calls.close()


def serve_http(
    opening: Opening, host: str, port: int, announce: Callable[[str], None], *, reference: bool = False
) -> None:
    """Serve clients on this machine, until interrupted.

    Parameters
    ----------
    opening
        Gives the engine; called before anybody is served, so that what is wrong shows at once.
    host, port
        Where to listen: an address of this machine; port 0 for any that is free.
    announce
        Called with the address once it is listened on.
    reference
        Whether the tools are those of the protocol's reference memory server.
    """
    import uvicorn

    listening = _listening(host, port)
    calls = Calls(opening)
    try:
        calls.engine()
        ours = server(calls, reference=reference)
        app = ours.streamable_http_app(
            streamable_http_path=PATH, host="127.0.0.1", max_request_body_size=LARGEST_BODY
        )
        config = uvicorn.Config(
            app, log_config=None, access_log=False, ws="none", timeout_graceful_shutdown=_GRACE_SECONDS
        )
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listening.getsockname()[1]}{PATH}")
        asyncio.run(uvicorn.Server(config).serve([listening]))
    finally:
        listening.close()
        calls.close()


def _listening(host: str, port: int) -> socket.socket:
    from memorata.model.errors import InvalidArgument

    if host != "localhost":
        try:
            loopback = ipaddress.ip_address(host).is_loopback
        except ValueError:
            loopback = False
        if not loopback:
            raise InvalidArgument(
                "--host", host, "127.0.0.1, ::1 or localhost: without keys, only this machine is served"
            )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two programs listen on one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        # From here on whoever connects waits in line, and is not refused.
        listening.listen(_LINE)
    except OSError as error:
        listening.close()
        raise InvalidArgument("--port", port, f"one that is free ({error.strerror})") from error
    except BaseException:
        listening.close()
        raise
    return listening
