import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memorata.http.tracing import CREATE, SEARCH, spans


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_a_span_has_the_name_of_its_operation(exporter: InMemorySpanExporter) -> None:
    with spans()(SEARCH, "acme/alice"):
        pass
    (span,) = exporter.get_finished_spans()
    assert span.name == "search_memory"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.provider.name": "memorata",
        "memorata.namespace": "acme/alice",
    }


def test_an_error_is_told_by_its_type_alone(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(KeyError), spans()(CREATE, "acme"):
        raise KeyError("marmalade")
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "KeyError"
    assert span.status.status_code is trace.StatusCode.ERROR
    assert "marmalade" not in span.to_json()


def test_without_the_package_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with spans()(SEARCH, "acme"):
        pass
