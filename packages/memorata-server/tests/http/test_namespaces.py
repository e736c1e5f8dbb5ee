"""Namespaces over HTTP: a key must be for every namespace that a request touches."""

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


def test_a_key_must_be_for_every_namespace_that_is_touched(
    open_client: Callable[..., TestClient], filled: Engine
) -> None:
    filled.admin.namespaces.link("style", namespace="acme/api")
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
    named = {**asked, "namespaces": ["acme/api", "acme"]}
    assert client.post("/v1/recall?namespace=acme/api", json=named).status_code == 403
