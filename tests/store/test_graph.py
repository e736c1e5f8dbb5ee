"""What connects memories, and what has changed since."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memorata.model.entity import Place, Relation
from memorata.model.memory import Memory, Source
from memorata.store.entries import Entry
from memorata.store.graph import GraphDelta, Link
from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_HERE, _THERE = "acme/alice", "acme/bob"


def _entry(id: str, entities: Sequence[str] = (), **fields: Any) -> Entry:
    usual: dict[str, Any] = {"namespace": _HERE, "created_at": _NOW, "fingerprint": "ab" * 16}
    memory = Memory(id=id, content="tea", entities=tuple(entities), **(usual | fields))
    return Entry(memory, {"content": {"tea": 1}})


def test_what_connects_memories_is_told_and_what_has_changed_since(store: Store) -> None:
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


def test_links_and_deltas_compare_by_what_they_say() -> None:
    links = {Link(0, ("Anna",), "s", 1, (), True, None, False) for _ in range(2)}
    assert len(links) == 1
    assert GraphDelta(1, 1, (0,), frozenset({"forget"})) != GraphDelta(1, 1, (), frozenset())
