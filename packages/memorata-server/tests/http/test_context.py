"""One request: who asks, about whose memories, and once however often."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from memorata import Engine
from memorata.engine.access import ApiKeys
from memorata_server.http import context
from memorata_server.http.context import json_bytes, json_lines
from memorata_server.testing import TestClient


def test_many_at_once_under_one_name_are_one(client: TestClient, engine: Engine) -> None:
    def write(turn: int) -> tuple[int, str]:
        said = client.post("/v1/memories", json={"content": "tea"}, headers={"Idempotency-Key": "one"})
        return said.status_code, said.json()["id"]

    with ThreadPoolExecutor(8) as crowd:
        answers = list(crowd.map(write, range(16)))
    assert len(set(answers)) == 1
    assert answers[0][0] == 201
    assert [memory.mentions for memory in engine.list().memories] == [1]


def test_two_keys_may_use_one_name(open_client: Callable[..., TestClient], engine: Engine) -> None:
    keys = ApiKeys(engine.store)
    for owner in ("a", "b"):
        client = open_client(required=True, token=keys.create(owner, [owner], ["write"])[1])
        said = client.post(
            "/v1/memories",
            params={"namespace": owner},
            json={"content": f"of {owner}"},
            headers={"Idempotency-Key": "one"},
        )
        assert (said.status_code, said.json()["content"]) == (201, f"of {owner}")


def test_the_namespace_is_the_servers_own_unless_named(client: TestClient, engine: Engine) -> None:
    client.post("/v1/memories", json={"content": "here"})
    client.post("/v1/memories", json={"content": "there"}, params={"namespace": "acme/alice"})
    assert dict(engine.store.namespaces()) == {"acme/alice": 1, "default": 1}


def test_a_revoked_key_is_refused(open_client: Callable[..., TestClient], engine: Engine) -> None:
    key, token = ApiKeys(engine.store).create("a", ["*"], ["read"])
    client = open_client(required=True, token=token)
    assert client.get("/v1/memories").status_code == 200
    client.app.state.server.keys.revoke(key.id)  # type: ignore[attr-defined]
    assert client.get("/v1/memories").status_code == 401


@pytest.mark.parametrize("encoder", [context.fast_json, None])
def test_json_is_compact_and_holds_no_number_that_is_none(
    encoder: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "fast_json", encoder)
    assert json_bytes({"a": ["ü", 1.5, None]}) == '{"a":["ü",1.5,null]}'.encode()
    assert list(json_lines([{"a": 1}, {}])) == [b'{"a":1}\n', b"{}\n"]
    assert json.loads(json_bytes([2**70])) == [2**70]
    if encoder is None:
        with pytest.raises(ValueError, match="not JSON compliant"):
            json_bytes(float("nan"))
    else:
        assert json_bytes(float("nan")) == b"null"
