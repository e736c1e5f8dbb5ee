"""The index of places catches up with what was added, moved and purged."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import memorata
from memorata.engine.graph import PlaceIndex
from memorata.index.record import visible

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def test_what_is_added_is_added_and_only_what_moves_is_read_anew(monkeypatch: Any) -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW, config={"duplicates": "off"}) as memory:
        index = PlaceIndex(memory.store)

        def near(limit: int = 10) -> list[int]:
            with memory.store.view("default", NOW) as view:
                shows = partial(visible, now=NOW.timestamp())
                slots, _ = index.near("default", view, shows, 0, 0, None, limit)
            return [int(slot) for slot in slots]

        assert near() == []
        asked: list[int] = []
        points = memory.store.graph.points

        def counted(namespace: str, first: int) -> Any:
            asked.append(first)
            return points(namespace, first)

        monkeypatch.setattr(memory.store.graph, "points", counted)
        said = [memory.remember("x", place={"lat": n, "lon": 0}) for n in (3, 1, 2)]
        assert near() == [1, 2, 0]
        memory.remember("nowhere")
        memory.remember("x", place={"lat": 0, "lon": 0})
        assert near() == [4, 1, 2, 0]
        assert near() == [4, 1, 2, 0]
        assert asked == [0, 3]
        memory.purge(said[1].id)
        assert near() == [4, 2, 0]
        assert asked == [0, 3, 0]


def test_hidden_memories_do_not_take_the_place_of_others() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW, config={"duplicates": "off"}) as memory:
        said = memory.remember_many({"content": "x", "place": {"lat": n / 100, "lon": 0}} for n in range(400))
        memory.forget(*(each.id for each in said[:390]))
        found = memory.graph.near(0, 0, limit=3)
        assert [each.memory.id for each in found] == [each.id for each in said[390:393]]
