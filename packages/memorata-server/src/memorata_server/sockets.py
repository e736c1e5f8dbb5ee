"""Sockets that servers listen at, and which addresses are those of this machine."""

from __future__ import annotations

import ipaddress
import os
import socket
from errno import EACCES, EADDRINUSE
from typing import Final

from memorata.extend.errors import InvalidArgument

BACKLOG: Final = 1_024


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens, at any free port if it is 0."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    try:
        sock = socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno not in (EADDRINUSE, EACCES):
            raise
        raise InvalidArgument("--port", port, f"one that is free ({os.strerror(error.errno)})") from error
    # Connections inherit it. Without, the second packet of an answer waits until the first is acknowledged:
    # 40 ms for every recall. asyncio sets it only for sockets that were made with the protocol's number.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def address_of(sock: socket.socket) -> str:
    """Return the address that a socket listens at, as a browser takes it."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether a host is one of this machine alone: an address of loopback, or localhost."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_network(argument: str, value: str) -> None:
    """Raise unless a text is an address or a network of addresses."""
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise InvalidArgument(argument, value, "an address, or a network such as 10.0.0.0/8") from None
