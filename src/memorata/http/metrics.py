"""What can be counted, for Prometheus. No label holds a namespace, a key or anything that somebody said."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

MEDIA_TYPE: Final = CONTENT_TYPE_LATEST
_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.requests = Counter(
            "memorata_http_requests",
            "Requests, by method, route and status.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self.seconds = Histogram(
            "memorata_http_request_seconds",
            "How long requests took.",
            ["method", "route"],
            buckets=_BOUNDS,
            registry=self._registry,
        )
        self.open = Gauge(
            "memorata_http_requests_open", "Requests not answered yet.", registry=self._registry
        )
        self.busy = Gauge(
            "memorata_http_work", "Requests on a thread or waiting for one.", registry=self._registry
        )
        self.replayed = Counter(
            "memorata_http_replayed", "Writes that had been done already.", registry=self._registry
        )

    def observed(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def text(self) -> bytes:
        """Return all of it in Prometheus' text format."""
        return generate_latest(self._registry)
