"""All of a namespace out and in again."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.engine.access import ApiKeys
from memorata.service.formats.record import Record
from memorata.service.transfer import Importer
from memorata_graph import Graph
from memorata_server.http import namespaces as transfer
from memorata_server.http.app import create_api
from memorata_server.http.context import json_lines
from memorata_server.http.middleware import Limits
from memorata_server.testing import TestClient

LINES = {"Content-Type": "application/x-ndjson"}


def filled(engine: Engine) -> None:
    engine.remember("Anna lives in Berlin", id="m1")
    engine.remember("Anna lives in Lisbon", id="m2", supersedes=["m1"])
    engine.remember("Bob likes tea", id="m3", metadata={"a": [1, "ü"]}, tags=["tea"])
    engine.forget("m3")
    Graph(engine).entities.describe("Anna", type="person", aliases=["Annie"])
    Graph(engine).entities.relate("Anna", "knows", "Bob", memory="m2", weight=2.0)
    Graph(engine).entities.merge("Bob", "Lisbon")


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_what_goes_out_comes_in_again_as_it_was(client: TestClient, engine: Engine) -> None:
    filled(engine)
    out = client.get("/v1/export")
    assert out.headers["content-type"] == "application/x-ndjson"
    assert len(rows(out.text)) == 3 + 3 + 1
    with memorata.open(":memory:", embedder="lexical") as other:
        api = create_api(other, ApiKeys(other.store, required=False))
        with TestClient(api, base_url="http://localhost") as second:
            taken = second.post("/v1/import", content=out.content, headers=LINES).json()
            assert taken["problems"] == []
            assert (taken["imported"], taken["entities"] + taken["relations"]) == (3, 4)
            assert taken["known"] == taken["known_entities"] == taken["known_relations"] == 0
            assert rows(second.get("/v1/export").text) == rows(out.text)
            again = second.post("/v1/import", content=out.content, headers=LINES).json()
            assert (again["imported"], again["entities"], again["relations"]) == (0, 0, 0)
            assert rows(second.get("/v1/export").text) == rows(out.text)
        assert other.admin.check() == []


def test_everything_goes_to_the_one_namespace_that_is_asked_for(client: TestClient, engine: Engine) -> None:
    filled(engine)
    out = client.get("/v1/export").content
    client.post("/v1/import", content=out, headers=LINES, params={"namespace": "acme"})
    assert dict(engine.store.namespaces()) == {"acme": 3, "default": 3}
    assert all(row["namespace"] == "acme" for row in rows(client.get("/v1/export?namespace=acme").text))


def test_a_line_of_ones_own_needs_no_more_than_its_content(client: TestClient, engine: Engine) -> None:
    body = b'\n{"content": "Anna likes tea"}\n\n  \n{"content": "Bob likes milk", "tags": ["x"]}'
    taken = client.post("/v1/import", content=body, headers=LINES).json()
    assert (taken["imported"], taken["failed"]) == (2, 0)
    assert engine.list().memories[1].entities == ("Anna",)


def test_bad_lines_are_told_of_and_the_others_taken_in(client: TestClient, engine: Engine) -> None:
    lines = [
        b'{"content": "good", "id": "a"}',
        b"{bad",
        b"\xff",
        b"[]",
        b'{"content": "x", "nobody": 1}',
        b'{"content": " "}',
        b'{"content": "twice", "id": "a"}',
        b'{"content": "x", "supersedes": ["nobody"]}',
        b'{"kind": "relation", "source": "a", "type": "b", "target": "c", "asserted_by": "nobody"}',
        b'{"kind": "relation", "source": "a", "type": "mentions", "target": "c"}',
        b'{"kind": "entity", "name": " "}',
        b'{"kind": "entity", "name": "Anna", "weight": 1}',
    ]
    taken = client.post("/v1/import", content=b"\n".join(lines), headers=LINES)
    assert taken.status_code == 200
    assert (taken.json()["imported"], taken.json()["failed"]) == (1, 11)
    assert sorted(each["line"] for each in taken.json()["problems"]) == list(range(2, 13))
    assert len(engine.list().memories) == 1
    nothing = client.post("/v1/import", content=b"\n".join(lines[1:6]), headers=LINES)
    assert (nothing.status_code, nothing.headers["content-type"]) == (422, "application/problem+json")
    assert nothing.json()["errors"][0]["at"] == "line 1"


def test_a_line_or_a_stream_that_is_too_long_is_refused(open_client: Callable[..., TestClient]) -> None:
    client = open_client(limits=Limits(body=1000, stream=5000))
    long = b'{"content": "' + b"x" * 2000
    assert client.post("/v1/import", content=long, headers=LINES).status_code == 413
    assert client.post("/v1/import", content=b"\n" * 6000, headers=LINES).status_code == 413
    fine = b'{"content": "x"}\n' * 100
    assert client.post("/v1/import", content=fine, headers=LINES).json()["imported"] == 100


@pytest.mark.untraced
def test_many_lines_are_taken_some_at_a_time(client: TestClient, engine: Engine) -> None:
    body = b"".join(b'{"content": "thought %d", "id": "t%d"}\n' % (n, n) for n in range(450))
    assert client.post("/v1/import", content=body, headers=LINES).json()["imported"] == 450
    assert len(rows(client.get("/v1/export").text)) == 450


def test_long_lines_are_not_gathered_beyond_what_one_request_may_hold(
    open_client: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    add = Importer.add

    def noted(self: Importer, records: Sequence[Record]) -> None:
        taken.append(sum(len(record.fields["content"]) for record in records))
        add(self, records)

    monkeypatch.setattr(Importer, "add", noted)
    client = open_client(limits=Limits(body=10_000))
    body = b"".join(b'{"id": "t%d", "content": "%s"}\n' % (n, b"tea " * 1000) for n in range(20))
    # In pieces, as a network brings them.
    pieces = (body[start : start + 3_000] for start in range(0, len(body), 3_000))
    assert client.post("/v1/import", content=pieces, headers=LINES).json()["imported"] == 20
    assert max(taken) < 2 * 10_000


def test_a_revoked_key_takes_nothing_more_in(open_client: Callable[..., TestClient], engine: Engine) -> None:
    key, token = ApiKeys(engine.store).create("a guest", ["acme"], ["write"])
    client = open_client(required=True, token=token)
    some = "".join(json.dumps({"content": f"Fact number {number}"}) + "\n" for number in range(200)).encode()

    def body() -> Iterator[bytes]:
        yield some
        client.app.state.server.keys.revoke(key.id)  # type: ignore[attr-defined]
        yield some.replace(b"Fact", b"Remark")

    answer = client.post("/v1/import?namespace=acme", content=body(), headers=LINES)
    assert (answer.status_code, answer.json()["type"]) == (401, "memorata:not-admitted")
    said = [memory.content for memory in engine.store.export("acme")]
    assert not [content for content in said if content.startswith("Remark")]


def test_a_revoked_key_is_sent_nothing_more(
    open_client: Callable[..., TestClient], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It breaks off, so that nobody takes the part for the whole."""
    engine.remember_many([f"Fact number {number}" for number in range(500)], namespace="acme")
    key, token = ApiKeys(engine.store).create("a guest", ["acme"], ["read"])
    client = open_client(required=True, token=token)
    keys = client.app.state.server.keys  # type: ignore[attr-defined]
    sent: list[bytes] = []

    def lines(rows: Sequence[Any]) -> Iterator[bytes]:
        keys.revoke(key.id)
        sent.append(b"")
        return json_lines(rows)

    monkeypatch.setattr(transfer, "json_lines", lines)
    with client.stream("GET", "/v1/export?namespace=acme") as answer:
        text = answer.read().decode()
    assert len(rows(text)) == 200
    assert len(sent) == 1


def test_an_import_is_listed_and_undone(client: TestClient, engine: Engine) -> None:
    body = '{"content": "one", "id": "a"}\n{"content": "two", "id": "b"}\n'
    headers = {"Content-Type": "application/x-ndjson"}
    done = client.post("/v1/import", content=body, headers=headers).json()["import_id"]
    (listed,) = client.get("/v1/imports").json()["imports"]
    assert (listed["id"], listed["memories"]) == (done, 2)
    answer = client.post("/v1/imports/undo", json={"id": done}).json()
    assert answer == {"memories": {"default": ["a", "b"]}, "relations": 0}
    assert client.get("/v1/memories").json()["memories"] == []
    assert client.post("/v1/imports/undo", json={"id": done}).status_code == 422
