"""Listing, a piece at a time, where the pieces are smaller than what is asked for."""

import threading
from contextlib import closing

import pytest

from memorata.store.filters import parse
from memorata.store.memory import lookup
from memorata.testing.samples import HERE, THERE, entry, pages
from memorata_postgres.store import PostgresStore


@pytest.fixture
def filled(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> PostgresStore:
    """Nine memories, of which two are read at once."""
    monkeypatch.setattr(lookup, "_PAGE_SIZE", 2)
    store.add([entry(f"m{n}", f"TEA {n}" if n % 3 == 0 else f"milk {n}") for n in range(9)])
    return store


def test_what_only_python_can_decide_is_looked_for_until_the_page_is_full(filled: PostgresStore) -> None:
    found = parse({"content": {"contains": "tea"}})
    for limit in (1, 2, 3, 9):
        assert list(pages(filled, limit, found)) == ["m6", "m3", "m0"]
    assert filled.page(HERE, found, 3, None, hidden=False).cursor is None


def test_everything_is_carried_away_in_the_order_it_was_added(filled: PostgresStore) -> None:
    filled.add([entry("x", "tea", namespace=THERE), entry("y", "tea")])
    assert [memory.id for memory in filled.export(None)] == [f"m{n}" for n in range(9)] + ["x", "y"]
    assert [memory.id for memory in filled.export(THERE)] == ["x"]


def test_any_number_may_be_asked_for(filled: PostgresStore) -> None:
    assert len(filled.changes(0, 2**70)) == 9
    assert filled.changes(2**70, 5) == []
    assert filled.recalls.list(HERE, limit=2**70) == []
    assert len(filled.page(HERE, None, 2**70, None, hidden=True).memories) == 9


def test_what_oneself_has_written_is_told_without_waiting_for_others(
    filled: PostgresStore, used: str
) -> None:
    writing, told = threading.Event(), threading.Event()

    def other() -> None:
        with closing(PostgresStore(used)) as another, another.together():
            another.add([entry("theirs", "tea", namespace=THERE)])
            writing.set()
            assert told.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    assert writing.wait(30)
    with filled.together():
        filled.add([entry("mine", "tea")])
        ids = [change.memory_id for change in filled.changes(0, 100)]
        told.set()
    thread.join(30)
    assert (ids[-1], "theirs" in ids) == ("mine", False)
    assert {"mine", "theirs"} <= {change.memory_id for change in filled.changes(0, 100)}
