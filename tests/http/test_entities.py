"""Entities and relations over HTTP."""

import pytest
from starlette.testclient import TestClient


@pytest.fixture
def fleet(client: TestClient, tea: str) -> str:
    """A few relations; the memory that one of them rests on."""
    for subject, type_, object_ in (
        ("UAV/001", "belongs_to", "fleet-rescue"),
        ("fleet-rescue", "stationed_at", "base-west"),
    ):
        said = client.post("/v1/relations", json={"subject": subject, "type": type_, "object": object_})
        assert said.status_code == 201
    client.post(
        "/v1/relations", json={"subject": "Anna", "type": "flies", "object": "UAV/001", "memory": tea}
    )
    return tea


def test_a_relation_is_said_read_and_taken_back(client: TestClient, fleet: str) -> None:
    found = client.get("/v1/relations", params={"entity": "anna"}).json()
    assert found["more"] is False
    (flies,) = found["relations"]
    assert (flies["subject"], flies["type"], flies["object"]) == ("Anna", "flies", "UAV/001")
    assert (flies["memory"], flies["weight"], flies["valid_to"]) == (fleet, 1.0, None)
    assert client.get("/v1/relations", params={"limit": 1}).json()["more"] is True
    early = client.get("/v1/relations", params={"as_of": "2020-01-01T00:00:00Z"}).json()
    assert early == {"relations": [], "more": False}
    gone = {"subject": "Anna", "type": "flies", "object": "UAV/001"}
    assert client.delete("/v1/relations", params=gone).json() == {"removed": 1}
    assert client.delete("/v1/relations", params=gone).status_code == 422


def test_an_entity_is_described_found_and_merged(client: TestClient, fleet: str) -> None:
    said = client.put("/v1/entities/UAV/001", json={"type": "drone", "aliases": ["Bird"]})
    assert (said.status_code, said.json()["type"], said.json()["aliases"]) == (200, "drone", ["Bird"])
    assert client.get("/v1/entities/bird").json()["name"] == "UAV/001"
    listed = client.get("/v1/entities", params={"prefix": "uav", "limit": 5}).json()["entities"]
    assert [each["name"] for each in listed] == ["UAV/001"]
    merged = client.post("/v1/entities/merge", json={"keep": "UAV/001", "other": "base-west"}).json()
    assert merged["merged"] == ["base-west"]
    alone = client.post("/v1/entities/unmerge", json={"name": "base-west"}).json()
    assert alone["name"] == "base-west"


def test_nobody_is_not_found_and_the_nearest_are_named(client: TestClient, fleet: str) -> None:
    answer = client.get("/v1/entities/Ana")
    assert (answer.status_code, answer.json()["type"]) == (404, "memorata:not-found")
    assert "Anna" in answer.json()["detail"]


@pytest.mark.parametrize(
    "bad",
    [
        {"subject": "a", "type": "b"},
        {"subject": " ", "type": "b", "object": "c"},
        {"subject": "a", "type": "mentions", "object": "c"},
        {"subject": "a", "type": "b", "object": "c", "weight": 0},
        {"subject": "a", "type": "b", "object": "c", "weight": "1"},
        {"subject": "a", "type": "b", "object": "c", "extra": 1},
        {"subject": "a", "type": "b", "object": "c" * 1001},
    ],
)
def test_a_relation_that_makes_no_sense_is_refused(client: TestClient, bad: dict[str, object]) -> None:
    assert client.post("/v1/relations", json=bad).status_code == 422
    assert client.get("/v1/relations").json()["relations"] == []


def test_a_relation_needs_the_memory_it_rests_on(client: TestClient) -> None:
    said = {"subject": "a", "type": "b", "object": "c", "memory": "nobody"}
    assert client.post("/v1/relations", json=said).status_code == 404
