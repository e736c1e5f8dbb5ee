"""What is there is listed by id, page by page and in the order of change; the rest is in the common suite."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from memorata.model.errors import InvalidArgument, MemoryNotFound, StoreCorrupt
from memorata.store.dialects import SqliteStore
from memorata.testing.samples import HERE, THERE, entry


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(SqliteStore(":memory:")) as opened:
        yield opened


def test_pages_go_on_where_the_last_one_ended(store: SqliteStore) -> None:
    store.add([entry(id, "tea") for id in "abcde"])
    pages, cursor = list[str](), None
    while True:
        page = store.page(HERE, None, 2, cursor, hidden=False)
        pages.append("".join(memory.id for memory in page.memories))
        cursor = page.cursor
        if cursor is None:
            break
    assert pages == ["ed", "cb", "a"]


@pytest.mark.parametrize("cursor", ["", "-1", "x", "٣", "9" * 19, "9" * 40])
def test_a_cursor_that_no_page_gave_is_refused(store: SqliteStore, cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="cursor"):
        store.page(HERE, None, 2, cursor, hidden=False)


def test_a_namespace_nobody_wrote_to_is_empty(store: SqliteStore) -> None:
    store.add([entry("a", "tea")])
    assert store.page(THERE, None, 2, None, hidden=True).memories == ()
    assert store.hidden(THERE) == []
    assert list(store.export(THERE)) == []
    assert store.known([(THERE, "a"), (HERE, "a")]) == {(HERE, "a")}
    with pytest.raises(MemoryNotFound):
        store.get(THERE, ["a"])


def test_a_change_number_is_never_used_twice(store: SqliteStore) -> None:
    first = store.add([entry("a", "tea")])
    store.purge(HERE, ["a"])
    assert store.add([entry("a", "tea")]) > first + 1


def test_a_damaged_memory_keeps_no_other_from_being_exported(store: SqliteStore) -> None:
    store.add([entry(id, "tea") for id in "abcd"])
    damage = store._connection.execute
    damage("UPDATE memories SET content = CAST(x'c3c3' AS TEXT) WHERE id = 'b'")
    damage("UPDATE memories SET tier = 'first' WHERE id = 'c'")
    with pytest.raises(StoreCorrupt, match="UTF-8"):
        list(store.export(None))
    told = list[str]()
    assert [memory.id for memory in store.export(None, lambda error: told.append(str(error)))] == ["a", "d"]
    assert [text.split(" cannot")[0] for text in told] == ["the row of memory b", "the row of memory c"]
