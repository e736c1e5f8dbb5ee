"""Summaries: what a community is about.

The statistical summary names the terms with the highest TF-IDF (Spärck Jones, 1972), the entities with the
highest PageRank, the counts, the time span, and the memory that is most like the whole. Summaries are cached
by a hash of the membership, so a community that has not changed is not summarised again.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Protocol

from memorata.extend import frozen


@frozen
class Member:
    """A memory of a community, as far as a summary needs it."""

    id: str
    terms: Mapping[str, int]
    """How often each term occurs in it."""
    at: datetime | None = None
    """When it happened, or was learnt."""
    written: Mapping[str, str] = field(default_factory=dict)
    """How terms are written in it, where they are no words themselves, as stems are not."""
    version: str = ""
    """What tells it from another memory of this id: whose it is, what it says, when that was."""


@frozen
class Community:
    """The memories and entities that hang together."""

    members: Sequence[Member]
    entities: Mapping[str, float] = field(default_factory=dict)
    """The PageRank of each entity, by name."""

    @property
    def key(self) -> str:
        """The hash of its members: memories by id and version, entities by name, in any order."""
        digest = hashlib.sha256()
        memories = {(member.id, member.version) for member in self.members}
        for kind, parts in (("m", memories), ("e", {(name,) for name in self.entities})):
            for part in sorted(parts):
                for name in part:
                    # The length in front tells ["ab", "c"] from ["a", "bc"].
                    encoded = name.encode("utf-8", "surrogatepass")
                    digest.update(f"{kind}{len(encoded)}:".encode() + encoded)
        return digest.hexdigest()


@frozen
class Summary:
    """What a community is about."""

    key: str
    """The community's."""
    text: str
    """One or a few sentences for people."""
    terms: tuple[str, ...]
    entities: tuple[str, ...]
    memory_count: int
    entity_count: int
    since: datetime | None
    until: datetime | None
    representative: str | None
    """The id of the memory that is most like the whole; None when there is none."""


class TermStatistics(Protocol):
    """How common terms are among all memories."""

    @property
    def document_count(self) -> int:
        """How many memories there are."""

    def document_frequency(self, term: str) -> int:
        """Return in how many of them `term` occurs."""


@frozen
class StatisticalSummariser:
    """Summarises by counting.

    Parameters
    ----------
    statistics
        How common terms are among all memories, not those of one community only.
    term_limit, entity_limit
        The most terms and entities to name.
    least_members
        In how many memories a term must be to be named: what one of many says is not what they are about.
    least_share
        How much of all memories that have a term must be in the community for it to be named: a term that is
        as frequent elsewhere does not tell this community from others.
    unnamed
        Words, in small letters, that are never named: those that build sentences.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> common = SimpleNamespace(document_count=4, document_frequency=lambda term: {"the": 4}.get(term, 2))
    >>> members = [Member("m1", {"the": 3, "tea": 2}), Member("m2", {"the": 1})]
    >>> tea = Community(members, {"Bo": 0.1, "Anna": 0.2})
    >>> summary = StatisticalSummariser(common).summarise(tea)
    >>> summary.terms, summary.entities, summary.representative
    (('tea',), ('Anna', 'Bo'), 'm1')
    >>> summary.text
    '2 memories and 2 entities. About: tea. Around: Anna, Bo.'
    """

    statistics: TermStatistics
    term_limit: int = 8
    entity_limit: int = 5
    least_members: int = 1
    least_share: float = 0.0
    unnamed: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """What its summaries are kept under."""
        limits = f"{self.least_members}-{self.least_share}-{len(self.unnamed)}"
        return f"statistical-{self.term_limit}-{self.entity_limit}-{limits}"

    def summarise(self, community: Community) -> Summary:
        """Return the terms, entities, counts, time span and representative memory of a community.

        A term weighs ``tf / length · ln(N / df)``, with the whole community as one text; terms that every
        memory has weigh nothing and are not named. The representative memory is the one whose TF-IDF vector
        has the largest cosine with the community's. Ties go by the alphabet, for memories by their order.
        A term is named if it is distinctive, see `least_members` and `least_share`.
        Terms are named as most of the memories that have them write them.
        """
        counts: Counter[str] = Counter()
        for member in community.members:
            counts.update(member.terms)
        total, frequency = self.statistics.document_count, self.statistics.document_frequency
        idf = {term: math.log(total / frequency(term)) for term in counts}
        community_weights = _weights(counts, idf)
        within = Counter(term for member in community.members for term in member.terms)
        min_members = min(self.least_members, len(community.members))
        distinctive = (
            term
            for term in community_weights
            if community_weights[term] > 0
            and within[term] >= min_members
            and within[term] >= self.least_share * frequency(term)
        )
        terms = sorted(distinctive, key=lambda term: (-community_weights[term], term))
        ranked = sorted(community.entities, key=lambda name: (-community.entities[name], name))
        words = _surface_forms(terms, community.members)
        shown_terms = tuple(word for word in words if word.lower() not in self.unnamed)[: self.term_limit]
        around = tuple(ranked[: self.entity_limit])
        times = [member.at for member in community.members if member.at is not None]
        since, until = min(times, default=None), max(times, default=None)
        return Summary(
            key=community.key,
            text=_sentence(community, shown_terms, around, since, until),
            terms=shown_terms,
            entities=around,
            memory_count=len(community.members),
            entity_count=len(community.entities),
            since=since,
            until=until,
            representative=_representative(community.members, community_weights, idf),
        )


def summarised(
    communities: Iterable[Community], summariser: StatisticalSummariser, cache: MutableMapping[str, Summary]
) -> tuple[Summary, ...]:
    """Return a summary for each community, from `cache` where its membership has been summarised before.

    The keys of the cache are the summariser's name and the membership's hash. What no longer belongs to any
    community is for the caller to remove.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> common = SimpleNamespace(document_count=4, document_frequency=lambda term: 2)
    >>> cache = {}
    >>> for _ in range(2):
    ...     first, = summarised([Community([Member("m1", {"tea": 1})])], StatisticalSummariser(common), cache)
    >>> first.terms, len(cache)
    (('tea',), 1)
    """
    summaries = []
    for community in communities:
        key = f"{summariser.name}:{community.key}"
        if key not in cache:
            cache[key] = summariser.summarise(community)
        summaries.append(cache[key])
    return tuple(summaries)


def _weights(counts: Mapping[str, int], idf: Mapping[str, float]) -> dict[str, float]:
    length = sum(counts.values())
    return {term: times / length * idf[term] for term, times in counts.items()}


def _surface_forms(terms: Sequence[str], members: Sequence[Member]) -> tuple[str, ...]:
    """Return the terms as most members write them, in the first one's way where as many do."""
    ways: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for member in members:
        for term in ways.keys() & member.written.keys():
            ways[term][member.written[term]] += 1
    return tuple(ways[term].most_common(1)[0][0] if ways[term] else term for term in terms)


def _representative(
    members: Sequence[Member], community_weights: Mapping[str, float], idf: Mapping[str, float]
) -> str | None:
    """Return the id of the memory nearest to the whole; the first of equals."""
    best, best_cosine = None, -1.0
    for member in members:
        own = _weights(member.terms, idf)
        size = math.hypot(*own.values())
        # The community's own length is the same for all, so it cannot change which is nearest.
        cosine = sum(weight * community_weights[term] for term, weight in own.items()) / size if size else 0.0
        if cosine > best_cosine:
            best, best_cosine = member.id, cosine
    return best


def _sentence(
    community: Community,
    terms: Sequence[str],
    entities: Sequence[str],
    since: datetime | None,
    until: datetime | None,
) -> str:
    memories = _counted(len(community.members), "memory", "memories")
    text = f"{memories} and {_counted(len(community.entities), 'entity', 'entities')}"
    if since and until:
        first, last = since.date().isoformat(), until.date().isoformat()
        text += f", {first}" if first == last else f", {first} to {last}"
    text += "."
    text += f" About: {', '.join(terms)}." if terms else ""
    return text + (f" Around: {', '.join(entities)}." if entities else "")


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
