"""The approximate index: made when a namespace has grown, found by, filtered, and removed."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import psycopg
import pytest

from memorata.store.conformance import DIMENSION, EMBEDDER, HERE, NOW, THERE, entry, found_ids, query
from memorata.store.filters import parse
from memorata.store.postgres import indexing, methods, opening, sight, vectors
from memorata.store.postgres.sight import Restriction
from memorata.store.postgres.store import PostgresStore


@pytest.fixture
def grown(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresStore]:
    """A store in which 300 vectors are many; with tables of its own, for it makes indexes."""
    store = PostgresStore(url)
    for module in (vectors, indexing):
        monkeypatch.setattr(module, "EXACT", 200)
    monkeypatch.setattr(opening, "SMALL", 0)
    store.use_embedder(EMBEDDER, DIMENSION)
    random = np.random.default_rng(1)
    entries = []
    for number in range(300):
        rows = random.normal(size=(1 + number % 3 // 2, DIMENSION))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        entries.append(entry(f"m{number}", "tea", rows, metadata={"rare": number % 50 == 0}))
    store.add([*entries, entry("other", "tea", entries[0].vectors, namespace=THERE)])
    yield store
    store.close()


def indexes(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexdef LIKE '%hnsw%'"
        )
        return [name for (name,) in rows]


def asked(store: PostgresStore, aim: Any, limit: int, **options: Any) -> list[str]:
    with store.view(HERE, NOW, **options) as view:
        return found_ids(view, view.nearest(aim, limit))


def test_a_large_namespace_gets_an_index_and_a_small_one_none(grown: PostgresStore, url: str) -> None:
    assert indexes(url) == []
    assert grown.renew_codes()
    assert not grown.renew_codes()
    assert len(indexes(url)) == 1
    assert grown.statistics()["vector_indexes"] == 1


def test_the_index_is_used_and_finds_what_a_full_look_finds(grown: PostgresStore) -> None:
    random = np.random.default_rng(2)
    aims = [row / np.linalg.norm(row) for row in random.normal(size=(10, DIMENSION)).astype(np.float32)]
    rare = parse({"metadata.rare": True})
    exact = [(asked(grown, aim, 10), asked(grown, aim, 4, filter=rare)) for aim in aims]
    grown.renew_codes()
    roughly = [(asked(grown, aim, 10), asked(grown, aim, 4, filter=rare)) for aim in aims]
    # Every filtered answer is whole: the scan goes on until enough have passed.
    assert all(len(filtered) == 4 for _, filtered in roughly)
    common = sum(len(set(one[0]) & set(other[0])) for one, other in zip(exact, roughly, strict=True))
    assert common >= 98


def test_the_search_is_one_that_the_index_answers(grown: PostgresStore) -> None:
    grown.renew_codes()
    aim = np.ones(DIMENSION, np.float32)
    with grown._database.reading() as connection:
        (number,) = connection.execute(
            "SELECT number FROM namespaces WHERE path = %s", (HERE,)
        ).fetchone() or (0,)
        (embedder,) = connection.execute("SELECT number FROM embedders").fetchone() or (0,)
        # So few rows are sorted faster than found: whether the index can be used at all is the question.
        connection.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        query = vectors.approximate_query(number, (embedder, DIMENSION), Restriction())
        plan = connection.execute(f"EXPLAIN {query}", (aim, aim, 10)).fetchall()
    assert vectors.index_name(number, embedder) in str(plan)


def test_hidden_memories_and_new_ones_are_seen_through_the_index(grown: PostgresStore) -> None:
    grown.renew_codes()
    aim = np.zeros(DIMENSION, np.float32)
    aim[0] = 1
    grown.add([entry("here", "tea", aim[np.newaxis])])
    assert asked(grown, aim, 3)[0] == "here"
    grown.forget(HERE, ["here"], NOW)
    assert "here" not in asked(grown, aim, 10)
    grown.purge(HERE, ["here"])
    assert "here" not in asked(grown, aim, 10)


def test_an_index_goes_with_its_namespace_and_with_its_embedder(grown: PostgresStore, url: str) -> None:
    grown.renew_codes()
    grown.use_embedder("another", DIMENSION)
    while grown.drop_vectors(100):
        pass
    assert indexes(url) == []
    grown.use_embedder(EMBEDDER, DIMENSION)
    grown.purge_namespace(HERE)
    assert grown.statistics()["vectors"] == {}


def test_a_purged_namespace_takes_its_index_along(grown: PostgresStore, url: str) -> None:
    grown.renew_codes()
    grown.purge_namespace(HERE)
    assert indexes(url) == []


def test_a_filter_that_one_in_a_hundred_passes_does_not_starve(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (vectors, indexing):
        monkeypatch.setattr(module, "EXACT", 200)
    monkeypatch.setattr(opening, "SMALL", 0)
    with closing(PostgresStore(url)) as store:
        store.use_embedder(EMBEDDER, DIMENSION)
        random = np.random.default_rng(5)
        rows = random.normal(size=(1_000, DIMENSION))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        store.add(
            [
                entry(f"m{number}", "tea", row[np.newaxis], metadata={"rare": number % 100 == 0})
                for number, row in enumerate(rows)
            ]
        )
        rare, aim = parse({"metadata.rare": True}), -rows[0]
        exact = asked(store, aim, 10, filter=rare)
        assert store.renew_codes()
        with store.view(HERE, NOW, filter=rare) as view:
            # The few that pass are sooner looked at.
            assert found_ids(view, view.nearest(aim, 10)) == exact
            assert view.methods == {"vector": methods.EXACT}
        monkeypatch.setattr(sight, "_FEW", 1)
        with store.view(HERE, NOW, filter=rare) as view:
            # Those that pass are far from where the scan begins.
            assert found_ids(view, view.nearest(aim, 10)) == exact
            assert view.methods == {"vector": methods.HNSW}
        # A scan that is not allowed to go far enough is no answer: then everything is looked at.
        monkeypatch.setattr(vectors, "_MOST", 300)
        monkeypatch.setattr(vectors, "_EF", 10)
        with store.view(HERE, NOW, filter=rare) as view:
            assert found_ids(view, view.nearest(aim, 10)) == exact


def test_a_view_and_the_store_say_how_they_search(grown: PostgresStore) -> None:
    aim = np.ones(DIMENSION, np.float32) / np.float32(np.sqrt(DIMENSION))
    with grown.view(HERE, NOW) as view:
        assert view.methods == {}
        view.nearest(aim, 3)
        view.lexical(query("tea"), 3)
        assert view.methods == {"vector": methods.EXACT, "lexical": methods.POSTINGS}
    assert grown.methods()["vectors"] == methods.EXACT
    grown.renew_codes()
    with grown.view(HERE, NOW) as view:
        view.nearest(aim, 3)
        assert view.methods == {"vector": methods.HNSW}
    found = grown.statistics()
    assert found["methods"]["vectors"] == f"{methods.HNSW}, in 1 of 2 namespaces; {methods.EXACT} in others"
    assert found["server"].startswith("PostgreSQL ")
    assert "pgvector 0." in found["server"]
