"""The communities of a namespace's graph, told in words: who is in them and what they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.engine.graph_answers import Communities, Group
from recollect.engine.namespace_graph import NamespaceGraph
from recollect.engine.written_terms import written
from recollect.graph.adjacency import Graph
from recollect.graph.communities import Level, communities
from recollect.graph.pagerank import pagerank
from recollect.graph.summaries import Community, Member, StatisticalSummariser, Summary, summarised
from recollect.index.record import Records, visible
from recollect.model.checks import BoolArray, FloatArray, IntArray
from recollect.model.memory import Memory
from recollect.store.port import Terms, View

LEVELS: Final = 3
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """What is computed once for a graph: its communities, level by level, and how central each node is."""

    graph: Graph
    seed: int
    levels: tuple[Level, ...]
    ranks: FloatArray

    @classmethod
    def of(cls, graph: Graph, both_ways: Graph, seed: int) -> Structure:
        """Return the structure of a graph, given also with every edge in both directions."""
        ranks = pagerank(both_ways).scores if graph.nodes else np.zeros(0)
        return cls(graph, seed, communities(graph, levels=LEVELS, seed=seed), ranks)


def told(
    structure: Structure,
    level: int,
    limit: int,
    known: NamespaceGraph,
    view: View,
    shows: Callable[[Records], BoolArray],
    words_of: Callable[[Memory], Terms],
    cache: MutableMapping[str, Summary],
) -> Communities:
    """Return the largest communities of a level, with summaries.

    Parameters
    ----------
    structure, known
        The communities, and who their nodes are.
    level, limit
        Which level, and how many communities of it at most.
    view, shows
        An open view of the namespace, and which memories may be seen in it.
    words_of
        Reads the words of a memory.
    cache
        Where summaries are kept by membership.
    """
    chosen = structure.levels[level]
    seen = _seen(structure.graph.nodes, known, view, shows)
    everyone = (members[seen[members]] for members in chosen.members())
    groups = [members for members in everyone if members.size > 1]
    groups.sort(key=lambda members: (-members.size, int(members[0])))
    shown = [_Members.of(members, structure.ranks, known, view) for members in groups[:limit]]
    memories = {memory.id: memory for each in shown for memory in each.memories}
    read = {id_: words_of(memory).get("content", {}) for id_, memory in memories.items()}
    # A bare number says little about a group, and there are many different ones.
    terms = {
        id_: {term: times for term, times in found.items() if not term.isdecimal()}
        for id_, found in read.items()
    }
    vocabulary = sorted({term for found in terms.values() for term in found})
    summariser = StatisticalSummariser(_Frequencies(*view.document_frequencies(vocabulary)))
    answered = tuple(
        Group(tuple(memory.id for memory in each.memories), tuple(each.entities), summary)
        for each in shown
        for summary in summarised([each.community(terms, readable=True)], summariser, cache)
    )
    return Communities(level, len(groups), chosen.modularity, chosen.converged, answered)


def summaries(
    known: NamespaceGraph, view: View, now: float, words_of: Callable[[Memory], Terms]
) -> list[tuple[IntArray, Summary]]:
    """Return the memories of every community of the finest level that has any, each with its summary.

    Parameters
    ----------
    known
        The graph.
    view, now
        An open view of the namespace, and its moment.
    words_of
        Reads the words of a memory.
    """
    structure = Structure.of(known.graph, known.both_ways, 0)
    seen = _seen(structure.graph.nodes, known, view, lambda records: visible(records, now))
    everyone = (members[seen[members]] for members in structure.levels[0].members())
    groups = [each for each in everyone if each.size > 1 and (known.slots_of(each) >= 0).any()]
    shown = [_Members.of(members, structure.ranks, known, view) for members in groups]
    memories = [memory for each in shown for memory in each.memories]
    terms = {memory.id: dict(words_of(memory).get("content", {})) for memory in memories}
    vocabulary = sorted({term for found in terms.values() for term in found})
    summariser = StatisticalSummariser(_Frequencies(*view.document_frequencies(vocabulary)))
    slots = (known.slots_of(members) for members in groups)
    return [
        (own[own >= 0], summariser.summarise(each.community(terms)))
        for own, each in zip(slots, shown, strict=True)
    ]


def _seen(nodes: int, known: NamespaceGraph, view: View, shows: Callable[[Records], BoolArray]) -> BoolArray:
    """Return which nodes are entities or memories that may be seen; what was superseded may not."""
    slots = known.slots_of(np.arange(nodes))
    seen = slots < 0
    seen[~seen] = shows(view.records(slots[~seen]))
    return seen


@dataclass(frozen=True, slots=True)
class _Frequencies:
    document_count: int
    frequencies: Mapping[str, int]

    def document_frequency(self, term: str) -> int:
        return self.frequencies[term]


@dataclass(frozen=True, slots=True)
class _Members:
    """The memories and entities of a community, the most central first."""

    memories: list[Memory]
    entities: dict[str, float]

    @classmethod
    def of(cls, nodes: IntArray, ranks: FloatArray, known: NamespaceGraph, view: View) -> _Members:
        order = nodes[np.argsort(-ranks[nodes], kind="stable")]
        slots = known.slots_of(order)
        said = slots[slots >= 0]
        memories = [
            memory
            for start in range(0, said.size, _AT_ONCE)
            for memory in view.memories(said[start : start + _AT_ONCE])
        ]
        names = {known.name_of(node): float(ranks[node]) for node in order[slots < 0].tolist()}
        return cls(memories, {name: rank for name, rank in names.items() if name is not None})

    def community(self, terms: Mapping[str, Mapping[str, int]], *, readable: bool = False) -> Community:
        members = [
            Member(
                memory.id,
                terms[memory.id],
                memory.event_time,
                written(terms[memory.id], memory.content) if readable else {},
            )
            for memory in self.memories
        ]
        return Community(members, self.entities)
