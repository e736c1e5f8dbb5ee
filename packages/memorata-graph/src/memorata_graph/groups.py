"""The communities of a namespace, with their summaries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import EmbeddingServiceError
from memorata.extend.graph import STOP_WORD_LANGUAGES, NamespaceIndex, Records, Terms, negations, stop_words
from memorata.extend.model import BoolArray, IntArray, Memory
from memorata_graph.adjacency import Adjacency
from memorata_graph.communities import Level, communities, leiden
from memorata_graph.lookup import memories_at
from memorata_graph.namespace_graph import NamespaceGraph
from memorata_graph.results import Communities, Group
from memorata_graph.summaries import Community, Member, StatisticalSummariser, Summary, summarised

if TYPE_CHECKING:
    from memorata.extend.graph import Writer as SummaryWriter


LEVELS: Final = 3
METHODS: Final = ("propagation", "leiden")
_MAX_STRUCTURES: Final = 16
_MAX_MEMORIES_READ: Final = 40
"""How many memories of a community a language model reads, the most central ones."""
_SUMMARY_SENTENCES: Final = 3
_MIN_MEMBERS: Final = 2
"""How many memories of a community must have a term that is named as what it is about."""
_MIN_SHARE: Final = 0.5
"""How many of all memories that have such a term must be in the community."""


@frozen
class Partitioning:
    """How communities are found: by which method, and with which of its settings."""

    method: str = "propagation"
    levels: int = LEVELS
    iterations: int = 100
    resolution: float = 1.0
    seed: int = 0

    def levels_of(self, graph: Adjacency) -> tuple[Level, ...]:
        """Return the communities of a graph; those of Leiden have one level."""
        if self.method == "propagation":
            return communities(
                graph,
                levels=self.levels,
                rounds=self.iterations,
                resolution=self.resolution,
                seed=self.seed,
            )
        hierarchy = leiden(graph, resolution=self.resolution, iterations=self.iterations, seed=self.seed)
        return (Level(hierarchy.labels, hierarchy.modularity, self.iterations, converged=True),)


@frozen(eq=False)
class Structure:
    """What is computed once for a graph: its communities, level by level, and how central each node is."""

    graph: NamespaceGraph
    partitioning: Partitioning
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, graph: NamespaceGraph, partitioning: Partitioning) -> Structure:
        """Return the structure of a graph."""
        return cls(graph, partitioning, partitioning.levels_of(graph.graph))

    def groups(self, level: int, visible: BoolArray) -> list[IntArray]:
        """Return the communities of a level with two members that may be seen, given for each if it may."""
        communities = (members[visible[members]] for members in self.levels[level].members())
        return [members for members in communities if members.size > 1]


def structure_of(graph: NamespaceGraph, partitioning: Partitioning) -> Structure:
    """Return the structure of a graph, which is kept with it."""
    kept: dict[Partitioning, Structure] = graph.once("structures", dict)
    if partitioning not in kept:
        if len(kept) >= _MAX_STRUCTURES:
            kept.clear()
        kept[partitioning] = Structure.of(graph, partitioning)
    return kept[partitioning]


@frozen(eq=False)
class Selection:
    """The largest communities of a level, with their memories: all that is read from the store for them."""

    level: Level
    number: int
    count: int
    largest: list[_Members]

    @classmethod
    def of(
        cls,
        structure: Structure,
        level: int,
        limit: int,
        view: NamespaceIndex,
        shows: Callable[[Records], BoolArray],
    ) -> Selection:
        """Return so many communities of a level, of what may be seen."""
        visible = np.ones(structure.graph.graph.nodes, np.bool_)
        memories = structure.graph.memories
        visible[: memories.size] = shows(view.records(memories))
        groups = structure.groups(level, visible)
        groups.sort(key=lambda members: (-members.size, int(members[0])))
        largest = [_Members.of(members, structure.graph, view) for members in groups[:limit]]
        return cls(structure.levels[level], level, len(groups), largest)


def summarised_by_statistics(
    selection: Selection,
    terms_of: Callable[[Memory], Terms],
    frequencies_of: Callable[[list[str]], tuple[int, dict[str, int]]],
    cache: MutableMapping[str, Summary],
    method: str = "propagation",
) -> Communities:
    """Return communities with summaries; of the store only the frequencies of terms are read."""
    # A bare number says little about a group, and there are many different ones.
    terms = {
        id_: {term: times for term, times in counts.items() if not term.isdecimal()}
        for id_, counts in _terms(selection.largest, terms_of).items()
    }
    summariser = StatisticalSummariser(
        _Frequencies(*frequencies_of(_vocabulary(terms))),
        least_members=_MIN_MEMBERS,
        least_share=_MIN_SHARE,
        unnamed=_function_words(),
    )
    communities = [members.community(terms, readable=True) for members in selection.largest]
    groups = tuple(
        Group(tuple(memory.id for memory in members.memories), tuple(members.entities), summary)
        for members, summary in zip(
            selection.largest, summarised(communities, summariser, cache), strict=True
        )
    )
    level = selection.level
    return Communities(selection.number, selection.count, level.modularity, level.converged, groups, method)


@cache
def _function_words() -> frozenset[str]:
    """Return the words of every language that build sentences and say nothing about what they are about."""
    lists = (stop_words, negations)
    return frozenset(word for language in STOP_WORD_LANGUAGES for words in lists for word in words(language))


def written_by(
    communities: Communities, selection: Selection, writer: SummaryWriter, cache: MutableMapping[str, str]
) -> Communities:
    """Return communities with what a language model writes; one that fails is not asked for the rest."""
    groups = []
    failure = ""
    for group, members in zip(communities.groups, selection.largest, strict=True):
        key = f"{writer.name} {group.summary.key}"
        if key not in cache and not failure and members.memories:
            try:
                cache[key] = writer.write(members.memories[:_MAX_MEMORIES_READ], _SUMMARY_SENTENCES)
            except EmbeddingServiceError as error:
                failure = str(error)
        text = cache.get(key, "")
        groups.append(replace(group, written=text, written_by=writer.name if text else ""))
    return replace(communities, groups=tuple(groups), failure=failure)


def summaries(
    graph: NamespaceGraph, view: NamespaceIndex, terms_of: Callable[[Memory], Terms]
) -> list[tuple[IntArray, Summary]]:
    """Return the memories of every community of the finest level that has any, each with its summary."""
    visible = np.ones(graph.graph.nodes, np.bool_)
    visible[: graph.memories.size] = np.isin(graph.memories, view.without(graph.memories, ()))
    found = structure_of(graph, Partitioning()).groups(0, visible)
    groups = [(members, graph.slots_of(members)) for members in found]
    groups = [(members, slots[slots >= 0]) for members, slots in groups if (slots >= 0).any()]
    largest = [_Members.of(members, graph, view) for members, _ in groups]
    terms = _terms(largest, terms_of)
    summariser = StatisticalSummariser(_Frequencies(*view.document_frequencies(_vocabulary(terms))))
    return [
        (slots, summariser.summarise(members.community(terms)))
        for (_, slots), members in zip(groups, largest, strict=True)
    ]


def _terms(
    communities: Iterable[_Members], terms_of: Callable[[Memory], Terms]
) -> dict[str, Mapping[str, int]]:
    """Return the terms of the contents of all memories, by id."""
    memories = {memory.id: memory for members in communities for memory in members.memories}
    return {id_: terms_of(memory).get("content", {}) for id_, memory in memories.items()}


def _vocabulary(terms: Mapping[str, Mapping[str, int]]) -> list[str]:
    return sorted({term for counts in terms.values() for term in counts})


@frozen
class _Frequencies:
    document_count: int
    frequencies: Mapping[str, int]

    def document_frequency(self, term: str) -> int:
        # What was just there may have been removed before it was counted.
        return max(1, self.frequencies[term])


@frozen
class _Members:
    """The memories and entities of a community, the most central first."""

    memories: list[Memory]
    entities: dict[str, float]

    @classmethod
    def of(cls, members: IntArray, graph: NamespaceGraph, view: NamespaceIndex) -> _Members:
        nodes = members[np.argsort(-graph.ranks[members], kind="stable")]
        slots = graph.slots_of(nodes)
        central = nodes[slots < 0]
        ranks = graph.ranks[central].tolist()
        entities = {
            graph.name_of(node) or "": rank for node, rank in zip(central.tolist(), ranks, strict=True)
        }
        return cls(memories_at(view, slots[slots >= 0]), entities)

    def community(self, terms: Mapping[str, Mapping[str, int]], *, readable: bool = False) -> Community:
        members = [
            Member(
                memory.id,
                terms[memory.id],
                memory.event_time,
                written(terms[memory.id], memory.content) if readable else {},
                f"{memory.namespace} {memory.fingerprint} {memory.event_time.isoformat()}",
            )
            for memory in self.memories
        ]
        return Community(members, self.entities)


_WORD: Final = re.compile(r"[^\W_]+")


def written(terms: Iterable[str], content: str) -> dict[str, str]:
    """Return the word of a text that each of its terms stands for: the most frequent, then the shortest."""
    counts = Counter(_WORD.findall(content))
    exact = {term: term for term in terms}
    shorter = {term[:-1]: term for term in terms if len(term) > 1}
    words: dict[str, list[str]] = {}
    for word in counts:
        term = _longest(word.lower(), exact) or _longest(word.lower(), shorter)
        if term:
            words.setdefault(term, []).append(word)
    return {
        term: min(words[term], key=lambda word: (-counts[word], len(word), word))
        for term in exact
        if term in words
    }


def _longest(word: str, beginnings: Mapping[str, str]) -> str:
    """Return what the longest beginning of a word stands for; nothing if it has none of them."""
    ends = range(len(word), 0, -1)
    return next((beginnings[word[:end]] for end in ends if word[:end] in beginnings), "")
