"""What every store promises about entities and relations; a part of the suite in `store/conformance.py`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.model.memory import Memory, Source
from memorata.model.place import Place
from memorata.store.entities import EntityRecord
from memorata.store.graph import Link
from memorata.store.port import Entry, Store
from memorata.store.repeats import Repeat

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_HERE, _THERE = "acme/alice", "acme/bob"


class NamingConformance:
    """The part of the suite about who is who and what relates to what."""

    def test_an_entity_can_be_purged_with_its_relations(self, store: Store) -> None:
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

    def test_an_entity_is_what_was_said_about_it(self, store: Store) -> None:
        """Check parts that are given and parts that are left, and names however they are spelt."""
        assert store.entities.list(_HERE) == []
        first = store.entities.describe(
            _HERE, "Zoë Keller", type="person", aliases=["Zoë", "ZK", "zoe keller"]
        )
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

    def test_a_name_means_one_entity(self, store: Store) -> None:
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

    def test_a_merge_is_a_redirect_that_can_be_taken_away(self, store: Store) -> None:
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

    def test_changes_of_names_are_counted_and_in_the_feed(self, store: Store) -> None:
        """Check the number that caches compare, and that saying the same again is no change."""
        assert store.entities.last_change(_HERE) == 0
        store.add([_entry("m1")])
        assert store.entities.last_change(_HERE) == 0
        numbers = []
        for _ in range(2):
            store.entities.describe(_HERE, "Anna", type="person")
            store.relations.add(_HERE, [Relation("Anna", "knows", "Ben")], _NOW)
            numbers.append(store.entities.last_change(_HERE))
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
        assert store.entities.last_change(_HERE) == feed[-1].number
        assert store.entities.last_change(_THERE) == 0
        with store.view(_HERE, _NOW) as view:
            assert view.count == 1

    def test_a_relation_comes_back_as_it_was(self, store: Store) -> None:
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

    def test_relations_are_found_by_their_ends_and_by_when_they_were_written(self, store: Store) -> None:
        """Check the ways to ask for some of them."""
        store.relations.add(_HERE, [Relation("Anna", "knows", "Ben"), Relation("Ben", "knows", "Cyd")], _NOW)
        last = store.changes(0, 100)[-1].number
        store.relations.add(_HERE, [Relation("Dora", "knows", "Anna")], _NOW)
        assert _ends(store, names=["anna"]) == [("Anna", "Ben"), ("Dora", "Anna")]
        assert _ends(store, names=["anna", "cyd"]) == [("Anna", "Ben"), ("Ben", "Cyd"), ("Dora", "Anna")]
        assert _ends(store, names=[]) == _ends(store, names=["nobody"]) == []
        assert _ends(store, since=last) == [("Dora", "Anna")]
        assert store.relations.list(_THERE) == []

    def test_a_relation_holds_as_long_as_its_memory_and_its_own_time(self, store: Store) -> None:
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

    def test_a_relation_holds_while_what_its_memory_only_repeats_does(self, store: Store) -> None:
        """Check repeats of repeats, corrections of them, what several assert, and what was believed."""
        texts = {"a": "tea", "b": "tea", "c": "some tea", "d": "milk"}
        for id_, text in texts.items():
            memory = Memory(
                id=id_, content=text, namespace=_HERE, created_at=_NOW, fingerprint=text.encode().hex()
            )
            store.add([Entry(memory, {})])
        said = [("b", "Bob"), ("b", "Eve"), ("a", "Bob"), ("c", "Bob")]
        store.relations.add(
            _HERE, [Relation("Anna", "knows", name, asserted_by=id_) for id_, name in said], _NOW
        )

        def holding(at: datetime, as_of: datetime | None = None) -> list[tuple[str, str | None]]:
            found = store.relations.list(_HERE, now=at, as_of=as_of, names=["anna"])
            return [(each.target, each.asserted_by) for each in found]

        def asserting() -> list[str]:
            links = store.graph.links(_HERE, 0)
            return ["abcd"[link.slot] for link in links if link.asserts]

        later, last = _NOW + _DAY, _NOW + 2 * _DAY
        everything = [("Bob", "b"), ("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
        assert (holding(last), asserting()) == (everything, ["a", "b", "c"])
        # The one repeats the other in the same words, which asserts one of the two itself.
        store.repeat(_HERE, [Repeat("b", "a", "exact", "r", later)])
        assert holding(last) == [("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
        assert holding(last, as_of=_NOW) == everything
        run = store.start_run(_HERE, "keep_both", last)
        store.repeat(_HERE, [Repeat("a", "d", "near", "r", last, run=run.number)])
        store.repeat(_HERE, [Repeat("c", "d", "merge", "r", last, run=run.number)])
        # What stands for all of them says it once.
        assert holding(last) == [("Bob", "b"), ("Eve", "b")]
        assert holding(last, as_of=later) == [("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
        assert asserting() == ["a", "b", "c", "d"]
        for hidden, left in (("d", []), ("b", [("Bob", "a")])):
            store.forget(_HERE, [hidden], last)
            assert holding(last) == left
            store.restore(_HERE, [hidden])
        store.undo_run(_HERE, run.number, last)
        assert holding(last) == [("Eve", "b"), ("Bob", "a"), ("Bob", "c")]
        # What is corrected is asserted no longer.
        store.repeat(_HERE, [Repeat("a", "d", "correction", "r", last)])
        assert holding(last) == [("Bob", "c")]

    def test_relations_can_be_removed(self, store: Store) -> None:
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

    def test_purging_takes_along_what_nothing_else_refers_to(self, store: Store) -> None:
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

    def test_what_connects_memories_is_told_and_what_has_changed_since(self, store: Store) -> None:
        """Check links, places and news."""
        store.add(
            [
                _entry("a", ["Anna"], source=Source(session="s", position=3), place=Place(1.5, -2.5)),
                _entry("b", expires_at=_NOW + _DAY),
                _entry("elsewhere", namespace=_THERE, place=Place(0, 0)),
                _entry("c", supersedes=("a", "b"), place=Place(90, 180)),
            ]
        )
        store.relations.add(_HERE, [Relation("Anna", "knows", "Ben", asserted_by="c")], _NOW)
        links = list(store.graph.links(_HERE, 0))
        assert links == [
            Link(0, ("Anna",), "s", 3, (), False, None, False),
            Link(1, (), "", None, (), False, _NOW + _DAY, False),
            Link(2, (), "", None, (0, 1), True, None, True),
        ]
        assert list(store.graph.links(_HERE, 2, [1, 0])) == links
        assert list(store.graph.links(_HERE, 3)) == list(store.graph.links("nobody", 0)) == []
        points = store.graph.points(_HERE, 0)
        assert (points.slots.tolist(), points.lats.tolist(), points.lons.tolist()) == (
            [0, 2],
            [1.5, 90.0],
            [-2.5, 180.0],
        )
        assert store.graph.points(_HERE, 1).slots.tolist() == [2]
        assert store.graph.points("nobody", 0).slots.size == 0
        news = store.graph.delta(_HERE, 0)
        assert (news.slots, news.changed) == (3, (0, 1))
        assert news.kinds == {"supersede", "relate"}
        assert store.graph.delta(_HERE, news.change).kinds == set()
        store.purge(_HERE, ["a"])
        assert store.graph.delta(_HERE, news.change).changed[:1] == (0,)
        assert [link.slot for link in store.graph.links(_HERE, 1, [0])] == [1, 2]


def _entry(id: str, entities: Sequence[str] = (), **fields: Any) -> Entry:  # noqa: ANN401
    usual: dict[str, Any] = {"namespace": _HERE, "created_at": _NOW, "fingerprint": "ab" * 16}
    memory = Memory(id=id, content="tea", entities=tuple(entities), **(usual | fields))
    return Entry(memory, {"content": {"tea": 1}})


def _redirects(store: Store) -> dict[str, str | None]:
    return {record.entity.name: record.merged_into for record in store.entities.list(_HERE)}


def _ends(store: Store, **asked: Any) -> list[tuple[str, str]]:  # noqa: ANN401
    return [(relation.source, relation.target) for relation in store.relations.list(_HERE, **asked)]


def _types(store: Store, **asked: Any) -> str:  # noqa: ANN401
    return "".join(relation.type for relation in store.relations.list(_HERE, **asked))
