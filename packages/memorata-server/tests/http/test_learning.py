"""Feedback, the log and experiments over HTTP."""

import pytest

from memorata import Engine
from memorata_server.testing import TestClient

VARIANTS = [{"name": "a", "weight": 0.5}, {"name": "b", "weight": 0.5, "settings": {"vector_weight": 0.2}}]


def test_feedback_is_about_a_hit_of_a_recall(client: TestClient, tea: str) -> None:
    recall = client.post("/v1/recall", json={"query": "what tea does Anna like?"}).json()
    assert recall["recall_id"] != ""
    for kind, value, signal in (
        ("thumbs", "down", "thumbs_down"),
        ("rating", 4, "rating"),
        ("click", None, "click"),
    ):
        body = {"recall_id": recall["recall_id"], "memory_id": tea, "kind": kind, "value": value}
        said = client.post("/v1/feedback", json=body)
        assert (said.status_code, said.json()["signal"]) == (201, signal)
    found = client.get("/v1/feedback", params={"limit": 2}).json()
    assert ([each["signal"] for each in found["feedback"]], found["more"]) == (
        ["thumbs_down", "rating"],
        True,
    )
    (logged,) = client.get("/v1/recalls").json()["recalls"]
    assert (logged["recall_id"], logged["query"], logged["shown"][0]) == (
        recall["recall_id"],
        "what tea does Anna like?",
        tea,
    )


def test_feedback_that_is_sent_twice_under_one_name_counts_once(client: TestClient, tea: str) -> None:
    recall = client.post("/v1/recall", json={"query": "tea"}).json()
    body = {"recall_id": recall["recall_id"], "memory_id": tea, "kind": "thumbs", "value": "up"}
    said = [
        client.post("/v1/feedback", json=body, headers={"Idempotency-Key": "once"}).status_code
        for _ in range(2)
    ]
    assert said == [201, 201]
    assert len(client.get("/v1/feedback").json()["feedback"]) == 1


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"recall_id": "nobody"}, 404),
        ({"memory_id": "nobody"}, 422),
        ({"kind": "shrug"}, 422),
        ({"kind": "rating", "value": 6}, 422),
        ({"kind": "rating", "value": "4"}, 422),
        ({"kind": "thumbs", "value": "sideways"}, 422),
        ({"kind": "thumbs", "value": 1.5}, 422),
        ({"kind": "click", "value": "x"}, 422),
        ({"more": 1}, 422),
    ],
)
def test_feedback_that_makes_no_sense_is_refused(
    client: TestClient, tea: str, change: dict[str, object], status: int
) -> None:
    recall = client.post("/v1/recall", json={"query": "tea"}).json()
    body = {"recall_id": recall["recall_id"], "memory_id": tea, "kind": "thumbs", "value": "up"}
    assert client.post("/v1/feedback", json=body | change).status_code == status
    assert client.get("/v1/feedback").json()["feedback"] == []


def test_an_experiment_is_begun_taken_part_in_looked_at_and_stopped(client: TestClient, tea: str) -> None:
    begun = client.post("/v1/experiments", json={"name": "weights", "variants": VARIANTS})
    assert (begun.status_code, begun.json()["base"], begun.json()["stopped"]) == (201, "balanced", None)
    asked = client.post("/v1/experiments/weights/recall", json={"query": "Anna's tea", "user": "u1"})
    assert asked.json()["hits"][0]["memory"]["id"] == tea
    again = client.post(
        "/v1/experiments/weights/recall", json={"query": "tea", "user": "u1", "recipe": "fast"}
    )
    assert again.status_code == 422
    status = client.get("/v1/experiments/weights").json()
    assert status["winner"] is None
    assert status["reason"]
    assert set(status["recommendation"]["measures"]) == {"a", "b"}
    assert client.post("/v1/experiments/weights/stop").json()["stopped"]
    assert client.post("/v1/experiments/weights/stop").status_code == 422
    assert [each["name"] for each in client.get("/v1/experiments").json()["experiments"]] == ["weights"]
    assert client.post("/v1/experiments", json={"name": "weights", "variants": VARIANTS}).status_code == 422


def test_two_variants_may_meet_in_one_list(client: TestClient, tea: str) -> None:
    client.post("/v1/experiments", json={"name": "met", "variants": VARIANTS, "method": "interleave"})
    asked = client.post("/v1/experiments/met/recall", json={"query": "Anna's tea", "user": "u1"}).json()
    assert tea in [hit["memory"]["id"] for hit in asked["hits"]]
    assert client.get("/v1/experiments/met").json()["preference"] is not None


def test_an_experiment_that_is_none_is_not_found_or_refused(client: TestClient) -> None:
    assert client.get("/v1/experiments/nobody").status_code == 404
    assert client.post("/v1/experiments/nobody/stop").status_code == 404
    question = {"query": "tea", "user": "u1"}
    assert client.post("/v1/experiments/nobody/recall", json=question).status_code == 404
    for bad in (
        {"variants": VARIANTS[:1]},
        {"variants": [VARIANTS[0], {"name": "b", "weight": 0.6}]},
        {"variants": [VARIANTS[0], {"name": "b", "weight": 0.5, "settings": {"nobody": 1}}]},
        {"variants": VARIANTS, "least_users": 1},
        {"variants": VARIANTS, "base": "nobody"},
    ):
        assert client.post("/v1/experiments", json={"name": "x", **bad}).status_code == 422
    assert client.get("/v1/experiments").json() == {"experiments": []}


def test_a_write_under_a_name_leaves_the_log_alone_and_feedback_finds_its_recall(
    client: TestClient, engine: Engine, tea: str
) -> None:
    recall = client.post("/v1/recall", json={"query": "tea"}).json()
    said = client.post("/v1/memories", json={"content": "Ben likes rum"}, headers={"Idempotency-Key": "a"})
    assert said.status_code == 201
    assert engine.store.recalls.list("default") == []
    body = {"recall_id": recall["recall_id"], "memory_id": tea, "kind": "click"}
    assert client.post("/v1/feedback", json=body, headers={"Idempotency-Key": "b"}).status_code == 201
    assert len(engine.store.recalls.list("default")) == 1


def test_an_experiment_that_is_stopped_under_a_name_counts_the_last_who_saw_it(
    client: TestClient, tea: str
) -> None:
    variants = [{"name": "now", "weight": 0.5}, {"name": "wordy", "weight": 0.5}]
    client.post("/v1/experiments", json={"name": "last", "variants": variants, "least_users": 2})
    before = client.get("/v1/experiments/last").json()["reason"]
    for user in ("u1", "u2", "u3"):
        client.post("/v1/experiments/last/recall", json={"query": "tea", "user": user})
    stopped = client.post("/v1/experiments/last/stop", headers={"Idempotency-Key": "s"}).json()
    assert stopped["reason"] != before
