"""A small memory and a browser's place in front of its pages."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memorata
from memorata.engine import Engine
from memorata.model.entity import Place
from memorata.model.memory import Source
from memorata_server.testing import TestClient, form_token, page_client

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)

SAID: tuple[dict[str, Any], ...] = (
    {
        "id": "tea",
        "content": "Anna prefers green tea in the morning.",
        "category": "preference",
        "tags": ("drink",),
        "entities": ("Anna",),
        "source": Source("Anna", "kitchen", 0, role="user"),
    },
    {
        "id": "coffee",
        "content": "Boris drinks black coffee and never tea.",
        "category": "preference",
        "entities": ("Boris",),
        "source": Source("Boris", "kitchen", 1, role="user"),
    },
    {
        "id": "lisbon",
        "content": "Anna and Boris travelled to Lisbon.",
        "category": "event",
        "tags": ("travel",),
        "entities": ("Anna", "Boris", "Lisbon"),
        "place": Place(38.72, -9.14, "Lisbon"),
        "valid_from": datetime(2026, 3, 2, tzinfo=UTC),
        "source": Source("Anna", "kitchen", 2),
    },
    {
        "id": "script",
        "content": "<script>document.title='owned'</script><b>bold</b> & \"quoted\"",
        "category": "<i>markup</i>",
        "tags": ("<u>tag</u>",),
        "entities": ("<em>Name</em>",),
        "source": Source("<s>Mallory</s>", "attack", 0, "javascript:alert(1)"),
        "metadata": {"<key>": "<value>"},
    },
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        day = NOW - timedelta(days=10)
        memory.remember_many([{**each, "created_at": day} for each in SAID])
        yield memory


@pytest.fixture
def empty() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        yield memory


@pytest.fixture
def client(engine: Engine) -> Iterator[TestClient]:
    with page_client(engine, clock=lambda: NOW) as opened:
        yield opened


@pytest.fixture
def token(client: TestClient) -> str:
    """What the forms of the client's pages carry."""
    return form_token(client)
