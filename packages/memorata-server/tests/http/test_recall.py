"""Recall over HTTP."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memorata import Engine
from memorata.model.entity import Place
from memorata.model.memory import Source
from memorata.service.codec import recall_json
from memorata_server.http import recall
from memorata_server.http.context import fast_json, json_bytes
from memorata_server.testing import TestClient


def test_a_question_finds_the_memory_as_the_engine_does(client: TestClient, engine: Engine, tea: str) -> None:
    found = client.post("/v1/recall", json={"query": "what tea does Anna like?", "limit": 2})
    assert found.status_code == 200
    body = found.json()
    direct = engine.recall("what tea does Anna like?", limit=2)
    assert [hit["memory"]["id"] for hit in body["hits"]] == [hit.memory.id for hit in direct]
    assert body["hits"][0]["memory"]["id"] == tea
    assert "explanation" not in body["hits"][0]
    assert body["recipe"] == "balanced"
    assert body["support"] == direct.support > 0


def test_an_answer_tells_all_that_the_engine_tells(client: TestClient, engine: Engine, tea: str) -> None:
    body = client.post("/v1/recall", json={"query": "what tea does Anna like?"}).json()
    assert engine.recall("what tea does Anna like?").as_dict().keys() <= body.keys()


@pytest.mark.parametrize("explain", [False, True])
def test_refused_hits_are_marked_and_apart(client: TestClient, tea: str, explain: bool) -> None:
    asked = {"query": "what tea does Anna like?", "explain": explain}
    shown = client.post("/v1/recall", json=asked).json()
    assert (shown["refused"], shown["hits"][0]["refused"]) == ([], False)
    refused = client.post("/v1/recall", json=asked | {"min_confidence": 1.0}).json()
    assert refused["hits"] == []
    assert refused["refused"][0]["id"] == tea
    assert all(hit["refused"] for hit in refused["refused"])
    assert refused["confidence"] == shown["confidence"]
    assert client.post("/v1/recall", json=asked | {"min_confidence": 1.5}).status_code == 422


@pytest.mark.parametrize("encoder", [fast_json, None])
@pytest.mark.parametrize("number", [7, 2**70])
def test_an_answer_is_the_one_json_form_of_a_result(
    client: TestClient,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    encoder: Callable[..., bytes] | None,
) -> None:
    moment = datetime(2026, 5, 7, 18, 30, 1, 250_000, tzinfo=timezone(timedelta(hours=2)))
    engine.remember(
        "Anna drinks oolong in Zürich.",
        tags=["drinks"],
        metadata={"number": number, "deep": {"list": [1.5, None, True, "é"]}},
        source=Source(speaker="Anna", session="s", position=3, role="user"),
        place=Place(47.4, 8.5, "Zürich"),
        valid_from=moment,
        pinned=True,
    )
    results = []
    engine_recall = Engine.recall

    def noted(self: Engine, *arguments: Any, **options: Any) -> Any:
        results.append(engine_recall(self, *arguments, **options))
        return results[-1]

    monkeypatch.setattr(Engine, "recall", noted)
    monkeypatch.setattr(recall, "fast_json", encoder)
    body = client.post("/v1/recall", json={"query": "Anna oolong"}).json()
    assert body["hits"][0]["memory"]["metadata"]["number"] == number
    assert body == json.loads(json_bytes(recall_json(results[0])))


def test_several_samples_say_how_far_they_agree(client: TestClient, tea: str) -> None:
    asked = {"query": "what tea does Anna like?", "recipe": "confident", "variants": ["Anna's tea"]}
    agreement = client.post("/v1/recall", json=asked).json()["agreement"]
    assert agreement["samples"][:2] == ["as asked", 'as "Anna\'s tea"']
    assert 0 < agreement["confidence"] <= 1
    assert agreement["support"][tea] > 0
    strict = asked | {"parameters": {"least_agreement": 1.0, "least_support": 1.0}, "variants": ["a zebra"]}
    refused = client.post("/v1/recall", json=strict).json()
    assert refused["hits"] == []
    assert refused["rejected"]["missed"][0]["measure"] == "agreement"


def test_a_hit_explains_itself_when_asked(client: TestClient, tea: str) -> None:
    body = client.post("/v1/recall", json={"query": "Anna's tea", "explain": True}).json()
    hit = body["hits"][0]
    assert hit["explanation"]["value"] == hit["score"]
    assert hit["explanation"]["parts"]


def test_all_that_can_be_asked(client: TestClient, engine: Engine, tea: str) -> None:
    now = datetime.now(UTC).isoformat()
    body = client.post(
        "/v1/recall",
        json={
            "query": "tea",
            "limit": 5,
            "sessions": True,
            "recipe": "fast",
            "parameters": {"vector_weight": 0.3},
            "filter": {"tags": "drinks"},
            "as_of": now,
            "period": {"start": "2026-01-01T00:00:00Z", "end": now},
            "near": {"lat": 48.8, "lon": 2.3},
            "budget": 100,
        },
    ).json()
    assert body["recipe"].startswith("fast")
    assert body["sessions"] == [{"session": "s1", "score": body["sessions"][0]["score"], "hits": [tea]}]
    talk = {"query": "What does she drink?", "history": ["Anna came by."]}
    assert client.post("/v1/recall", json=talk).json()["meant"] == ["Anna"]
    before = client.post("/v1/recall", json={"query": "tea", "until": "2020-01-01T00:00:00Z"}).json()
    since = client.post("/v1/recall", json={"query": "tea", "since": "2020-01-01T00:00:00Z"}).json()
    assert (before["hits"], [hit["id"] for hit in since["hits"]]) == ([], [tea])
    early = client.post("/v1/recall", json={"query": "tea", "as_of": "2020-01-01T00:00:00Z"}).json()
    assert early["hits"] == []
    client.post(f"/v1/memories/{tea}/correct", json={"content": "Anna prefers black tea"})
    now_held = client.post("/v1/recall", json={"query": "Anna tea", "true_at": datetime.now(UTC).isoformat()})
    assert [hit["memory"]["content"] for hit in now_held.json()["hits"]] == ["Anna prefers black tea"]


def test_what_was_not_good_enough_is_told(client: TestClient, tea: str) -> None:
    body = client.post("/v1/recall", json={"query": "quantum chromodynamics of Lisbon headaches tea"}).json()
    nothing = client.post("/v1/recall", json={"query": "zebra", "parameters": {"least_match": 1.0}}).json()
    assert nothing["hits"] == []
    assert body["degraded"] == []
    strict = {"least_match": 1.0, "least_similarity": 1.0}
    refused = client.post(
        "/v1/recall", json={"query": "green zebras in the moonlight", "parameters": strict}
    ).json()
    assert refused["hits"] == []
    # The best of a bad lot has a high score; what it missed, it missed by much.
    assert refused["rejected"]["id"] == tea
    assert {each["measure"] for each in refused["rejected"]["missed"]} == {"similarity", "lexical"}
    assert all(each["value"] < each["least"] == 1.0 for each in refused["rejected"]["missed"])


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"query": 3},
        {"query": "x" * 10_001},
        {"query": "tea", "limit": -1},
        {"query": "tea", "limit": 1001},
        {"query": "tea", "limit": "5"},
        {"query": "tea", "limit": True},
        {"query": "tea", "limit": 1.5},
        {"query": "tea", "explain": "yes"},
        {"query": "tea", "unknown": 1},
        {"query": "tea", "recipe": "nobody's"},
        {"query": "tea", "parameters": {"nobody": 1}},
        {"query": "tea", "parameters": {"vector_weight": 2}},
        {"query": "tea", "parameters": {"vector_weight": "much"}},
        {"query": "tea", "filter": {"nobody": 1}},
        {"query": "tea", "filter": []},
        {"query": "tea", "as_of": 5},
        {"query": "tea", "as_of": "yesterday"},
        {"query": "tea", "as_of": "2026-05-07"},
        {"query": "tea", "period": {"start": "2026-05-07T00:00:00Z", "end": "2025-05-07T00:00:00Z"}},
        {"query": "tea", "near": {"lat": 91, "lon": 0}},
        {"query": "tea", "near": {"lat": 0}},
        {"query": "tea", "budget": -1},
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(client: TestClient, bad: dict[str, Any]) -> None:
    answer = client.post("/v1/recall", json=bad)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    "text",
    [
        "'; DROP TABLE memories; --",
        '" OR 1=1',
        "content:tea AND NOT *",
        'NEAR("a" "b")',
        "a* ^b {c}",
        '"',
        "-",
        "\0",
    ],
)
def test_operators_of_other_languages_are_words(
    client: TestClient, engine: Engine, tea: str, text: str
) -> None:
    assert client.post("/v1/recall", json={"query": text}).status_code == 200
    assert len(engine.list().memories) == 3


def test_how_it_was_searched_is_said_and_all_that_was_written_can_be_asked_for(
    client: TestClient, tea: str
) -> None:
    found = client.post("/v1/recall", json={"query": "tea", "fresh": True}).json()
    assert found["methods"]["lexical"] == "own posting lists, BM25"
    assert client.post("/v1/recall", json={"query": "tea", "fresh": "yes"}).status_code == 422


@pytest.mark.parametrize("name", ["question", "text"])
def test_the_query_is_still_understood_by_its_former_names(client: TestClient, tea: str, name: str) -> None:
    found = client.post("/v1/recall", json={name: "what tea does Anna like?"}).json()
    assert found["hits"][0]["memory"]["id"] == tea


@pytest.mark.parametrize("name", ["question", "text"])
def test_under_both_names_it_is_refused(client: TestClient, tea: str, name: str) -> None:
    answer = client.post("/v1/recall", json={name: "tea", "query": "tea"})
    assert (answer.status_code, answer.json()["detail"]) == (
        422,
        f"body: {name} must be left out where query is given ({name} is the name it had before), got 'tea'",
    )


def test_under_none_it_is_missed_by_the_name_it_has(client: TestClient) -> None:
    answer = client.post("/v1/recall", json={"limit": 3})
    assert (answer.status_code, answer.json()["detail"]) == (422, "body.query: Field required")


@pytest.mark.untraced
def test_the_description_names_it_query(client: TestClient) -> None:
    schemas = client.get("/v1/openapi.json").json()["components"]["schemas"]
    for schema in ("RecallRequest", "ExperimentRecallRequest"):
        assert "query" in schemas[schema]["required"]
        assert not {"question", "text"} & schemas[schema]["properties"].keys()


def test_a_briefing_is_that_of_the_engine(client: TestClient, engine: Engine) -> None:
    engine.remember("From now on, answer in German.")
    body = client.get("/v1/briefing", params={"budget": 100}).json()
    briefing = engine.briefing(budget=100)
    assert [(item["section"], item["memory"]["content"]) for item in body["items"]] == [
        ("instruction", "From now on, answer in German.")
    ]
    assert (body["text"], body["tokens"], body["omitted"]) == (briefing.text, briefing.tokens, 0)
    assert client.get("/v1/briefing", params={"budget": -1}).status_code == 422


def test_several_namespaces_at_once(client: TestClient, engine: Engine) -> None:
    engine.remember("The team deploys on Fridays.", namespace="acme")
    engine.remember("The api deploys to Frankfurt.", namespace="acme/api")
    body = client.post(
        "/v1/recall", json={"query": "where does the api deploy?", "namespaces": ["acme/*"]}
    ).json()
    assert {hit["memory"]["namespace"] for hit in body["hits"]} == {"acme", "acme/api"}
    one = {"query": "when does the team deploy?", "namespaces": ["acme/api"], "inherit": True}
    assert client.post("/v1/recall", json=one).json()["hits"][0]["memory"]["namespace"] == "acme"


def test_a_key_recalls_from_what_it_is_for_alone(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    engine.remember("The team deploys on Fridays.", namespace="acme")
    engine.remember("The api deploys on Mondays.", namespace="acme/api")
    _, token = engine.admin.keys.create("reader", ["acme/api"], ["read"])
    asked = open_client(required=True, token=token)
    below = {"query": "when do we deploy?", "namespaces": ["acme/*"]}
    body = asked.post("/v1/recall?namespace=acme/api", json=below).json()
    assert {hit["memory"]["namespace"] for hit in body["hits"]} == {"acme/api"}
    named = {"query": "when do we deploy?", "namespaces": ["acme"]}
    assert asked.post("/v1/recall?namespace=acme/api", json=named).status_code == 403


@pytest.mark.parametrize("address", ["/v1/recall", "/v1/recall?namespace=default"])
def test_a_good_request_is_not_taken_apart_by_the_framework(
    client: TestClient, tea: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the framework solves dependencies")

    monkeypatch.setattr("fastapi.routing.solve_dependencies", refuse)
    assert client.post(address, json={"query": "tea"}).json()["hits"][0]["id"] == tea


@pytest.mark.parametrize(
    ("address", "body", "status", "said"),
    [
        ("/v1/recall?namspace=acme", '{"query": "tea"}', 422, "namspace"),
        ("/v1/recall?namespace=a&namespace=b", '{"query": "tea"}', 422, "given 2 times"),
        ("/v1/recall?namespace=" + "a" * 513, '{"query": "tea"}', 422, "512"),
        ("/v1/recall?namespace=a//b", '{"query": "tea"}', 422, "namespace"),
        ("/v1/recall", '{"query": "tea"', 400, "not JSON"),
        ("/v1/recall", '{"query": "tea", "limitt": 2}', 422, "limit"),
        ("/v1/recall", '{"limit": 2}', 422, "body.query"),
        ("/v1/recall", "", 422, "body"),
        ("/v1/recall", '{"query": "tea\\ud800"}', 422, "query"),
        ("/v1/recall", "[" * 100_000, 400, "nested"),
    ],
)  # fmt: skip
def test_any_other_request_is_refused_as_the_framework_does(
    client: TestClient, address: str, body: str, status: int, said: str
) -> None:
    refused = client.post(address, content=body, headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json")
    assert said in refused.json()["detail"]
