"""The communities of a namespace, and what each of them is about.

The statistical summary names the terms with the highest TF-IDF (Spärck Jones, 1972), the entities with the
highest PageRank, the counts, the time span, and the memory that is most like the whole. Summaries are cached
by a hash of the membership, so a community that has not changed is not summarised again.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Final

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import EmbeddingServiceError
from memorata.extend.graph import STOP_WORD_LANGUAGES, NamespaceIndex, Terms, Writer, negations, stop_words
from memorata.extend.model import BoolArray, IntArray, Memory
from memorata_graph.communities import Level, communities, leiden
from memorata_graph.lookup import memories_at
from memorata_graph.namespace_graph import NamespaceGraph
from memorata_graph.results import Communities, Group, Summary

LEVELS: Final = 3
METHODS: Final = ("propagation", "leiden")
_MAX_PARTITIONINGS: Final = 16
"""How many ways to find communities are kept with a graph."""
_MAX_MEMORIES_READ: Final = 40
"""How many memories of a community a language model reads, the most central ones."""
_SUMMARY_SENTENCES: Final = 3
_MIN_MEMBERS: Final = 2
"""How many memories of a community must have a term that is named: one of many is not what they are about."""
_MIN_SHARE: Final = 0.5
"""How many of all memories with such a term must be in the community: it tells this one from others."""
_MAX_TERMS: Final = 8
_MAX_ENTITIES: Final = 5
_WORD: Final = re.compile(r"[^\W_]+")


@frozen
class Partitioning:
    """How communities are found: by which method, and with which of its settings."""

    method: str = "propagation"
    levels: int = LEVELS
    iterations: int = 100
    resolution: float = 1.0
    seed: int = 0

    def levels_of(self, graph: NamespaceGraph) -> tuple[Level, ...]:
        """Return the communities of a graph, which are kept with it; those of Leiden have one level."""
        kept: dict[Partitioning, tuple[Level, ...]] = graph.once("levels", dict)
        if self not in kept:
            if len(kept) >= _MAX_PARTITIONINGS:
                kept.clear()
            if self.method == "propagation":
                how = {"levels": self.levels, "rounds": self.iterations, "seed": self.seed}
                kept[self] = communities(graph.graph, resolution=self.resolution, **how)
            else:
                how = {"iterations": self.iterations, "seed": self.seed}
                found = leiden(graph.graph, resolution=self.resolution, **how)
                kept[self] = (Level(found.labels, found.modularity, self.iterations, converged=True),)
        return kept[self]


@frozen(eq=False)
class Members:
    """The memories and entities of a community, the most central first, with the entities' PageRank."""

    memories: Sequence[Memory]
    entities: Mapping[str, float]

    @property
    def key(self) -> str:
        """The hash of the members: memories by whose they are, their words and times, entities by name."""
        digest = hashlib.sha256()
        parts = {
            ("m", memory.id, f"{memory.namespace} {memory.fingerprint} {memory.event_time.isoformat()}")
            for memory in self.memories
        } | {("e", name) for name in self.entities}
        for part in sorted(parts):
            for name in part:
                # The length in front tells ["ab", "c"] from ["a", "bc"].
                encoded = name.encode("utf-8", "surrogatepass")
                digest.update(f"{len(encoded)}:".encode() + encoded)
        return digest.hexdigest()


def groups_of(level: Level, visible: BoolArray) -> list[IntArray]:
    """Return the communities of a level that have two visible members, of each these."""
    groups = (members[visible[members]] for members in level.members())
    return [members for members in groups if members.size > 1]


def members_of(graph: NamespaceGraph, group: IntArray, view: NamespaceIndex) -> Members:
    """Return the memories and entities of a community."""
    nodes = group[np.argsort(-graph.ranks[group], kind="stable")]
    slots = graph.slots_of(nodes)
    central = nodes[slots < 0]
    names = [graph.name_of(node) or "" for node in central.tolist()]
    return Members(
        memories_at(view, slots[slots >= 0]), dict(zip(names, graph.ranks[central].tolist(), strict=True))
    )


def summaries(
    largest: Sequence[Members],
    terms_of: Callable[[Memory], Terms],
    frequencies_of: Callable[[list[str]], tuple[int, Mapping[str, int]]],
    cache: MutableMapping[str, Summary] | None = None,
) -> list[Summary]:
    """Return the summaries of communities, from the cache where their members have been summarised before.

    Without a cache they are keywords for a search: terms as they are indexed, and all of them.
    """
    memories = {memory.id: memory for members in largest for memory in members.memories}
    terms = {id_: terms_of(memory).get("content", {}) for id_, memory in memories.items()}
    if cache is not None:
        # A bare number says little about a group, and there are many different ones.
        terms = {id_: {t: n for t, n in own.items() if not t.isdecimal()} for id_, own in terms.items()}
    total, frequencies = frequencies_of(sorted({term for own in terms.values() for term in own}))
    found = []
    for members in largest:
        key = members.key
        summary = None if cache is None else cache.get(key)
        if summary is None:
            summary = summarised(members, terms, total, frequencies, readable=cache is not None)
        if cache is not None:
            cache[key] = summary
        found.append(summary)
    return found


def summarised(
    members: Members,
    terms: Mapping[str, Mapping[str, int]],
    total: int,
    frequencies: Mapping[str, int],
    *,
    readable: bool,
) -> Summary:
    """Return the terms, entities, counts, time span and representative memory of a community.

    A term weighs ``tf / length · ln(N / df)``, with the whole community as one text; terms that every memory
    has weigh nothing and are not named. The representative memory is the one whose TF-IDF vector has the
    largest cosine with the community's. Ties go by the alphabet, for memories by their order. In a readable
    summary a term must be distinctive, and is written as most of the memories that have it write it.
    """
    own = [terms[memory.id] for memory in members.memories]
    counts = Counter[str]()
    for each in own:
        counts.update(each)
    # What was just there may have been removed before it was counted.
    idf = {term: math.log(total / max(1, frequencies[term])) for term in counts}
    weights = _weights(counts, idf)
    within = Counter(term for each in own for term in each)
    chosen = [term for term, weight in weights.items() if weight > 0]
    if readable:
        least = min(_MIN_MEMBERS, len(own))
        chosen = [t for t in chosen if within[t] >= max(least, _MIN_SHARE * max(1, frequencies[t]))]
    chosen.sort(key=lambda term: (-weights[term], term))
    words = _surface_forms(chosen, own, members.memories) if readable else chosen
    unnamed = _function_words() if readable else frozenset()
    named = tuple(word for word in words if word.lower() not in unnamed)[:_MAX_TERMS]
    ranked = sorted(members.entities, key=lambda name: (-members.entities[name], name))
    around = tuple(ranked[:_MAX_ENTITIES])
    times = [memory.event_time for memory in members.memories]
    since, until = min(times, default=None), max(times, default=None)
    return Summary(
        key=members.key,
        text=_sentence(members, named, around, since, until),
        terms=named,
        entities=around,
        memory_count=len(members.memories),
        entity_count=len(members.entities),
        since=since,
        until=until,
        representative=_representative(members.memories, own, weights, idf),
    )


def written_by(
    found: Communities, largest: Sequence[Members], writer: Writer, cache: MutableMapping[str, str]
) -> Communities:
    """Return communities with what a language model writes; one that fails is not asked for the rest."""
    groups: list[Group] = []
    failure = ""
    for group, members in zip(found.groups, largest, strict=True):
        key = f"{writer.name} {group.summary.key}"
        if key not in cache and not failure and members.memories:
            try:
                cache[key] = writer.write(members.memories[:_MAX_MEMORIES_READ], _SUMMARY_SENTENCES)
            except EmbeddingServiceError as error:
                failure = str(error)
        text = cache.get(key, "")
        groups.append(replace(group, written=text, written_by=writer.name if text else ""))
    return replace(found, groups=tuple(groups), failure=failure)


@cache
def _function_words() -> frozenset[str]:
    """Return the words of every language that build sentences and say nothing about what they are about."""
    lists = (stop_words, negations)
    return frozenset(word for language in STOP_WORD_LANGUAGES for words in lists for word in words(language))


def _weights(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    length = sum(counts.values())
    return {term: times / length * idf[term] for term, times in counts.items()}


def _representative(
    memories: Sequence[Memory],
    own: Sequence[Mapping[str, int]],
    weights: Mapping[str, float],
    idf: Mapping[str, float],
) -> str | None:
    """Return the id of the memory nearest to the whole; the first of equals."""
    best, best_cosine = None, -1.0
    for memory, counts in zip(memories, own, strict=True):
        vector = _weights(counts, idf)
        size = math.hypot(*vector.values())
        # The community's own length is the same for all, so it cannot change which is nearest.
        cosine = sum(weight * weights[term] for term, weight in vector.items()) / size if size else 0.0
        if cosine > best_cosine:
            best, best_cosine = memory.id, cosine
    return best


def _sentence(
    members: Members,
    terms: Sequence[str],
    entities: Sequence[str],
    since: datetime | None,
    until: datetime | None,
) -> str:
    memories = _counted(len(members.memories), "memory", "memories")
    text = f"{memories} and {_counted(len(members.entities), 'entity', 'entities')}"
    if since and until:
        first, last = since.date().isoformat(), until.date().isoformat()
        text += f", {first}" if first == last else f", {first} to {last}"
    text += "."
    text += f" About: {', '.join(terms)}." if terms else ""
    return text + (f" Around: {', '.join(entities)}." if entities else "")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _surface_forms(
    terms: Sequence[str], own: Sequence[Mapping[str, int]], memories: Sequence[Memory]
) -> list[str]:
    """Return the terms as most memories write them, in the first one's way where as many do."""
    ways: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for counts, memory in zip(own, memories, strict=True):
        for term, word in written(counts, memory.content).items():
            if term in ways:
                ways[term][word] += 1
    return [ways[term].most_common(1)[0][0] if ways[term] else term for term in terms]


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
