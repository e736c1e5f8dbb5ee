"""What connects memories, and what has changed since."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memorata.model.entity import Relation
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
    """Check links and news."""
    store.add(
        [
            _entry("a", ["Anna"], source=Source(session="s", position=3)),
            _entry("b", expires_at=_NOW + _DAY),
            _entry("elsewhere", namespace=_THERE),
            _entry("c", supersedes=("a", "b")),
        ]
    )
    store.relations.add(_HERE, [Relation("Anna", "knows", "Ben", asserted_by="c")], _NOW)
    links = list(store.graph.links(_HERE, 0))
    assert links == [
        Link(0, ("Anna",), ()),
        Link(1, (), ()),
        Link(2, (), (0, 1)),
    ]
    assert list(store.graph.links(_HERE, 2, [1, 0])) == links
    assert list(store.graph.links(_HERE, 3)) == list(store.graph.links("nobody", 0)) == []
    news = store.graph.delta(_HERE, 0)
    assert (news.slots, news.changed) == (3, (0, 1))
    assert news.kinds == {"supersede", "relate"}
    assert store.graph.delta(_HERE, news.change).kinds == set()
    store.purge(_HERE, ["a"])
    assert store.graph.delta(_HERE, news.change).changed[:1] == (0,)
    assert [link.slot for link in store.graph.links(_HERE, 1, [0])] == [1, 2]


def test_links_and_deltas_compare_by_what_they_say() -> None:
    links = {Link(0, ("Anna",), ()) for _ in range(2)}
    assert len(links) == 1
    assert GraphDelta(1, 1, (0,), frozenset({"forget"})) != GraphDelta(1, 1, (), frozenset())
