"""What the server records: a JSON log on standard error, metrics for Prometheus, OpenTelemetry spans.

No log line, label or span holds what a memory says, a query, or the name of an entity: a path is written as
its template, and an error by its type and place. Only with `--log-contents` are the words of an
error logged too.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from operator import add
from pathlib import Path
from typing import Any, Final, TextIO

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    multiprocess,
    values,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

NAME: Final = "memorata_server"
LOG: Final = logging.getLogger(NAME)
_MAX_FRAMES: Final = 8
_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_LOGGERS: Final = ("memorata", "memorata_server", "uvicorn", "asyncio")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON; `contents` adds the words of errors, which may repeat a memory."""

    def __init__(self, *, contents: bool = False) -> None:
        super().__init__()
        self._contents = contents

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields = getattr(record, "fields", None)
        # What a library says, before anything is put in; asyncio puts all of it in before.
        template = "event loop" if record.name == "asyncio" else str(record.msg)
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage() if fields is not None or self._contents else template,
            "logger": record.name,
        }
        if isinstance(fields, Mapping):
            line |= fields
        if record.exc_info is not None and record.exc_info[1] is not None:
            line |= error_fields(record.exc_info[1], contents=self._contents)
        return json.dumps(line, ensure_ascii=True, default=str)


def error_fields(error: BaseException, *, contents: bool = False) -> dict[str, Any]:
    """Return what a log says about an error: its type and where it came from.

    >>> error_fields(KeyError("a memory"))
    {'error': 'KeyError', 'at': []}
    """
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    at = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    words = {"message": str(error)} if contents else {}
    return {"error": type(error).__name__, "at": at, **words}


def set_up(level: str = "info", *, contents: bool = False, stream: TextIO | None = None) -> logging.Handler:
    """Send what the server and its libraries log to standard error; return what does it."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines(contents=contents))
    for name in (*_LOGGERS, "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name in _LOGGERS else []
        logger.propagate = name not in _LOGGERS
        logger.setLevel(level.upper() if name.startswith("memorata") else logging.WARNING)
    threading.excepthook = _log_thread_error
    return handler


def log_event(
    event: str, level: int = logging.INFO, error: BaseException | None = None, **fields: object
) -> None:
    """Write a line about the server."""
    LOG.log(level, event, extra={"fields": fields}, exc_info=error)


def _log_thread_error(args: threading.ExceptHookArgs) -> None:
    """Write down that a thread came to a bad end; Python itself would print all of its words."""
    if args.exc_type is not SystemExit:
        name = "" if args.thread is None else args.thread.name
        log_event("thread failed", logging.ERROR, args.exc_value, thread=name)


MEDIA_TYPE: Final = CONTENT_TYPE_LATEST
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


def share_metrics(folder: str) -> None:
    """Let the processes of a server count together, in a folder; before the first of them counts."""
    os.environ[_FOLDER] = folder
    # The library has looked for the variable when it was imported.
    values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]


def worker_ended(pid: int) -> None:
    """Forget what a process of the server was doing when it ended; what it has counted stays."""
    if _FOLDER in os.environ:
        multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]


class _Processes:
    """Collects processor time and memory of this process's siblings and their parent, added up."""

    def collect(self) -> Iterator[Metric]:
        parent = os.getppid()
        children = Path(f"/proc/{parent}/task/{parent}/children")
        if not children.exists():
            return
        pids = [parent, *map(int, children.read_text().split())]
        sums: dict[str, Metric] = {}
        for pid in pids:
            for metric in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                if metric.name not in sums:
                    sums[metric.name] = metric
                    continue
                (total,), (own,) = sums[metric.name].samples, metric.samples
                together = min if metric.name.endswith(("start_time_seconds", "max_fds")) else add
                sums[metric.name].samples = [total._replace(value=together(total.value, own.value))]
        yield from sums.values()


class Metrics:
    """The counters of one server, of all its processes."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._shared = _FOLDER in os.environ
        if not self._shared:
            ProcessCollector(registry=self._registry)
        counter = partial(Counter, registry=self._registry)
        gauge = partial(Gauge, registry=self._registry, multiprocess_mode="livesum")
        labels = ["method", "route"]
        self.requests = counter(
            "memorata_http_requests", "Requests, by method, route and status.", [*labels, "status"]
        )
        took = "memorata_http_request_seconds", "How long requests took."
        self.seconds = Histogram(*took, labels, buckets=_BUCKETS, registry=self._registry)
        self.open = gauge("memorata_http_requests_open", "Requests not answered yet.")
        self.busy = gauge("memorata_http_work", "Requests on a thread or waiting for one.")
        self.replayed = counter("memorata_http_replayed", "Writes that had been done already.")

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return all of it in Prometheus' text format."""
        if not self._shared:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        together.register(_Processes())
        return generate_latest(together)


SEARCH: Final = "search_memory"
CREATE: Final = "create_memory"
UPDATE: Final = "update_memory"
DELETE: Final = "delete_memory"

Spans = Callable[[str, str], AbstractContextManager[Any]]
"""Given an operation and a namespace, opens a span around it."""


def spans() -> Spans:
    """Return what opens spans: nothing at all without the package."""
    try:
        from opentelemetry import trace
    except ImportError:
        return lambda operation, namespace: nullcontext()
    tracer = trace.get_tracer("memorata")
    deferred = isinstance(tracer, trace.ProxyTracer)

    @contextmanager
    def recorded(operation: str, namespace: str) -> Iterator[None]:
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "memorata",
            "memorata.namespace": namespace,
        }
        # An error's words may repeat a memory, so only its type is written down.
        with tracer.start_as_current_span(
            operation, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(trace.StatusCode.ERROR)
                raise

    def span(operation: str, namespace: str) -> AbstractContextManager[Any]:
        # While nothing records spans, one that is thrown away would take 50 µs.
        unheard = deferred and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
        return nullcontext() if unheard else recorded(operation, namespace)

    return span
