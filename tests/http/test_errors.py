import json

import pytest
from starlette.testclient import TestClient

from memorata.http.errors import error_response, problem, retry_after, status_of
from memorata.model import errors
from memorata.model.errors import MemorataError
from memorata.service.errors import Overloaded, TimedOut


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
    assert retry_after(0.2) == "1"
    assert retry_after(7.1) == "8"
