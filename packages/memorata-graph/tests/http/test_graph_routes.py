"""Paths, communities, timeline and near over HTTP."""

import pytest

from memorata_server.testing import TestClient


@pytest.fixture
def bob(client: TestClient, tea: str) -> str:
    client.post("/v1/relations", json={"subject": "Bob", "type": "knows", "object": "Anna"})
    return tea


def test_ways_lead_through_relations_and_memories(client: TestClient, bob: str) -> None:
    found = client.get("/v1/paths", params={"start": "Bob", "to": "Anna", "type": "knows"}).json()
    (way,) = found["paths"]
    assert way["start"] == "Bob"
    assert [(step["type"], step["entity"]) for step in way["steps"]] == [("knows", "Anna")]
    assert client.get("/v1/paths", params={"start": "Nobody"}).status_code == 404
    assert client.get("/v1/paths", params={"start": "Bob", "to": "Bob"}).status_code == 422


def test_communities_have_a_summary(client: TestClient, bob: str) -> None:
    found = client.get("/v1/communities").json()
    assert found["count"] == len(found["communities"])
    (with_tea,) = (group for group in found["communities"] if bob in group["memories"])
    assert "Anna" in with_tea["summary"]


def test_a_timeline_is_in_the_order_of_what_happened(client: TestClient, bob: str) -> None:
    found = client.get("/v1/timeline", params={"entity": "Bob"}).json()["memories"]
    assert [each["content"] for each in found] == [
        "Bob moved to Lisbon in May 2026",
        "Coffee gives Bob headaches",
    ]
    before = client.get("/v1/timeline", params={"end": "2020-01-01T00:00:00Z"}).json()
    assert before == {"memories": []}


def test_near_tells_how_far(client: TestClient, bob: str) -> None:
    (found,) = client.get("/v1/near", params={"lat": 48.857, "lon": 2.352}).json()["memories"]
    assert (found["metres"], found["memory"]["id"]) == (0.0, bob)
    far = client.get("/v1/near", params={"lat": 0, "lon": 0, "radius": 10}).json()
    assert far == {"memories": [], "entities": []}
    lisbon = {"lat": 38.72, "lon": -9.14, "name": ""}
    described = client.put("/v1/entities/Lisbon", json={"place": lisbon}).json()
    assert described["place"] == lisbon
    (placed,) = client.get("/v1/near", params={"lat": 38.72, "lon": -9.14}).json()["entities"]
    assert (placed["metres"], placed["entity"]["name"]) == (0.0, "Lisbon")


def test_what_was_known_then(client: TestClient, bob: str) -> None:
    then, later = {"as_of": "2020-01-01T00:00:00Z"}, {"as_of": "2100-01-01T00:00:00Z"}
    for path, query, what in (
        ("/v1/paths", {"start": "Bob", "to": "Anna"}, "paths"),
        ("/v1/communities", {}, "communities"),
        ("/v1/timeline", {}, "memories"),
        ("/v1/near", {"lat": "0", "lon": "0"}, "memories"),
    ):
        assert client.get(path, params=query | then).json()[what] == []
        assert client.get(path, params=query | later).json() == client.get(path, params=query).json()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/paths",
        "/v1/paths?start=Bob&depth=0",
        "/v1/paths?start=Bob&limit=-1",
        "/v1/paths?start=Bob&direction=up",
        "/v1/paths?start=Bob&seconds=1e9",
        "/v1/communities?level=3",
        "/v1/communities?limit=0",
        "/v1/timeline?start=now",
        "/v1/timeline?as_of=then",
        "/v1/timeline?start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z",
        "/v1/near?lat=91&lon=0",
        "/v1/near?lat=nan&lon=0",
        "/v1/near?lat=1",
        "/v1/near?lat=1&lon=1&radius=-1",
    ],
)
def test_what_cannot_be_asked_is_refused(client: TestClient, bob: str, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


def test_hubs_cells_and_the_shortest_way(client: TestClient, bob: str) -> None:
    hubs = client.get("/v1/hubs", params={"limit": 2}).json()["hubs"]
    assert {"entity", "score", "memories"} == set(hubs[0])
    assert hubs[0]["score"] >= hubs[1]["score"]
    (cell,) = client.get("/v1/cells", params={"precision": 5}).json()["cells"]
    assert cell["name"].startswith("geo_5_")
    assert client.get("/v1/cells", params={"precision": 3}).status_code == 422
    asked: dict[str, str | bool | float] = {"start": "Bob", "to": "Anna", "shortest": True, "decay": 0.5}
    (way,) = client.get("/v1/paths", params=asked).json()["paths"]
    assert (way["score"], way["cost"]) == (0.5, 1.0)
    reached = client.get("/v1/paths", params={"start": "Bob", "decay": 0.5, "type": "knows"}).json()
    assert reached["scores"] == [{"entity": "Anna", "score": 0.5}]
    assert client.get("/v1/communities", params={"levels": 1, "iterations": 3}).json()["level"] == 0
