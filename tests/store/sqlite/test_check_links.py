from collections.abc import Iterator
from dataclasses import replace

import pytest

from memorata.model.memory import Memory
from memorata.store.check import broken_links
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry, Terms
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import HERE, entry, words


def terms_of(memory: Memory) -> Terms:
    return {"content": words(memory.content)}


def correction(id: str, older: str) -> Entry:
    said = entry(id, f"tea {id}")
    return replace(said, memory=replace(said.memory, supersedes=(older,)))


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    """Three memories, each of which took the place of the one before, and one that stands alone."""
    opened = SqliteStore(":memory:")
    opened.add([entry("a", "tea a"), entry("alone", "coffee")])
    opened.add([correction("b", "a"), correction("c", "b")])
    yield opened
    opened.close()


def connection(store: SqliteStore) -> SqliteSession:
    return store._connection


def test_links_that_were_written_are_whole(store: SqliteStore) -> None:
    assert list(broken_links(connection(store), 1)) == []
    store.purge(HERE, ["b"])
    assert list(broken_links(connection(store), 1)) == []


@pytest.mark.parametrize(
    ("damage", "texts"),
    [
        (
            "UPDATE memories SET superseded_at = NULL WHERE id = 'a'",
            ["memory a has a successor but not since when, or the other way round"],
        ),
        (
            "UPDATE memories SET superseded_by = 'nobody' WHERE id = 'b'",
            [
                "memory b was superseded by nobody, which is not there",
                "memory c superseded b, which does not name it or is not there",
            ],
        ),
        (
            "UPDATE memories SET supersedes = '[]' WHERE id = 'c'",
            ["memory c does not list b, which it superseded"],
        ),
        (
            "UPDATE memories SET supersedes = '[\"alone\", \"b\"]' WHERE id = 'c'",
            ["memory c superseded alone, which does not name it or is not there"],
        ),
        (
            "DELETE FROM memories WHERE id = 'a'",
            ["memory b superseded a, which does not name it or is not there"],
        ),
        (
            "UPDATE memories SET superseded_by = 'a', superseded_at = 1 WHERE id = 'c'",
            [f"memory {id} was superseded by itself, over others" for id in "abc"],
        ),
    ],
)
def test_a_broken_link_is_told_and_left_as_it_is(store: SqliteStore, damage: str, texts: list[str]) -> None:
    connection(store).execute(damage)
    assert list(broken_links(connection(store), 1)) == texts
    assert [text for text in store.check(terms_of) if "supersede" in text or "successor" in text] == [
        f"{HERE}: {text}" for text in texts
    ]
    store.check(terms_of, repair=True)
    left = [text for text in store.check(terms_of) if "not purged" not in text]
    assert left == [f"{HERE}: {text}" for text in texts]
