from starlette.testclient import TestClient

from recollect.http.metrics import Metrics


def test_requests_are_counted_by_route_and_status() -> None:
    metrics = Metrics()
    metrics.observed("GET", "/v1/memories", 200, 0.002)
    metrics.observed("GET", "/v1/memories", 404, 0.2)
    text = metrics.text().decode()
    assert 'recollect_http_requests_total{method="GET",route="/v1/memories",status="404"} 1.0' in text
    assert 'recollect_http_request_seconds_bucket{le="0.0025",method="GET",route="/v1/memories"} 1.0' in text
    assert 'recollect_http_request_seconds_count{method="GET",route="/v1/memories"} 2.0' in text


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
