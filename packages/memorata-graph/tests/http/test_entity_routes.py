"""Entities and relations over HTTP, and all about one of them."""

import pytest

from memorata import Engine
from memorata_server.testing import TestClient


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
    alone = client.post("/v1/entities/undo_merge", json={"name": "base-west"}).json()
    assert alone["name"] == "base-west"


def test_a_nickname_is_listed_undone_and_restored(client: TestClient, fleet: str) -> None:
    client.post("/v1/memories", json={"content": "I fix drones", "source": {"speaker": "Melanie"}})
    client.post("/v1/memories", json={"content": "Ask Mel", "source": {"speaker": "Otto"}})
    mel = {"word": "Mel", "name": "Melanie", "memories": 1, "undone": False}
    assert client.get("/v1/entities/aliases").json() == {"aliases": [mel]}
    undone = client.post("/v1/entities/undo_alias", json={"word": "MEL"}).json()
    assert undone == {"aliases": [{**mel, "undone": True}]}
    restored = client.post("/v1/entities/undo_alias", json={"word": "Mel", "restore": True}).json()
    assert restored == {"aliases": [mel]}


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


def test_all_about_somebody_is_shown_and_removed(client: TestClient, engine: Engine, tea: str) -> None:
    client.post("/v1/relations", json={"subject": "Anna", "type": "knows", "object": "Bob"})
    found = client.get("/v1/about", params={"entity": "anna"}).json()
    assert [each["id"] for each in found["memories"]] == [tea]
    assert [each["type"] for each in found["relations"]] == ["knows"]
    assert found["entities"][0]["entity"]["name"] == "Anna"
    assert client.delete("/v1/about", params={"entity": "anna"}).json() == {"removed": 1}
    assert client.get("/v1/about", params={"entity": "anna"}).status_code == 404
    assert client.delete("/v1/about", params={"entity": "anna"}).status_code == 404
    assert client.delete("/v1/about").status_code == 422
    assert len(engine.list(hidden=True).memories) == 2


def test_a_namespace_is_removed_with_what_its_requests_were_answered_with(
    client: TestClient, engine: Engine
) -> None:
    there = {"namespace": "acme/alice"}
    client.post("/v1/memories", params=there, json={"content": "tea"}, headers={"Idempotency-Key": "a"})
    assert client.delete("/v1/namespaces", params=there).json() == {"removed": 1}
    assert client.get("/v1/namespaces").json() == {"namespaces": []}
    assert engine.store.replies.find("local", "a") is None
    assert client.delete("/v1/namespaces", params=there).status_code == 422


def test_a_purge_lets_go_of_what_jobs_found_there(client: TestClient, tea: str) -> None:
    begun = client.post("/v1/jobs/duplicates", json={}).headers["location"]
    assert client.app.state.server.jobs.find(begun.rpartition("/")[2]).wait(60)  # type: ignore[attr-defined]
    assert client.get(begun).status_code == 200
    client.post("/v1/memories/purge", json={"ids": [tea]})
    assert client.get(begun).status_code == 404


def test_a_namespace_that_is_to_go_has_to_be_named_even_if_it_is_the_server_s_own(
    client: TestClient, tea: str
) -> None:
    answer = client.delete("/v1/namespaces")
    assert (answer.status_code, answer.json()["detail"]) == (422, "query.namespace: Field required")
    assert client.get(f"/v1/memories/{tea}").status_code == 200
    assert client.delete("/v1/namespaces?namespace=default").json() == {"removed": 3}
