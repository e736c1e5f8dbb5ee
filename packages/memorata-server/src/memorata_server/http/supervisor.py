"""Several processes behind one port: started, watched, replaced one by one, stopped without losing a request.

The processes accept from one listening socket, which they inherit: what waits there when one of them leaves
is accepted by another. A process that ends by itself is started again. SIGHUP replaces each by a new one that
reads the settings anew, and stops the old one only when the new one can answer.

What lives in one process, jobs and the sessions of browsers, is that of the first: the others forward
such requests to it, over a Unix socket in a folder that only this user may enter.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Final

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorata import MemorataError
from memorata_server.http.telemetry import log_event, worker_ended

Work = Callable[[int, Callable[[], None]], None]
"""What a process does, given its number and what it calls when it can answer."""

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_RESTART_SECONDS: Final = 1.0
"""How long a process that ended by itself is waited with before it is started again."""
_STOP_SECONDS: Final = 40.0
"""How long processes have to stop; more than requests have to end."""
_CHUNK_BYTES: Final = 64 * 1024
_CLIENT: Final = b"x-memorata-client"
_LOCAL_PREFIXES: Final = ("/v1/", "/mem0/", "/docs")
_JOBS: Final = "/v1/jobs"


class WorkerFailed(MemorataError):  # noqa: N818 - named after what went wrong
    """A process of the server ended before it could answer."""


@dataclass(slots=True)
class _Worker:
    number: int
    pid: int
    pipe: int
    ready: bool = False
    leaving: bool = False
    replaces: _Worker | None = None


class Supervisor:
    """Keeps `count` processes at `work`; `announce` is called when all of them can answer.

    At the end the `sockets` of this process are closed, so that no connection waits there.
    """

    def __init__(
        self, count: int, work: Work, announce: Callable[[], None], sockets: Sequence[socket.socket] = ()
    ) -> None:
        self._count, self._work, self._announce, self._sockets = count, work, announce, sockets
        self._workers: list[_Worker] = []
        self._outdated: list[_Worker] = []
        self._announced = self._stopping = False

    def run(self) -> None:
        """Serve until SIGTERM or SIGINT."""
        # What is in memory now stays shared: the collector writes into everything it looks at.
        gc.collect()
        gc.freeze()
        woken, waker = socket.socketpair()
        waker.setblocking(False)
        handled = (*_SIGNALS, signal.SIGHUP, signal.SIGCHLD)
        before = {sig: signal.signal(sig, lambda *_: None) for sig in handled}
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        try:
            for number in range(self._count):
                self._start(number)
            while not self._stopping:
                pipes = [worker.pipe for worker in self._workers if not worker.ready]
                readable = select.select([woken.fileno(), *pipes], [], [])[0]
                signals = woken.recv(_CHUNK_BYTES) if woken.fileno() in readable else b""
                self._note_ready(readable)
                self._reap()
                if signal.SIGHUP in signals:
                    log_event("restarting", workers=self._count)
                    self._outdated = [worker for worker in self._workers if not worker.leaving]
                self._stopping = bool(set(_SIGNALS) & set(signals))
                self._replace_next()
        finally:
            signal.set_wakeup_fd(-1)
            self._stop()
            for sig, handler in before.items():
                signal.signal(sig, handler)
            woken.close()
            waker.close()

    def _start(self, number: int, replaces: _Worker | None = None) -> None:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writing)
            self._workers.append(_Worker(number, pid, reading, replaces=replaces))
            return
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for sig in (*_SIGNALS, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(sig, signal.SIG_IGN if sig == signal.SIGHUP else signal.SIG_DFL)
            self._work(number, lambda: os.close(writing) if os.write(writing, b"1") else None)
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        except BaseException as error:
            log_event("worker failed", logging.ERROR, error, worker=number)
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _note_ready(self, readable: Sequence[int]) -> None:
        for worker in [worker for worker in self._workers if not worker.ready and worker.pipe in readable]:
            # An end without a word is that of the process, which is reaped below.
            worker.ready = os.read(worker.pipe, 1) == b"1"
            if worker.ready and worker.replaces is not None:
                _tell_to_leave(worker.replaces)
        if not self._announced and all(worker.ready for worker in self._workers):
            self._announced = True
            self._announce()

    def _reap(self) -> None:
        for worker in list(self._workers):
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if not pid:
                continue
            self._workers.remove(worker)
            os.close(worker.pipe)
            worker_ended(worker.pid)
            if worker.leaving:
                continue
            log_event("worker ended", logging.ERROR, worker=worker.number, status=status)
            if not self._announced:
                raise WorkerFailed("a process of the server could not start; the lines above say why")
            if worker.replaces is not None and not worker.ready:
                # The old one goes on, and so do those that were not replaced yet.
                self._outdated = []
                continue
            sleep(_RESTART_SECONDS)
            self._start(worker.number, worker.replaces)

    def _replace_next(self) -> None:
        """Start the next replacement, once the one before can answer."""
        if self._outdated and all(worker.ready for worker in self._workers):
            old = self._outdated.pop(0)
            if old in self._workers:
                self._start(old.number, old)

    def _stop(self) -> None:
        for sock in self._sockets:
            sock.close()
        for worker in self._workers:
            _tell_to_leave(worker)
        until = monotonic() + _STOP_SECONDS
        while self._workers:
            late = monotonic() > until
            for worker in list(self._workers):
                if late:
                    os.kill(worker.pid, signal.SIGKILL)
                if os.waitpid(worker.pid, 0 if late else os.WNOHANG)[0]:
                    self._workers.remove(worker)
            sleep(0.02)


def _tell_to_leave(worker: _Worker) -> None:
    worker.leaving = True
    with suppress(ProcessLookupError):
        os.kill(worker.pid, signal.SIGTERM)


class FirstWorker:
    """ASGI application that lets the first process answer what lives there alone.

    In the first one (`forwards` is false) it tells the application where forwarded requests came from.
    """

    def __init__(self, app: ASGIApp, path: str, *, forwards: bool) -> None:
        self._app, self._path, self._forwards = app, path, forwards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request here, or forward it."""
        path = scope.get("path", "")
        elsewhere = path == _JOBS or path.startswith(_JOBS + "/") or not path.startswith(_LOCAL_PREFIXES)
        if scope["type"] == "http" and self._forwards and elsewhere:
            await self._forward(scope, receive, send)
            return
        if scope["type"] == "http" and not scope.get("client"):
            # Nobody but the other processes connects without an address.
            host = dict(scope["headers"]).get(_CLIENT, b"").decode("latin-1")
            scope["client"] = (host, 0) if host else None
        await self._app(scope, receive, send)

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        reader, writer = await asyncio.open_unix_connection(self._path)
        watch: asyncio.Task[None] | None = None
        try:
            peer = h11.Connection(h11.CLIENT)
            with suppress(ConnectionError):  # refused before all of it was read: the answer says why
                await self._send_request(peer, writer, scope, receive)
            watch = asyncio.create_task(_closed_with(receive, writer))
            while not isinstance(event := peer.next_event(), h11.EndOfMessage | h11.ConnectionClosed):
                if event is h11.NEED_DATA:
                    peer.receive_data(await reader.read(_CHUNK_BYTES))
                elif isinstance(event, h11.Response):
                    await send(_start(event))
                elif isinstance(event, h11.Data):
                    await send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            if watch is not None:
                watch.cancel()
            writer.close()

    async def _send_request(
        self, peer: h11.Connection, writer: asyncio.StreamWriter, scope: Scope, receive: Receive
    ) -> None:
        headers = [pair for pair in scope["headers"] if pair[0] not in (b"connection", _CLIENT)]
        client = (scope.get("client") or ("",))[0].encode("latin-1")
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        request = h11.Request(
            method=scope["method"],
            target=target,
            headers=[*headers, (b"connection", b"close"), (_CLIENT, client)],
        )
        writer.write(peer.send(request) or b"")
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            if body := message.get("body", b""):
                writer.write(peer.send(h11.Data(data=body)) or b"")
                await writer.drain()
            more = message.get("more_body", False)
        writer.write(peer.send(h11.EndOfMessage()) or b"")
        await writer.drain()


async def _closed_with(receive: Receive, writer: asyncio.StreamWriter) -> None:
    """Close the connection when the client disconnects, as it may while it watches a job."""
    while (await receive())["type"] != "http.disconnect":
        pass
    writer.close()


def _start(response: h11.Response) -> Message:
    headers = [
        pair for pair in response.headers.raw_items() if pair[0].lower() not in (b"connection", b"date")
    ]
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}
