import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from memorata import Engine
from memorata.http.metrics import Metrics


def test_requests_are_counted_by_route_and_status() -> None:
    metrics = Metrics()
    metrics.observed("GET", "/v1/memories", 200, 0.002)
    metrics.observed("GET", "/v1/memories", 404, 0.2)
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
    begun, go, entities = threading.Event(), threading.Event(), engine.entities.list

    def slow(**options: Any) -> Any:
        begun.set()
        go.wait(10)
        return entities(**options)

    monkeypatch.setattr(engine.entities, "list", slow)
    with ThreadPoolExecutor(1) as somebody:
        asking = somebody.submit(client.get, "/v1/entities")
        assert begun.wait(10)
        assert at_work() == "1.0"
        go.set()
        assert asking.result(10).status_code == 200
    assert at_work() == "0.0"
