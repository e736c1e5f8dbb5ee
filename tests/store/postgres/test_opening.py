"""What a look begins with: the row of a namespace, its vectors counted, and what may not be seen of it."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from memorata.store.conformance import DIMENSION, EMBEDDER, HERE, NOW, entry
from memorata.store.postgres import namespaces, opening
from memorata.store.postgres.opening import Opened, opened
from memorata.store.postgres.store import PostgresStore

HOUR = timedelta(hours=1)
ROW = np.eye(DIMENSION, dtype=np.float32)[:1]


@pytest.fixture
def full(store: PostgresStore) -> PostgresStore:
    """Slots 0 plain with a vector, 1 forgotten, 2 expired, 3 expires later, 4 forgotten and expired."""
    store.use_embedder(EMBEDDER, DIMENSION)
    past: dict[str, Any] = {"created_at": NOW - 9 * HOUR, "expires_at": NOW - HOUR}
    store.add(
        [
            entry("plain", "tea", ROW),
            entry("forgotten", "green tea"),
            entry("expired", "cold tea cold", **past),
            entry("expires", "tea", expires_at=NOW + HOUR),
            entry("both", "tea", **past),
        ]
    )
    store.forget(HERE, ["forgotten", "both"], NOW)
    return store


def look(store: PostgresStore, path: str = HERE) -> Opened:
    with store._database.reading() as connection:
        return opened(connection, path, NOW, store._embedder)


def test_it_is_the_row_of_the_namespace(full: PostgresStore) -> None:
    with full._database.reading() as connection:
        assert look(full).namespace == namespaces.find(connection, HERE)


def test_vectors_of_the_embedder_are_counted(full: PostgresStore) -> None:
    found = look(full)
    assert (found.embedded, found.passages, found.indexed) == (1, 1, False)
    full.use_embedder("another", DIMENSION)
    assert look(full).embedded == 0


def test_expired_are_those_that_are_not_hidden_otherwise(full: PostgresStore) -> None:
    (lengths,) = look(full).expired["lengths"].tolist()
    assert sum(lengths) == 3


def test_what_may_not_be_seen_is_known_of_a_small_namespace(
    full: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    unseen = look(full).unseen
    assert unseen is not None
    assert sorted(unseen.tolist()) == [1, 2, 4]
    monkeypatch.setattr(opening, "SMALL", 4)
    assert look(full).unseen is None


def test_where_nothing_was_written_there_is_nothing(full: PostgresStore) -> None:
    assert look(full, "nobody's") is opening.NOTHING
