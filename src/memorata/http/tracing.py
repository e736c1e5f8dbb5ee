"""Spans of memory operations, by the names of OpenTelemetry's conventions for generative AI.

Only where the package ``opentelemetry-api`` is installed; what is done with them is up to the process that
sets it up. No span holds what a memory says or what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Final

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

    @contextmanager
    def opened(operation: str, namespace: str) -> Iterator[None]:
        attributes = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": "memorata",
            "memorata.namespace": namespace,
        }
        # An error's words may repeat what somebody said, so only its type is written down.
        with tracer.start_as_current_span(
            operation, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(trace.StatusCode.ERROR)
                raise

    return opened
