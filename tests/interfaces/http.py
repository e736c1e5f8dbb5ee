"""A memory behind the HTTP interface, inside the test's process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

import memorata
from memorata import Engine
from memorata_server.testing import TestClient, api_client


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as opened:
        yield opened


@pytest.fixture
def open_client(engine: Engine) -> Iterator[Callable[..., TestClient]]:
    """Open a client to the memory; the options are those of the application, `required` that of the keys."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(api_client(engine, **options))


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
