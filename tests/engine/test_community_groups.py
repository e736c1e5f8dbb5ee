"""Communities in words: who is most central, and that the structure is computed once for a graph."""

from datetime import UTC, datetime

import pytest

import recollect
from recollect.engine.community_groups import Structure
from recollect.engine.namespace_graph import NamespaceGraph

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def test_an_empty_graph_has_an_empty_structure() -> None:
    with recollect.open(":memory:", embedder=None) as memory:
        assert memory.communities().groups == ()


def test_the_most_central_come_first_and_the_work_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def counted(known: NamespaceGraph, seed: int) -> Structure:
        made.append(seed)
        return whole(known, seed)

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
