"""Namespaces over HTTP: links, moves and splits, and keys that must be for every one that is touched."""

from collections.abc import Callable

import pytest

from memorata import Engine
from memorata.engine.access import ApiKeys
from memorata_server.testing import TestClient


@pytest.fixture
def filled(engine: Engine) -> Engine:
    engine.remember("The team deploys on Fridays.", namespace="acme", id="deploy")
    engine.remember("The api is written in Go.", namespace="acme/api", id="go")
    engine.remember("Indent with four spaces.", namespace="style", id="indent")
    return engine


def token(engine: Engine, *namespaces: str, scope: str = "admin") -> str:
    return ApiKeys(engine.store, required=True).create("k", list(namespaces), [scope])[1]


def test_a_link_is_made_seen_and_taken_back(client: TestClient, filled: Engine) -> None:
    at = {"namespace": "acme/api"}
    made = client.post("/v1/namespaces/links", params=at, json={"to": "style", "filter": {"id": "indent"}})
    assert made.json().keys() == {"namespace", "filter", "linked_at"}
    (link,) = client.get("/v1/namespaces/links", params=at).json()["links"]
    assert (link["namespace"], link["filter"]) == ("style", {"id": "indent"})
    asked = {"query": "how to indent?", "namespaces": ["acme/api"], "inherit": True}
    hits = client.post("/v1/recall", json=asked).json()["hits"]
    assert [hit["memory"]["namespace"] for hit in hits] == ["style"]
    assert client.delete("/v1/namespaces/links", params={**at, "to": "style"}).json() == {"done": 1}
    assert client.delete("/v1/namespaces/links", params={**at, "to": "style"}).status_code == 422
    assert client.post("/v1/recall", json=asked).json()["hits"] == []


def test_a_key_must_be_for_every_namespace_that_is_touched(
    open_client: Callable[..., TestClient], filled: Engine
) -> None:
    filled.namespaces.link("style", namespace="acme/api")
    client = open_client(required=True, token=token(filled, "acme/api"))
    asked = {
        "query": "deploy, indent, written",
        "namespaces": ["acme/api"],
        "inherit": True,
        "min_confidence": 0.0,
    }
    answer = client.post("/v1/recall?namespace=acme/api", json=asked).json()
    assert {hit["memory"]["namespace"] for hit in answer["hits"]} == {"acme/api"}
    assert "2 of 3 namespaces are left out, for they may not be read" in answer["degraded"]
    at = {"namespace": "acme/api"}
    refused = (
        client.post("/v1/recall", params=at, json={**asked, "namespaces": ["acme/api", "acme"]}),
        client.post("/v1/namespaces/links", params=at, json={"to": "acme"}),
        client.post("/v1/namespaces/move", params=at, json={"to": "other"}),
        client.post("/v1/namespaces/split", params=at, json={"to": "other", "filter": {"id": "go"}}),
    )
    assert [each.status_code for each in refused] == [403] * 4
    above = open_client(required=True, token=token(filled, "acme", "beta"))
    assert above.post("/v1/namespaces/move?namespace=acme", json={"to": "beta"}).status_code == 403
    assert set(filled.store.namespaces()) == {"acme", "acme/api", "style"}


def test_namespaces_move_and_split(client: TestClient, filled: Engine) -> None:
    moved = client.post("/v1/namespaces/move?namespace=acme", json={"to": "beta"}).json()
    assert moved == {"moved": {"acme": "beta", "acme/api": "beta/api"}}
    at, body = {"namespace": "style"}, {"filter": {"id": "indent"}, "to": "beta"}
    shown = client.post("/v1/namespaces/split", params=at, json={**body, "dry_run": True}).json()
    assert shown == {"would_move": ["indent"]}
    assert client.post("/v1/namespaces/split", params=at, json=body).json() == {"moved": ["indent"]}
    assert filled.get("indent", namespace="beta").content == "Indent with four spaces."
