"""What the server says about itself."""

from collections.abc import Callable

import pytest

from memorata import Engine, __version__
from memorata.engine.access import ApiKeys
from memorata.model.errors import StoreUnavailable
from memorata_server.testing import TestClient


def test_it_is_there_and_ready_for_everybody(open_client: Callable[..., TestClient]) -> None:
    client = open_client(required=True)
    assert client.get("/v1/health").json() == {"status": "ok", "version": __version__}
    assert client.get("/v1/ready").json() == {"status": "ready", "version": __version__}


def test_it_is_there_but_not_ready_without_its_database_or_when_about_to_stop(
    client: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(name: str) -> str:
        raise StoreUnavailable("locked")

    with monkeypatch.context() as patched:
        patched.setattr(engine.store, "setting", unavailable)
        assert client.get("/v1/ready").status_code == 503
    assert client.get("/v1/ready").status_code == 200
    client.app.state.server.jobs.closing = True  # type: ignore[attr-defined]
    assert client.get("/v1/ready").status_code == 503
    assert client.get("/v1/health").status_code == 200


def test_settings_are_those_of_the_engine(client: TestClient, engine: Engine) -> None:
    found = client.get("/v1/settings").json()
    assert engine.embedder is not None
    assert (found["embedder"], found["namespace"]) == (engine.embedder.name, "default")
    assert found["limits"]["batch"] == 1000


def test_namespaces_are_those_of_the_key(open_client: Callable[..., TestClient], engine: Engine) -> None:
    for path in ("acme/alice", "acme/bob", "beta"):
        engine.remember("tea", namespace=path)
    token = ApiKeys(engine.store).create("a", ["acme/*"], ["read"])[1]
    found = open_client(required=True, token=token).get("/v1/namespaces").json()
    assert [each["namespace"] for each in found["namespaces"]] == ["acme/alice", "acme/bob"]
