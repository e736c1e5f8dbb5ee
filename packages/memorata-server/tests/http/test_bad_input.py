"""What no client should send: a 4xx that says what is wrong, as a problem, and nothing written."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from memorata import Engine
from memorata_server.http.middleware import Limits
from memorata_server.testing import TestClient

JSON = {"Content-Type": "application/json"}


def refused(answer: Any, *statuses: int) -> None:
    assert answer.status_code in statuses, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"]
    assert len(answer.content) < 5_000


@pytest.fixture
def written(engine: Engine) -> Callable[[], int]:
    return lambda: len(engine.store.changes(0, 10))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"nothing",
        b'{"content": "x"',
        b'{"content": "x"} x',
        b"\xff\xfe",
        b'{"content": "\xff"}',
        b'{"content": "\\ud800"}',
        b'{"content": "x", "confidence": NaN}',
        b'{"content": "x", "confidence": 1e999}',
        b'{"content": "x", "metadata": {"a": Infinity}}',
        b'{"content": "x", "mentions": 5}',
        b'{"content": "x", "namespace": "other"}',
        b'{"content": "x", "metadata": {"n": ' + b"9" * 5000 + b"}}",
        b'{"content": "x", "metadata": ' + b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"}",
        b"[" * 100_000,
        b'{"content": ""}',
        b'{"content": " \\n "}',
        b'{"content": null}',
        b'{"content": 3}',
        b'{"content": ["x"]}',
        b'{"content": "x", "tags": "tea"}',
        b'{"content": "x", "tags": [1]}',
        b'{"content": "x", "confidence": "1"}',
        b'{"content": "x", "confidence": true}',
        b'{"content": "x", "importance": -0.1}',
        b'{"content": "x", "pinned": 1}',
        b'{"content": "x", "tier": "eternal"}',
        b'{"content": "x", "id": "a b"}',
        b'{"content": "x", "id": ""}',
        b'{"content": "x", "created_at": 5}',
        b'{"content": "x", "created_at": "2026-05-07"}',
        b'{"content": "x", "created_at": "2026-05-07T00:00:00"}',
        b'{"content": "x", "created_at": "0001-01-01T00:00:00+23:59"}',
        b'{"content": "x", "created_at": "9999-12-31T23:59:59-23:59"}',
        b'{"content": "x", "valid_from": "2026-05-07T00:00:00Z", "valid_to": "2025-05-07T00:00:00Z"}',
        b'{"content": "x", "place": {"lat": 91, "lon": 0}}',
        b'{"content": "x", "source": {"position": -1}}',
        b'{"content": "x", "source": {"position": 99999999999999999999}}',
        b'{"content": "x", "source": {"who": "me"}}',
        b"[]",
        b'"x"',
        b"null",
    ],
)
def test_a_memory_that_is_none(client: TestClient, written: Callable[[], int], body: bytes) -> None:
    refused(client.post("/v1/memories", content=body, headers=JSON), 400, 422)
    assert written() == 0


def test_a_missing_predecessor_is_not_found(client: TestClient, written: Callable[[], int]) -> None:
    refused(client.post("/v1/memories", json={"content": "x", "supersedes": ["nobody"]}), 404)
    assert written() == 0


def test_ten_megabytes_of_text(client: TestClient, written: Callable[[], int]) -> None:
    body = json.dumps({"content": "tea " * 2_500_000}).encode()
    refused(client.post("/v1/memories", content=body, headers=JSON), 413)

    def chunks() -> Any:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    # Without a length beforehand, it is noticed on the way.
    refused(client.post("/v1/memories", content=chunks(), headers=JSON), 413)
    assert written() == 0


def test_a_text_that_is_too_long_for_one_memory(client: TestClient, written: Callable[[], int]) -> None:
    refused(client.post("/v1/memories", json={"content": "x" * 100_001}), 422)
    many = {"items": [{"content": "x"}] * 1001}
    refused(client.post("/v1/memories/batch", json=many), 422)
    refused(client.post("/v1/memories/forget", json={"ids": ["x"] * 1001}), 422)
    assert written() == 0


@pytest.mark.parametrize(
    "namespace",
    ["..", "a/../b", "../../etc/passwd", "a//b", "/a", "a/", ".a", "a b", "a'--", "*", "x" * 513, "a\0"],
)
def test_a_namespace_that_is_none(client: TestClient, written: Callable[[], int], namespace: str) -> None:
    whose = {"namespace": namespace}
    refused(client.post("/v1/memories", params=whose, json={"content": "x"}), 422)
    refused(client.get("/v1/memories", params=whose), 422)
    refused(client.post("/v1/recall", params=whose, json={"query": "x"}), 422)
    assert written() == 0


@pytest.mark.parametrize("limit", ["-1", "0", "1001", "1.5", "many", "9" * 5000, ""])
def test_a_limit_that_is_none(client: TestClient, limit: str) -> None:
    for path in ("/v1/memories", "/v1/entities", "/v1/relations", "/v1/communities", "/v1/timeline"):
        refused(client.get(path, params={"limit": limit}), 422)


@pytest.mark.parametrize("cursor", ["-1", "x", "1e3", "٣", "9" * 30, "1; DROP TABLE memories"])
def test_a_cursor_that_is_none(client: TestClient, cursor: str) -> None:
    refused(client.get("/v1/memories", params={"cursor": cursor}), 422)


@pytest.mark.parametrize("id", ["a%20b", "%00", "x" * 129, "%FF", "%ED%A0%80"])
def test_an_id_that_is_none(client: TestClient, id: str) -> None:
    refused(client.get(f"/v1/memories/{id}"), 404, 422)
    refused(client.patch(f"/v1/memories/{id}", json={"importance": 0.5}), 404, 422)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_a_body_of_another_kind_is_not_read(
    client: TestClient, written: Callable[[], int], kind: str
) -> None:
    """A form on another site can send these without asking; it must not reach a server on this machine."""
    answer = client.post("/v1/memories", content=b'{"content": "x"}', headers={"Content-Type": kind})
    refused(answer, 415)
    assert written() == 0


def test_a_length_that_is_no_number(client: TestClient) -> None:
    refused(client.get("/v1/health", headers={"Content-Length": "many"}), 400)


def test_who_asks_too_often_has_to_wait(open_client: Callable[..., TestClient]) -> None:
    client = open_client(limits=Limits(rate=0.01, burst=3))
    answers = [client.get("/v1/memories") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    refused(answers[-1], 429)
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 100
    assert client.get("/v1/health").status_code == 200


def test_who_shows_many_keys_that_are_none_has_to_wait(open_client: Callable[..., TestClient]) -> None:
    client = open_client(required=True, token="mem_" + "0" * 16 + "_" + "A" * 43)
    statuses = [client.get("/v1/memories").status_code for _ in range(25)]
    assert statuses[:20] == [401] * 20
    assert statuses[-1] == 429
