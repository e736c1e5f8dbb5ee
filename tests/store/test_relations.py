"""Relations: what they are, when they hold, and what removes them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memorata.model.entity import Relation
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.entries import Entry
from memorata.store.graph import _relation
from memorata.store.memory.repeats import Repeat
from memorata.store.rows import EPOCH
from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_HERE, _THERE = "acme/alice", "acme/bob"


def _entry(id: str, entities: Sequence[str] = (), **fields: Any) -> Entry:
    usual: dict[str, Any] = {"namespace": _HERE, "created_at": _NOW, "fingerprint": "ab" * 16}
    memory = Memory(id=id, content="tea", entities=tuple(entities), **(usual | fields))
    return Entry(memory, {"content": {"tea": 1}})


def _ends(store: Store, **asked: Any) -> list[tuple[str, str]]:
    return [(relation.source, relation.target) for relation in store.relations.list(_HERE, **asked)]


def _types(store: Store, **asked: Any) -> str:
    return "".join(relation.type for relation in store.relations.list(_HERE, **asked))


def test_a_relation_comes_back_as_it_was(store: Store) -> None:
    """Check every field, what makes two relations one, and batches."""
    store.add([_entry("m1", created_at=_NOW - _DAY)])
    given = [
        Relation("Anna", "knows", "Ben", 2.5, "m1", _NOW - _DAY, _NOW + _DAY),
        Relation("Anna", "knows", "Ben", created_at=_NOW - 2 * _DAY),
        Relation("Anna", "knows", "Ben", valid_from=_NOW),
        Relation("Anna", "likes", "Anna"),
    ]
    written = store.relations.add(_HERE, given, _NOW)
    assert [relation.created_at for relation in written] == [_NOW - _DAY, _NOW - 2 * _DAY, _NOW, _NOW]
    assert store.relations.list(_HERE) == written
    before = store.changes(0, 100)
    assert store.relations.add(_HERE, written, _NOW + _DAY) == written
    assert store.changes(0, 100) == before
    ended = store.relations.add(_HERE, [Relation("anna", "knows", "BEN", 3, valid_to=_NOW)], _NOW + _DAY)
    assert ended[0].created_at == _NOW - 2 * _DAY
    assert [(r.weight, r.valid_to) for r in store.relations.list(_HERE)][1] == (3.0, _NOW)
    bad = [Relation("New", "knows", "Ben", asserted_by="nobody"), Relation("New", "knows", "Ben", 1e300)]
    for relation, error in zip(bad, (MemoryNotFound, InvalidArgument), strict=True):
        with pytest.raises(error):
            store.relations.add(_HERE, [Relation("Fresh", "knows", "Ben"), relation], _NOW)
    assert {record.entity.name for record in store.entities.list(_HERE)} == {"Anna", "Ben"}


def test_relations_are_found_by_their_ends(store: Store) -> None:
    """Check the ways to ask for some of them."""
    store.relations.add(_HERE, [Relation("Anna", "knows", "Ben"), Relation("Ben", "knows", "Cyd")], _NOW)
    store.relations.add(_HERE, [Relation("Dora", "knows", "Anna")], _NOW)
    assert _ends(store, names=["anna"]) == [("Anna", "Ben"), ("Dora", "Anna")]
    assert _ends(store, names=["anna", "cyd"]) == [("Anna", "Ben"), ("Ben", "Cyd"), ("Dora", "Anna")]
    assert _ends(store, names=[]) == _ends(store, names=["nobody"]) == []
    assert store.relations.list(_THERE) == []


def test_a_relation_holds_as_long_as_its_memory_and_its_own_time(store: Store) -> None:
    """Check forgetting, correcting, purging and expiring, now and as it was believed."""
    store.add([_entry("old"), _entry("brief", expires_at=_NOW + _DAY)])
    store.relations.add(
        _HERE,
        [
            Relation("Anna", "a", "x", asserted_by="old"),
            Relation("Anna", "b", "x", asserted_by="brief"),
            Relation("Anna", "c", "x", valid_from=_NOW + _DAY, valid_to=_NOW + 2 * _DAY),
        ],
        _NOW,
    )
    for days, held in ((0, "ab"), (1, "ac"), (2, "a")):
        assert _types(store, now=_NOW + days * _DAY) == held
    assert store.relations.next_change(_HERE, _NOW) == _NOW + _DAY
    assert store.relations.next_change(_HERE, _NOW + _DAY) == _NOW + 2 * _DAY
    assert store.relations.next_change(_HERE, _NOW + 2 * _DAY) is None
    store.forget(_HERE, ["old"], _NOW)
    assert _types(store, now=_NOW) == "b"
    store.restore(_HERE, ["old"])
    store.add([_entry("new", supersedes=("old",), created_at=_NOW + _DAY, fingerprint="cd" * 16)])
    assert _types(store, now=_NOW) == "b"
    believed = {-1: "", 0: "ab", 1: "bc", 2: "b"}
    for days, held in believed.items():
        assert _types(store, now=_NOW, as_of=_NOW + days * _DAY) == held
    store.purge(_HERE, ["new"])
    assert _types(store, now=_NOW) == "ab"
    store.purge(_HERE, ["old"])
    assert [relation.type for relation in store.relations.list(_HERE)] == ["b", "c"]


def test_a_relation_holds_while_what_its_memory_only_repeats_does(store: Store) -> None:
    """Check repeats of repeats, corrections of them, what several assert, and what was believed."""
    texts = {"a": "tea", "b": "tea", "c": "some tea", "d": "milk"}
    for id_, text in texts.items():
        memory = Memory(
            id=id_, content=text, namespace=_HERE, created_at=_NOW, fingerprint=text.encode().hex()
        )
        store.add([Entry(memory, {})])
    said = [("b", "Bob"), ("b", "Eve"), ("a", "Bob"), ("c", "Bob")]
    store.relations.add(_HERE, [Relation("Anna", "knows", name, asserted_by=id_) for id_, name in said], _NOW)

    def holding(at: datetime, as_of: datetime | None = None) -> list[tuple[str, str | None]]:
        found = store.relations.list(_HERE, now=at, as_of=as_of, names=["anna"])
        return [(each.target, each.asserted_by) for each in found]

    later, last = _NOW + _DAY, _NOW + 2 * _DAY
    everything = [("Bob", "b"), ("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
    assert holding(last) == everything
    # The one repeats the other in the same words, which asserts one of the two itself.
    store.duplicates.repeat(_HERE, [Repeat("b", "a", "exact", "r", later)])
    assert holding(last) == [("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
    assert holding(last, as_of=_NOW) == everything
    run = store.duplicates.start_run(_HERE, "keep_both", last)
    store.duplicates.repeat(_HERE, [Repeat("a", "d", "near", "r", last, run=run.number)])
    store.duplicates.repeat(_HERE, [Repeat("c", "d", "merge", "r", last, run=run.number)])
    # What stands for all of them says it once.
    assert holding(last) == [("Bob", "b"), ("Eve", "b")]
    assert holding(last, as_of=later) == [("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
    for hidden, left in (("d", []), ("b", [("Bob", "a")])):
        store.forget(_HERE, [hidden], last)
        assert holding(last) == left
        store.restore(_HERE, [hidden])
    store.duplicates.undo_run(_HERE, run.number, last)
    assert holding(last) == [("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
    # What is corrected is asserted no longer.
    store.duplicates.repeat(_HERE, [Repeat("a", "d", "correction", "r", last)])
    assert holding(last) == [("Bob", "c")]


def test_relations_can_be_removed(store: Store) -> None:
    """Check that all between two entities go, and the names that nothing refers to any more."""
    store.relations.add(
        _HERE,
        [
            Relation("Anna", "knows", "Ben"),
            Relation("Anna", "knows", "Ben", valid_from=_NOW),
            Relation("Anna", "likes", "Cyd"),
        ],
        _NOW,
    )
    assert store.relations.remove(_HERE, ["anna", "nobody"], "knows", ["ben"]) == 2
    assert store.relations.remove(_HERE, ["anna"], "knows", ["ben"]) == 0
    assert [record.entity.name for record in store.entities.list(_HERE)] == ["Anna", "Cyd"]
    store.entities.describe(_HERE, "Anna", type="person")
    assert store.relations.remove(_HERE, ["anna"], "likes", ["cyd"]) == 1
    assert [record.entity.name for record in store.entities.list(_HERE)] == ["Anna"]


def test_a_relation_has_the_times_of_its_row() -> None:
    said = _relation(("Anna", "lives in", "Lisbon", 0.5, "m1", None, 0, 0))
    assert said == Relation("Anna", "lives in", "Lisbon", 0.5, "m1", None, EPOCH, EPOCH)
