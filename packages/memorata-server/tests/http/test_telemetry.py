"""Logs, metrics and spans: what is recorded, and that no memory is in it."""

import asyncio
import io
import json
import logging
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memorata import Engine
from memorata_server.http import telemetry
from memorata_server.http.telemetry import CREATE, SEARCH, Metrics, spans
from memorata_server.testing import TestClient


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the loggers as they were."""
    names = ("memorata", "uvicorn", "uvicorn.error", "uvicorn.access", "asyncio")
    before = [(logging.getLogger(name), vars(logging.getLogger(name)).copy()) for name in names]
    hook = threading.excepthook
    yield
    threading.excepthook = hook
    for logger, state in before:
        logger.handlers, logger.propagate = state["handlers"], state["propagate"]
        logger.setLevel(state["level"])


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_object() -> None:
    stream = io.StringIO()
    telemetry.set_up(stream=stream)
    telemetry.log_event("request", route="/v1/recall", status=200)
    (line,) = lines(stream)
    assert (line["event"], line["level"], line["route"], line["status"]) == (
        "request",
        "info",
        "/v1/recall",
        200,
    )
    assert line["time"].endswith("+00:00")


@pytest.mark.parametrize("contents", [False, True])
def test_the_words_of_an_error_are_written_only_if_asked_for(contents: bool) -> None:
    stream = io.StringIO()
    telemetry.set_up(stream=stream, contents=contents)
    try:
        raise KeyError("marmalade")
    except KeyError as error:
        telemetry.log_event("request", logging.ERROR, error, status=500)
    logging.getLogger("memorata.engine").warning("a text in %s", "marmalade")
    logging.getLogger("uvicorn.error").error("broken by %r", "marmalade")
    first, second, third = lines(stream)
    assert first["error"] == "KeyError"
    assert first["at"][0].startswith("test_telemetry.py:")
    assert (second["event"], third["event"]) == (
        ("a text in marmalade", "broken by 'marmalade'") if contents else ("a text in %s", "broken by %r")
    )
    assert ("marmalade" in stream.getvalue()) == contents


def test_less_is_written_where_less_is_wanted() -> None:
    stream = io.StringIO()
    telemetry.set_up("warning", stream=stream)
    telemetry.log_event("request")
    telemetry.log_event("request", logging.ERROR)
    assert [line["level"] for line in lines(stream)] == ["error"]


@pytest.mark.parametrize("contents", [False, True])
def test_what_breaks_on_a_thread_or_in_the_loop_is_a_line_as_any_other(
    contents: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    telemetry.set_up(stream=stream, contents=contents)

    def broken(said: str) -> None:
        raise KeyError(said)

    thread = threading.Thread(target=broken, args=("marmalade",), name="errand tuning")
    thread.start()
    thread.join()

    async def forgotten() -> None:
        asyncio.get_running_loop().call_soon(broken, "marmalade")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(forgotten())
    on_a_thread, in_the_loop = lines(stream)
    assert (on_a_thread["event"], on_a_thread["thread"]) == ("thread failed", "errand tuning")
    assert (on_a_thread["error"], in_the_loop["error"]) == ("KeyError", "KeyError")
    assert in_the_loop["logger"] == "asyncio"
    assert ("marmalade" in stream.getvalue()) == contents
    assert capsys.readouterr().err == ""


def test_requests_are_counted_by_route_and_status() -> None:
    metrics = Metrics()
    metrics.observe("GET", "/v1/memories", 200, 0.002)
    metrics.observe("GET", "/v1/memories", 404, 0.2)
    text = metrics.text().decode()
    assert 'memorata_http_requests_total{method="GET",route="/v1/memories",status="404"} 1.0' in text
    assert 'memorata_http_request_seconds_bucket{le="0.0025",method="GET",route="/v1/memories"} 1.0' in text
    assert 'memorata_http_request_seconds_count{method="GET",route="/v1/memories"} 2.0' in text


def test_no_label_holds_what_was_asked_for(client: TestClient, tea: str) -> None:
    client.get(f"/v1/memories/{tea}")
    client.get("/v1/entities/Anna", params={"namespace": "marmalade"})
    client.get("/v1/nothing/marmalade")
    client.get("/marmalade")
    client.request("MARMALADE", "/v1/memories")
    text = client.get("/v1/metrics").text
    assert 'route="/v1/memories/{id:path}"' in text
    assert 'method="OTHER"' in text
    for said in (tea, "Anna", "marmalade", "MARMALADE"):
        assert said not in text


def test_the_work_that_is_told_of_is_what_goes_on_now(
    client: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_work() -> str:
        lines = client.get("/v1/metrics").text.splitlines()
        return next(line.split()[1] for line in lines if line.startswith("memorata_http_work "))

    assert at_work() == "0.0"
    begun, go, listed = threading.Event(), threading.Event(), engine.list

    def slow(**options: Any) -> Any:
        begun.set()
        go.wait(60)
        return listed(**options)

    monkeypatch.setattr(type(engine), "list", staticmethod(slow))
    with ThreadPoolExecutor(1) as somebody:
        asking = somebody.submit(client.get, "/v1/memories")
        assert begun.wait(60)
        assert at_work() == "1.0"
        go.set()
        assert asking.result(10).status_code == 200
    assert at_work() == "0.0"


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
