"""Where a memory is, and what is told of a change to it."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from memorata.index.record import FORGOTTEN, changed
from memorata.model.errors import MemoryNotFound
from memorata.store import rows as finding
from memorata.store.dialects import SqliteStore
from memorata.store.memory import lookup
from memorata.store.sqlite.dialect import SqliteDialect
from memorata.testing.samples import HERE, THERE, entry

place = SqliteDialect().number


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(SqliteStore(":memory:")) as opened:
        yield opened


def test_a_memory_is_found_with_its_place(store: SqliteStore) -> None:
    store.add([entry("a", "tea"), entry("b", "rum")])
    namespace, number, slot, memory = finding.find(store._connection, HERE, "b")
    assert (namespace.path, namespace.slots, slot, memory.content) == (HERE, 2, 1, "rum")
    assert number == place(namespace.number, slot)


@pytest.mark.parametrize(("path", "id"), [(HERE, "b"), (THERE, "a")])
def test_what_is_not_there_is_not_found(store: SqliteStore, path: str, id: str) -> None:
    store.add([entry("a", "tea")])
    with pytest.raises(MemoryNotFound):
        finding.find(store._connection, path, id)


def test_a_namespace_is_found_once_something_was_written_to_it(store: SqliteStore) -> None:
    assert finding.find_namespace(store._connection, HERE) is None
    made = finding.new_namespace(store._connection, HERE)
    assert finding.find_namespace(store._connection, HERE) == made


def test_a_changed_record_is_told_of(store: SqliteStore) -> None:
    store.add([entry("a", "tea")])
    namespace, _, slot, _ = finding.find(store._connection, HERE, "a")
    forgotten = changed(lookup.record_of(store._connection, namespace, slot), state=FORGOTTEN)
    change = finding.put_record(store._connection, namespace, slot, forgotten, "forget")
    assert lookup.record_of(store._connection, namespace, slot)["state"].tolist() == [FORGOTTEN]
    assert finding.last_change(store._connection, namespace.number) == change
    assert [each.kind for each in store.changes(0, 10)] == ["add", "forget"]
    found = finding.find_namespace(store._connection, HERE)
    assert found is not None
    assert found.change == change
