"""Connections shared evenly by processes that accept from one socket.

Left alone, the process that wakes first accepts all that wait: of sixteen connections that come at once, one
of two processes often had fourteen and more, and the other was idle. Here a process that has more than one
of the others leaves a connection to it for a moment, and takes it only if nobody else has.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from mmap import mmap
from typing import Final

from memorata_server.http.telemetry import log_event

_WAIT_SECONDS: Final = 0.005
"""How long a connection is left to a process that has fewer."""
_PAUSE_SECONDS: Final = 1.0
"""How long nothing is accepted after an error: descriptors are mostly what is missing."""

_LEFT: Final = 2**62
"""Stands for the connections of a process that accepts none."""


class Balance:
    """How many connections each of `processes` has, in memory that they share when they are forked."""

    def __init__(self, processes: int) -> None:
        self._counts = memoryview(mmap(-1, 8 * processes)).cast("q")

    def note(self, number: int, connections: int) -> None:
        """Note how many a process has."""
        self._counts[number] = connections

    def add(self, number: int) -> None:
        """Note one more."""
        self._counts[number] += 1

    def is_ahead(self, number: int) -> bool:
        """Return whether a process has more than another."""
        return self._counts[number] > min(self._counts)


class Acceptor:
    """Accepts connections for the process `number`; `connect` is called with each."""

    def __init__(
        self, sock: socket.socket, balance: Balance, number: int, connect: Callable[[socket.socket], object]
    ) -> None:
        self._sock, self._balance, self._number, self._connect = sock, balance, number, connect
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        sock.setblocking(False)
        balance.note(number, 0)
        self._loop.add_reader(sock, self._readable)

    def close(self) -> None:
        """Accept no more, and let nobody wait for it; the socket stays open."""
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._sock)
        self._balance.note(self._number, _LEFT)

    def _readable(self) -> None:
        if self._balance.is_ahead(self._number):
            self._pause(_WAIT_SECONDS)
        else:
            self._accept()

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._sock)
        self._timer = self._loop.call_later(seconds, self._resume)

    def _resume(self) -> None:
        self._timer = None
        self._loop.add_reader(self._sock, self._readable)
        self._accept()

    def _accept(self) -> None:
        """Accept one connection, if another process has not: for the next, each looks again."""
        try:
            connection = self._sock.accept()[0]
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            log_event("accept failed", logging.ERROR, error)
            self._pause(_PAUSE_SECONDS)
            return
        connection.setblocking(False)
        self._balance.add(self._number)
        self._connect(connection)
