"""Posting lists: read whole in a small namespace and asked about in a large one, with the same answers."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from memorata.index.lexical import LexicalQuery
from memorata.store.conformance import HERE, NOW, entry, query
from memorata.store.postgres import opening
from memorata.store.postgres.lists import Lists, Postings
from memorata.store.postgres.opening import opened
from memorata.store.postgres.sight import look
from memorata.store.postgres.store import PostgresStore


@pytest.fixture(params=[opening.SMALL, 0], ids=["small", "large"])
def full(
    request: pytest.FixtureRequest, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> PostgresStore:
    """Tea stands in slots 0, 1 and 2, of which the last is forgotten; milk in 1, twice; cup in a tag of 0."""
    monkeypatch.setattr(opening, "SMALL", request.param)
    store.add(
        [entry("a", "tea", tags=("cup",)), entry("b", "tea milk milk"), entry("c", "tea"), entry("d", "x")]
    )
    store.forget(HERE, ["c"], NOW)
    return store


@contextmanager
def lists(store: PostgresStore) -> Iterator[Lists]:
    with store._database.reading() as connection:
        known = opened(connection, HERE, NOW, None)
        yield Lists(connection, known.namespace.number, look(connection, known, NOW))


def rows(postings: Postings) -> set[tuple[int, int, int, int]]:
    columns = (postings.parts, postings.slots, postings.frequencies, postings.lengths)
    return set(zip(*(each.tolist() for each in columns), strict=True))


def test_terms_that_nobody_has_are_left_out(full: PostgresStore) -> None:
    with lists(full) as some:
        asked = some.ask(query("tea", "coffee", "milk", content=1.0, tags=2.0))
    assert [(each.field, each.term, each.weight) for each in asked.wanted] == [
        ("content", "tea", 1.0),
        ("content", "milk", 1.0),
    ]
    assert asked.sizes == (2, 1)


def test_nobody_has_what_nobody_has(full: PostgresStore) -> None:
    with lists(full) as some:
        assert some.ask(query("coffee")).wanted == ()
        assert some.ask(LexicalQuery({}, {"content": 1.0})).wanted == ()


def test_postings_are_those_of_some_memories(full: PostgresStore) -> None:
    with lists(full) as some:
        asked = some.ask(query("tea", "milk"))
        assert rows(some.postings(asked, np.array([0, 1]))) == {(0, 0, 1, 1), (0, 1, 1, 3), (1, 1, 2, 3)}
        assert rows(some.postings(asked, np.array([0, 3]))) == {(0, 0, 1, 1)}


def test_frequencies_are_those_of_what_may_be_seen(full: PostgresStore) -> None:
    with lists(full) as some:
        assert some.frequencies(["tea", "coffee"], "content") == {"tea": 2, "coffee": 0}
        assert some.frequencies(["cup"], "tags") == {"cup": 1}


def test_a_list_of_a_small_namespace_is_read_once(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([entry("a", "tea"), entry("b", "milk")])
    with lists(store) as some:
        some.frequencies(["tea", "coffee"], "content")
        monkeypatch.setattr(type(some.connection), "rows", None)
        assert some.ask(query("tea", "coffee")).sizes == (1,)
