"""A memory behind the HTTP interface, inside the test's process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.engine.access import ApiKeys
from memorata_server.http.app import create_api
from memorata_server.testing import TestClient


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as opened:
        yield opened


@pytest.fixture
def open_client(engine: Engine) -> Iterator[Callable[..., TestClient]]:
    """Open a client to the memory; the options are those of the application, `required` that of the keys."""
    with ExitStack() as stack:

        def opened(*, required: bool = False, token: str | None = None, **options: Any) -> TestClient:
            api = create_api(engine, ApiKeys(engine.store, required=required), **options)
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            client = TestClient(
                api, base_url="http://localhost", headers=headers, raise_server_exceptions=False
            )
            return stack.enter_context(client)

        yield opened


@pytest.fixture
def client(open_client: Callable[..., TestClient]) -> TestClient:
    """A client without a key, as on loopback."""
    return open_client()


@pytest.fixture
def tea(client: TestClient) -> str:
    """Three memories; the id of the one about Anna's tea."""
    said = client.post(
        "/v1/memories",
        json={
            "content": "Anna prefers green tea",
            "category": "preference",
            "tags": ["drinks"],
            "source": {"speaker": "Anna", "role": "user", "session": "s1", "position": 0},
            "place": {"lat": 48.857, "lon": 2.352, "name": "Paris"},
        },
    )
    assert said.status_code == 201
    for content in ("Bob moved to Lisbon in May 2026", "Coffee gives Bob headaches"):
        assert client.post("/v1/memories", json={"content": content}).status_code == 201
    return str(said.json()["id"])
