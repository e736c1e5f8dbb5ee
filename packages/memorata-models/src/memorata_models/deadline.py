"""A network for httpcore2 on which no operation goes past the end of the time for a request.

A limit for each read starts anew with every address of a host and with every byte that a service sends.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterable
from typing import Any

from httpcore2 import (
    SOCKET_OPTION,
    ConnectError,
    NetworkBackend,
    NetworkStream,
    SyncBackend,
    TimeoutException,
)

_MIN_SECONDS = 0.001
"""A socket takes no limit of 0."""
_BLOCK_BYTES = 1 << 16


class Deadline(NetworkBackend):
    """A network for one request of so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        """Return a stream to the first address of a host that answers, each with its share of the time."""
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        failure: Exception = ConnectError(f"{host} has no address")
        for at, (*_, address) in enumerate(addresses):
            share = max(_MIN_SECONDS, (self._until - time.monotonic()) / (len(addresses) - at))
            try:
                return _Stream(SyncBackend().connect_tcp(str(address[0]), port, share), self._until)
            except (ConnectError, TimeoutException) as error:
                failure = error
        raise failure


class _Stream(NetworkStream):
    """A stream that ends at a moment."""

    def __init__(self, stream: NetworkStream, until: float) -> None:
        self._stream, self._until = stream, until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has come."""
        return self._stream.read(max_bytes, self._left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send some bytes."""
        for start in range(0, len(buffer), _BLOCK_BYTES):
            self._stream.write(buffer[start : start + _BLOCK_BYTES], self._left())

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> NetworkStream:
        """Return the stream with encryption."""
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, self._left()), self._until)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - as httpcore2 has it
        """Return a fact about the stream."""
        return self._stream.get_extra_info(info)

    def _left(self) -> float:
        return max(_MIN_SECONDS, self._until - time.monotonic())
