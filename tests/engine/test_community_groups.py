"""Communities in words: who is most central, and that the structure is computed once for a graph."""

from datetime import UTC, datetime

import numpy as np
import pytest

import recollect
from recollect.engine.community_groups import Structure
from recollect.graph import Graph

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def test_the_structure_of_two_triangles() -> None:
    graph = Graph.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    found = Structure.of(graph, graph.undirected(), 0)
    assert found.levels[0].labels.tolist() == [0, 0, 0, 1, 1, 1]
    # The two ends of the bridge are the most central.
    assert set(np.argsort(-found.ranks)[:2].tolist()) == {2, 3}
    nothing = Graph.of(0, [], [])
    assert Structure.of(nothing, nothing, 0).ranks.size == 0


def test_the_most_central_come_first_and_the_work_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(graph: Graph, both_ways: Graph, seed: int) -> Structure:
        made.append(seed)
        return whole(graph, both_ways, seed)

    whole = Structure.of
    monkeypatch.setattr(Structure, "of", counted)
    with recollect.open(":memory:", embedder=None, extract_entities=False, clock=lambda: NOW) as memory:
        hub = memory.remember("tea with all", entities=["Anna", "Ben", "Cyd", "Dora"])
        groups = [memory.communities(level=level).groups for level in range(3)]
        assert made == [0]
        (group,) = groups[2]
        assert group.memories == (hub.id,)
        assert group.entities == ("Anna", "Ben", "Cyd", "Dora")
        assert memory.communities(seed=7).level == 0
        memory.remember("more tea", entities=["Dora"])
        memory.communities(seed=7)
        assert made == [0, 7, 7]
