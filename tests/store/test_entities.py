"""Declared entities: names, aliases, merges, and what a purge takes along."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.entities import EntityRecord, name_key
from memorata.store.entries import Entry
from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_HERE, _THERE = "acme/alice", "acme/bob"


def _entry(id: str, entities: Sequence[str] = (), **fields: Any) -> Entry:
    usual: dict[str, Any] = {"namespace": _HERE, "created_at": _NOW, "fingerprint": "ab" * 16}
    memory = Memory(id=id, content="tea", entities=tuple(entities), **(usual | fields))
    return Entry(memory, {"content": {"tea": 1}})


def _redirects(store: Store) -> dict[str, str | None]:
    return {record.entity.name: record.merged_into for record in store.entities.list(_HERE)}


def test_an_entity_can_be_purged_with_its_relations(store: Store) -> None:
    """Check that its names, merged ones too, and its relations go, and others stay."""
    store.entities.describe(_HERE, "Zoë Keller", type="person", aliases=["ZK"])
    store.entities.describe(_HERE, "Ben", description="a baker")
    store.entities.merge(_HERE, "Zoë Keller", "Z")
    ends = (("ZK", "Ben"), ("Ben", "Z"), ("Ben", "Rotterdam"), ("Z", "Lisbon"))
    store.relations.add(_HERE, [Relation(source, "knows", target) for source, target in ends], _NOW)
    store.purge(_HERE, [], ["zoe keller"])
    assert [record.entity.name for record in store.entities.list(_HERE)] == ["Ben", "Rotterdam"]
    assert [(each.source, each.target) for each in store.relations.list(_HERE)] == [("Ben", "Rotterdam")]
    store.purge(_HERE, [], ["nobody"])
    store.purge(_HERE, [], [])
    assert len(store.entities.list(_HERE)) == 2


def test_an_entity_is_what_was_said_about_it(store: Store) -> None:
    """Check parts that are given and parts that are left, and names however they are spelt."""
    assert store.entities.list(_HERE) == []
    first = store.entities.describe(_HERE, "Zoë Keller", type="person", aliases=["Zoë", "ZK", "zoe keller"])
    assert first == EntityRecord(Entity("Zoë Keller", "person", ("Zoë", "ZK")))
    again = store.entities.describe(_HERE, "zoe", description="an engineer")
    assert again.entity == Entity("Zoë Keller", "person", ("Zoë", "ZK"), "an engineer")
    other = store.entities.describe(_HERE, "Ben")
    assert other == EntityRecord(Entity("Ben"))
    assert store.entities.list(_HERE) == [again, other]
    assert store.entities.list(_HERE, 1) == [other]
    assert store.entities.list(_HERE, 2) == []
    assert store.entities.list(_THERE) == []
    assert store.entities.describe(_HERE, "ZK", aliases=[]).entity.aliases == ()
    assert store.entities.describe(_HERE, "ZK").entity.name == "ZK"


def test_a_name_means_one_entity(store: Store) -> None:
    """Check that a name that is taken is refused, and that nothing is left of the attempt."""
    store.entities.describe(_HERE, "Anna", aliases=["Annie"])
    before = store.changes(0, 100)
    for alias in ("ANNIE", "anna", " "):
        with pytest.raises(InvalidArgument):
            store.entities.describe(_HERE, "Ben", aliases=["Benny", alias])
    with pytest.raises(InvalidArgument):
        store.entities.describe(_HERE, "\u200b")
    assert [record.entity.name for record in store.entities.list(_HERE)] == ["Anna"]
    assert store.changes(0, 100) == before
    store.entities.describe(_THERE, "Ben", aliases=["Annie"])


def test_a_merge_is_a_redirect_that_can_be_taken_away(store: Store) -> None:
    """Check chains, circles and undoing."""
    store.entities.merge(_HERE, "Robert", "Bob")
    store.entities.merge(_HERE, "Robert Miles", "robert")
    assert _redirects(store) == {"Robert": "Robert Miles", "Bob": "Robert", "Robert Miles": None}
    before = store.changes(0, 100)
    for keep, other in (("Bob", "BOB"), ("Bob", "Robert Miles"), ("Robert Miles", "Bob")):
        with pytest.raises(InvalidArgument):
            store.entities.merge(_HERE, keep, other)
    for name in ("Robert Miles", "nobody"):
        with pytest.raises(InvalidArgument):
            store.entities.undo_merge(_HERE, name)
    assert store.changes(0, 100) == before
    assert store.entities.describe(_HERE, "Bob", type="person").entity.name == "Robert Miles"
    store.entities.undo_merge(_HERE, "ROBERT")
    assert _redirects(store) == {"Robert": None, "Bob": "Robert", "Robert Miles": None}


def test_changes_of_names_are_counted_and_in_the_feed(store: Store) -> None:
    """Check the number that caches compare, and that saying the same again is no change."""
    assert store.naming_change(_HERE) == 0
    store.add([_entry("m1")])
    assert store.naming_change(_HERE) == 0
    numbers = []
    for _ in range(2):
        store.entities.describe(_HERE, "Anna", type="person")
        store.relations.add(_HERE, [Relation("Anna", "knows", "Ben")], _NOW)
        numbers.append(store.naming_change(_HERE))
    assert numbers[0] == numbers[1] > 0
    store.entities.merge(_HERE, "Anna", "Ben")
    store.entities.undo_merge(_HERE, "Ben")
    feed = store.changes(0, 100)
    assert [(change.kind, change.memory_id) for change in feed] == [
        ("add", "m1"),
        ("declare", ""),
        ("relate", ""),
        ("merge", ""),
        ("unmerge", ""),
    ]
    assert store.naming_change(_HERE) == feed[-1].number
    assert store.naming_change(_THERE) == 0
    with store.view(_HERE, _NOW) as view:
        assert view.status.count == 1


def test_purging_takes_along_what_nothing_else_refers_to(store: Store) -> None:
    """Check names, aliases, redirects and relations."""
    store.add([_entry("m1", ["Anna", "Ben"]), _entry("m2", ["BEN"]), _entry("m3", ["Annie"])])
    store.relations.add(_HERE, [Relation("Anna", "knows", "Dora", asserted_by="m1")], _NOW)
    store.entities.describe(_HERE, "Anna", type="person", aliases=["Annie"])
    store.entities.describe(_HERE, "Ben", type="person")
    store.entities.merge(_HERE, "Carl", "Dora")
    store.entities.describe(_HERE, "Eve")
    store.purge(_HERE, ["m1"])
    assert {record.entity.name for record in store.entities.list(_HERE)} == {"Anna", "Ben", "Eve"}
    assert store.relations.list(_HERE) == []
    store.purge(_HERE, ["m3"])
    assert {record.entity.name for record in store.entities.list(_HERE)} == {"Ben", "Eve"}
    with pytest.raises(MemoryNotFound):
        store.purge(_HERE, ["m2", "nobody"])
    assert {record.entity.name for record in store.entities.list(_HERE)} == {"Ben", "Eve"}


def test_records_compare_by_what_they_say() -> None:
    assert EntityRecord(Entity("Anna")) == EntityRecord(Entity("Anna"), merged_into=None)
    assert EntityRecord(Entity("Anna")) != EntityRecord(Entity("Anna"), merged_into="Ben")


def test_a_blank_name_is_refused_as_the_argument_it_was_given_for() -> None:
    assert name_key("name", "ANNA") == name_key("name", " anna ")
    with pytest.raises(InvalidArgument, match=r"aliases\[1\]"):
        name_key("aliases[1]", " \t")
