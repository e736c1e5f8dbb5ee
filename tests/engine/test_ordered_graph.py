"""What is computed of a graph is the same however it has grown."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect import Engine
from recollect.engine.namespace_graph import Graphs
from recollect.engine.naming import NameBook
from recollect.engine.ordered_graph import in_order

NOW = datetime(2026, 5, 7, tzinfo=UTC)
PEOPLE = [f"Person {letter}" for letter in "ABCDEFGHIJKLMNOP"]


def graphs_of(memory: Engine) -> Graphs:
    return Graphs(memory.store, NameBook(memory.store, None))


def test_memories_come_by_their_slots_and_then_names_by_their_keys() -> None:
    with recollect.open(":memory:", embedder=None, extract_entities=False, clock=lambda: NOW) as memory:
        memory.remember("nobody")
        memory.remember("two", entities=["Zoe", "Ben"])
        memory.remember("one", entities=["Ben"])
        known = graphs_of(memory).at("default", NOW)
        graph, nodes = in_order(known)
        assert known.slots_of(nodes).tolist() == [1, 2, -1, -1]
        assert [known.name_of(node) for node in nodes.tolist()] == [None, None, "Ben", "Zoe"]
        sources, targets, weights, _, _ = graph.listed()
        assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == [(0, 2), (0, 3), (1, 2)]
        assert weights.tolist() == [1, 1, 1]


@pytest.mark.parametrize("seed", range(4))
def test_a_graph_that_was_kept_is_ordered_as_one_that_is_built_anew(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    path, now = tmp_path / "m.db", NOW
    with recollect.open(path, embedder=None, extract_entities=False, clock=lambda: now) as memory:
        ids: list[str] = []
        watching = graphs_of(memory)
        for number in range(60):
            now += timedelta(minutes=1)
            kind = chance.random()
            if kind < 0.7 or not ids:
                said = memory.remember(f"Note {number}", entities=chance.sample(PEOPLE, chance.randint(0, 3)))
                ids.append(said.id)
            elif kind < 0.85:
                memory.forget(ids.pop(chance.randrange(len(ids))))
            else:
                place = chance.randrange(len(ids))
                ids[place] = memory.correct(ids[place], f"Note {number}, mended").id
            if chance.random() < 0.3:
                watching.at("default", now)
                memory.communities()
        kept, _ = in_order(watching.at("default", now))
        fresh, _ = in_order(graphs_of(memory).at("default", now))
        # Not their summaries, which are kept as long as their members stay the same.
        members = [(group.memories, group.entities) for group in memory.communities().groups]
        with recollect.open(path, embedder=None, extract_entities=False, clock=lambda: now) as another:
            assert [(group.memories, group.entities) for group in another.communities().groups] == members
    assert len(members) > 1
    assert [part.tolist() for part in kept.listed()] == [part.tolist() for part in fresh.listed()]
