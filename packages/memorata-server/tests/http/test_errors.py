"""Errors as problems, and names that nothing knows."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from memorata import Engine
from memorata.model import errors
from memorata.model.errors import MemorataError
from memorata.service.errors import Overloaded, TimedOut
from memorata_server.http.context import TooManyRequests
from memorata_server.http.errors import error_response, problem, status_of
from memorata_server.testing import TestClient


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.InvalidArgument("limit", -1, "at least 0"), 422),
        (errors.NotEnoughData("pairs", 1, 2), 422),
        (errors.MemoryNotFound("m1", "acme"), 404),
        (errors.EntityNotFound("Anna", "acme"), 404),
        (errors.VersionConflict("m1", 1, 2), 409),
        (errors.ReplyErased("x"), 410),
        (errors.NotAdmitted("x"), 401),
        (errors.AccessDenied("x"), 403),
        (errors.MissingExtra("x", "y"), 501),
        (errors.StoreReadOnly("/home/anna/memories.db", "the file may not be written"), 403),
        (errors.StoreUnavailable("/home/anna/memories.db is locked"), 503),
        (errors.PurgeUnfinished("/home/anna/memories.db", "locked"), 503),
        (errors.StoreCorrupt("/home/anna/memories.db is damaged"), 500),
        (errors.ModelCorrupt("/home/anna/model.onnx"), 500),
        (Overloaded(), 503),
        (TimedOut(), 504),
        (KeyError("/home/anna"), 500),
    ],
)
def test_every_error_has_a_status_and_what_only_the_operator_should_know_is_not_told(
    error: Exception, status: int
) -> None:
    answer = error_response(error, "r1")
    body = json.loads(bytes(answer.body))
    assert (answer.status_code, body["status"], body["instance"]) == (status, status, "r1")
    assert answer.media_type == "application/problem+json"
    assert body["type"].startswith("memorata:")
    assert body["title"]
    assert body["detail"]
    assert "/home" not in bytes(answer.body).decode()
    assert ("retry-after" in answer.headers) == (status == 503)


def test_every_error_there_is_has_one() -> None:
    def below(kind: type[Exception]) -> set[type[Exception]]:
        return {kind}.union(*(below(each) for each in kind.__subclasses__()))

    for kind in below(MemorataError):
        assert 400 <= status_of(kind.__new__(kind)) < 600


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"query": "caf\xe9"}', "the body is not UTF-8 at byte 15"),
        (b'{"query": ' + b"[" * 100_000, "the body is nested more deeply than can be read"),
        (b'{"limit": ' + b"1" * 10_000 + b"}", "the body cannot be read: Exceeds the limit"),
        (b"{", "body.1: not JSON"),
    ],
)
def test_a_body_that_cannot_be_read_is_told_why(client: TestClient, body: bytes, said: str) -> None:
    answer = client.post("/v1/recall", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["type"]) == (400, "memorata:malformed")
    assert answer.json()["detail"].startswith(said)


def test_what_cannot_be_written_in_ascii_is_escaped() -> None:
    assert bytes(problem(404, "‘Zoë’ \ud800").body).isascii()


def test_who_has_to_wait_is_told_how_long() -> None:
    assert TooManyRequests(0.2).headers == {"Retry-After": "1"}
    assert TooManyRequests(7.1).headers == {"Retry-After": "8"}


def test_a_misspelt_parameter_is_told_of_with_the_one_that_may_be_meant(client: TestClient, tea: str) -> None:
    answer = client.get("/v1/memories", params={"limitt": 1, "hiden": "true"})
    assert (answer.status_code, answer.json()["type"]) == (422, "memorata:invalid")
    assert answer.json()["errors"] == [
        {"at": "query.limitt", "problem": "there is no such parameter here (did you mean limit?)"},
        {"at": "query.hiden", "problem": "there is no such parameter here (did you mean hidden?)"},
    ]
    assert answer.json()["detail"].startswith("query.limitt: there is no such parameter")
    assert len(client.get("/v1/memories", params={"limit": 1}).json()["memories"]) == 1


def test_a_name_like_no_other_is_told_what_there_is(client: TestClient) -> None:
    answer = client.get("/v1/entities", params={"zzz": 1}).json()
    assert (
        answer["errors"][0]["problem"] == "there is no such parameter here; there is limit, namespace, prefix"
    )


@pytest.mark.untraced
def test_no_route_answers_as_if_it_knew_and_nothing_is_done(client: TestClient, engine: Engine) -> None:
    paths = client.get("/v1/openapi.json").json()["paths"]
    tried = 0
    for path, methods in paths.items():
        for method in methods:
            if path == "/v1/openapi.json":
                continue
            # By its route alone: whether there is a body, and what else is wrong, comes after.
            answer = client.request(
                method, path.replace("{id}", "m1").replace("{name}", "Anna"), params={"is_new": 1}
            )
            assert answer.status_code == 422, (method, path)
            assert answer.json()["errors"][0]["at"] == "query.is_new", (method, path)
            tried += 1
    assert tried > 60
    assert engine.store.changes(0, 10) == []


def test_a_namespace_may_be_named_on_every_request(client: TestClient) -> None:
    for path in ("health", "ready", "settings", "namespaces", "metrics", "jobs"):
        assert client.get(f"/v1/{path}", params={"namespace": "acme"}).status_code == 200, path


def test_jobs_are_those_about_the_namespace_that_is_named(client: TestClient) -> None:
    begun = client.post("/v1/jobs/maintain", params={"namespace": "acme"}, json={}).json()
    assert [job["id"] for job in client.get("/v1/jobs?namespace=acme").json()["jobs"]] == [begun["id"]]
    assert client.get("/v1/jobs?namespace=other").json() == {"jobs": []}


def test_a_value_too_many_is_not_left_out_in_silence(client: TestClient, tea: str) -> None:
    answer = client.get("/v1/memories?limit=1&limit=2")
    assert (answer.status_code, answer.json()["errors"]) == (
        422,
        [{"at": "query.limit", "problem": "given 2 times, and it has one value: leave the others out"}],
    )
    # A parameter that may be repeated may be.
    assert client.get("/v1/paths?start=Anna&type=mentions&type=next").status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "at", "guess"),
    [
        ("/v1/recall", {"query": "tea", "limitt": 3}, "body.limitt", "limit"),
        (
            "/v1/recall",
            {"query": "tea", "near": {"lat": 1, "lon": 2, "nme": "x"}},
            "body.near.nme",
            "name",
        ),
        ("/v1/memories", {"content": "x", "tag": ["y"]}, "body.tag", "tags"),
        ("/v1/memories/batch", {"items": [{"content": "x", "sorce": {}}]}, "body.items.0.sorce", "source"),
    ],
)
def test_a_field_of_the_body_is_treated_alike(
    client: TestClient, path: str, body: Any, at: str, guess: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    problem = f"there is no such field here (did you mean {guess}?)"
    assert answer.json()["errors"] == [{"at": at, "problem": problem}]


def test_a_stranger_is_asked_for_a_key_first(open_client: Callable[..., TestClient]) -> None:
    assert open_client(required=True).get("/v1/memories?limitt=5").status_code == 401


@pytest.mark.parametrize("query", ["&".join(f"n{n}=1" for n in range(5_000)), "x" * 50_000 + "=1"])
def test_an_address_full_of_names_is_answered_shortly(client: TestClient, query: str) -> None:
    answer = client.get(f"/v1/memories?{query}")
    assert answer.status_code == 422
    assert len(answer.content) < 5_000


def test_a_value_that_cannot_be_used_is_shown(client: TestClient) -> None:
    answer = client.post("/v1/memories", json={"content": "x", "tags": "tea"}).json()
    assert answer["detail"] == "body.tags: a list is expected, got 'tea'"


def test_a_namespace_in_the_body_is_told_where_it_belongs(client: TestClient) -> None:
    answer = client.post("/v1/recall", json={"query": "tea", "namespace": "acme"}).json()
    said = "the namespace is a parameter of the address: ?namespace=acme/alice"
    assert answer["detail"] == f"body.namespace: {said}"


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("/v1/recall", {"query": "tea", "near": [1, 2]}, "body.near: a JSON object with named fields"),
        ("/v1/recall", {"query": "tea", "filter": []}, "body.filter: a JSON object is expected, got []"),
        ("/v1/memories/forget", {"ids": "tea"}, "body.ids: a list is expected, got 'tea'"),
        ("/v1/jobs/tune", {"save_as": ""}, "save_as must be 1 to 64 letters"),
        ("/v1/jobs/tune", {"save_as": "fast"}, "save_as must be another name than that of a shipped recipe"),
        ("/v1/jobs/tune", {"recipe": "balancd"}, "recipe must be one of"),
    ],
)
def test_what_is_expected_is_said_in_the_words_of_json_and_at_once(
    client: TestClient, path: str, body: Any, detail: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(detail)


def test_a_list_of_choices_is_told_as_one(client: TestClient) -> None:
    answer = client.get("/v1/summaries?state=done").json()
    assert answer["detail"] == "query.state: Input should be 'open', 'accepted' or 'rejected', got 'done'"


def test_what_was_said_cannot_be_changed_and_it_is_told_what_can(client: TestClient, tea: str) -> None:
    answer = client.patch(f"/v1/memories/{tea}", json={"content": "x"})
    assert answer.status_code == 422
    assert "POST …/correct says something new" in answer.json()["detail"]


def test_every_refusal_has_the_name_that_the_log_calls_it_by(client: TestClient) -> None:
    lines = {"content": b"nonsense\n", "headers": {"Content-Type": "application/x-ndjson"}}
    refused = client.post("/v1/import", **lines)  # type: ignore[arg-type]
    client.app.state.server.jobs.closing = True  # type: ignore[attr-defined]
    for answer in (refused, client.get("/v1/ready")):
        assert answer.json()["instance"] == answer.headers["x-request-id"]
