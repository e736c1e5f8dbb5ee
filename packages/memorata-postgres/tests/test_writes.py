"""Writing, where namespaces, sessions and chains meet in one transaction."""

from collections.abc import Mapping

import psycopg
import pytest

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Source
from memorata.testing.samples import HERE, NOW, THERE, entry
from memorata_postgres.store import PostgresStore

LONG = "日" * 667
"""One byte more than a name may have."""


def terms_of(memory: Memory) -> Mapping[str, Mapping[str, int]]:
    return entry(memory.id, memory.content, tags=memory.tags).terms


def sessions_of(used: str) -> list[tuple[str, int]]:
    with psycopg.connect(used, autocommit=True) as connection:
        return connection.execute("SELECT name, number FROM sessions ORDER BY number").fetchall()


def test_a_batch_may_come_back_to_a_namespace(store: PostgresStore) -> None:
    store.add([entry("a", "tea"), entry("b", "tea", namespace=THERE), entry("c", "tea", supersedes=("a",))])
    assert store.namespaces() == {HERE: 2, THERE: 1}
    assert store.get(HERE, ["a"])[0].superseded_by == "c"
    assert store.check(terms_of) == []


def test_sessions_are_numbered_as_they_come_and_go_with_their_last_memory(
    store: PostgresStore, used: str
) -> None:
    store.add([entry("a", "tea", source=Source(session="z")), entry("b", "tea", source=Source(session="y"))])
    store.add([entry("c", "tea", source=Source(session="x")), entry("d", "tea", source=Source(session="y"))])
    assert sessions_of(used) == [("y", 0), ("z", 1), ("x", 2)]
    store.purge(HERE, ["b"])
    assert len(sessions_of(used)) == 3
    store.purge(HERE, ["d", "c"])
    assert sessions_of(used) == [("z", 1)]


def test_the_name_of_a_session_has_an_end(store: PostgresStore) -> None:
    """An index has no room for more. The longest that has is found again."""
    store.add([entry("a", "tea", source=Source("Anna", LONG[:-1], 1))])
    with pytest.raises(InvalidArgument, match="session must be at most 2000 bytes"):
        store.add([entry("b", "tea"), entry("c", "tea", source=Source("Anna", LONG, 1))])
    assert [memory.source.session for memory in store.export(None)] == [LONG[:-1]]


def test_a_tag_is_longer_than_what_an_index_holds(store: PostgresStore) -> None:
    store.add([entry("a", "tea", tags=(LONG * 14,))])
    assert store.get(HERE, ["a"])[0].tags == (LONG * 14,)
    assert store.check(terms_of) == []


def test_nothing_is_counted_of_what_was_hidden_already(store: PostgresStore) -> None:
    """Forgotten twice, superseded when forgotten, and purged when hidden: what is counted stays right."""
    store.add([entry("a", "tea"), entry("b", "tea"), entry("c", "tea")])
    store.forget(HERE, ["a"], NOW)
    store.forget(HERE, ["a"], NOW)
    store.add([entry("d", "tea", supersedes=("a",))])
    store.restore(HERE, ["a"])
    assert store.check(terms_of) == []
    store.purge(HERE, ["a", "b"])
    assert store.check(terms_of) == []
