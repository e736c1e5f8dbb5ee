"""An index is made while others work, says how far it is, and can be stopped at any moment."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import psycopg
import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.model.errors import WorkUnderWay
from memorata.store.conformance import DIMENSION, EMBEDDER, entry
from memorata.store.postgres import indexing, opening, vectors
from memorata.store.postgres.store import PostgresStore


@pytest.fixture
def large(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A store in which 400 vectors are many."""
    for module in (vectors, indexing):
        monkeypatch.setattr(module, "EXACT", 200)
    monkeypatch.setattr(indexing, "_LOOK_EVERY", 0.001)
    with closing(PostgresStore(url)) as store:
        store.use_embedder(EMBEDDER, DIMENSION)
        rows = np.random.default_rng(1).normal(size=(400, DIMENSION))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        store.add([entry(f"m{number}", "tea", row[np.newaxis]) for number, row in enumerate(rows)])
        yield store


def indexes(url: str) -> list[tuple[str, bool]]:
    """Return the approximate indexes, and whether each is valid."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE c.relname LIKE 'vectors_hnsw%' AND c.relnamespace = current_schema()::regnamespace"
        ).fetchall()


def test_it_says_how_far_it_is(large: PostgresStore, url: str) -> None:
    told: list[str] = []
    assert large.renew_codes(lambda what, done, total: told.append(what))
    assert told
    assert all(isinstance(each, str) for each in told)
    assert [valid for _, valid in indexes(url)] == [True]


def test_one_that_is_stopped_leaves_nothing_and_is_made_the_next_time(large: PostgresStore, url: str) -> None:
    def stop(what: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        large.renew_codes(stop)
    assert indexes(url) == []
    assert large.statistics()["vector_indexes"] == 0
    assert large.renew_codes()
    assert [valid for _, valid in indexes(url)] == [True]


def test_what_a_killed_process_left_is_removed_and_made_anew(large: PostgresStore, url: str) -> None:
    large.renew_codes()
    ((name, _),) = indexes(url)
    with psycopg.connect(url, autocommit=True) as connection:
        # As a build that was cut off leaves it.
        connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (name,))
    assert indexes(url) == [(name, False)]
    assert large.renew_codes()
    assert indexes(url) == [(name, True)]
    assert not large.renew_codes()


def test_one_that_somebody_dropped_is_made_anew(large: PostgresStore, url: str) -> None:
    large.renew_codes()
    ((name, _),) = indexes(url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP INDEX {name}")
    assert large.renew_codes()
    assert indexes(url) == [(name, True)]


def test_upkeep_makes_what_is_missing_unless_another_does(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (vectors, indexing):
        monkeypatch.setattr(module, "EXACT", 50)
    monkeypatch.setattr(opening, "SMALL", 10)
    with memorata.open(url, embedder=LexicalEmbedder(dimension=16)) as memory:
        memory.remember_many([f"thought number {number} about tea" for number in range(60)], duplicates="off")
        busy = memory.store.leases.acquire("index", "*", "another server", 60, memory.now())
        assert busy is not None
        memory.lifecycle.maintain()
        assert indexes(url) == []
        with pytest.raises(WorkUnderWay, match="another server"):
            memory.admin.index()
        memory.store.leases.release(busy)
        steps: list[tuple[str, int]] = []
        memory.lifecycle.maintain(progress=lambda step, count: steps.append((step, count)))
        assert steps[-1] == ("index", 1)
        assert [valid for _, valid in indexes(url)] == [True]
        assert memory.admin.index().made == 0
        answer = memory.recall("thought number 7")
        assert answer.methods["vectors"] == "HNSW index of pgvector, iterative scan"
        assert answer.as_dict()["methods"] == dict(answer.methods)
