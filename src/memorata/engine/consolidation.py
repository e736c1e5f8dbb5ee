"""Consolidation: one lasting memory of many passing ones.

Episodes on one theme become a proposed summary, as sleep is thought to make knowledge of episodes
(McClelland, McNaughton and O'Reilly, 1995). A proposal is a memory that is hidden until it is accepted;
the memories that it was made from stay as they are, and it names them.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Protocol, runtime_checkable

import numpy as np

from memorata._frozen import frozen
from memorata.engine.embedding import CurrentEmbedder
from memorata.engine.rules import DedupeMode
from memorata.engine.runtime import Runtime
from memorata.engine.write.purge import SUMMARY_OF, made_from_others, sources_of
from memorata.engine.write.writer import Writer as MemoryWriter
from memorata.index.codes import Floats
from memorata.index.record import TIERS, visible
from memorata.index.search import NamespaceIndex
from memorata.model.checks import FloatArray, IntArray, memory_id
from memorata.model.errors import EmbeddingServiceError, InvalidArgument
from memorata.model.memory import Memory, Tier
from memorata.rank.diversity import mmr
from memorata.text.language import LANGUAGE_CODES, detect, familiarity
from memorata.text.tokens import folded, sentences

STATE: Final = "proposal"
"""The key of the metadata in which a summary says what became of it."""
STATES: Final = ("open", "accepted", "rejected")
WORK: Final = "maintain"
"""The kind of work that this is: one worker at a time does it to a namespace."""
_MAX_EPISODES: Final = 5_000
"""How many episodes are looked at in one run, the oldest first."""
_MAX_SOURCES: Final = 50
_PAGE_SIZE: Final = 500
_DAY: Final = 86_400.0
_LOG: Final = logging.getLogger(__name__)


@frozen
class Proposal:
    """A summary that could stand for several memories, and the ids of those."""

    summary: Memory
    sources: tuple[str, ...]


class Consolidation:
    """Groups episodes by theme, proposes summaries of them, and decides about the proposals."""

    def __init__(self, runtime: Runtime, embedding: CurrentEmbedder, writer: MemoryWriter) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._embedding = embedding
        self._writer = writer

    def run(self, path: str, *, dry_run: bool, writer: Writer | None) -> tuple[Proposal, ...]:
        """Propose summaries of the themes of a namespace; see :meth:`Lifecycle.consolidate`."""
        if writer is not None and not isinstance(writer, Writer):
            raise InvalidArgument("writer", writer, "an object with a name and write")
        now = self._runtime.clock()
        if dry_run:
            return tuple(
                Proposal(self._summary(group, writer, path), tuple(memory.id for memory in group))
                for group in self._runtime.run([path], lambda: self._themes(path, now))
            )
        proposals = []
        with self._runtime.leases.hold(WORK, path) as lease:
            for group in self._runtime.run([path], lambda: self._themes(path, now)):
                # A language model may take its time.
                lease.renew()
                draft = self._summary(group, writer, path)
                with self._embedding.before([draft]), self._store.together():
                    (draft,) = self._writer.add_items([draft], path, DedupeMode.OFF, verbatim=True)
                    self._store.forget(path, [draft.id], now)
                proposals.append(Proposal(draft, tuple(memory.id for memory in group)))
        return tuple(proposals)

    def summaries(self, path: str, state: str) -> tuple[Proposal, ...]:
        """Return the summaries in a state; see :meth:`Lifecycle.summaries`."""
        summaries = [
            summary
            for summary in made_from_others(self._store, path, SUMMARY_OF)
            if summary.metadata.get(STATE) == state and sources_of(summary)
        ]
        return tuple(
            Proposal(summary, tuple(summary.metadata[SUMMARY_OF])) for summary in reversed(summaries)
        )

    def decide(self, path: str, ids: Sequence[str], state: str) -> None:
        """Accept or reject proposed summaries."""
        now = self._runtime.clock()

        def decide() -> None:
            with self._store.together():
                for id_ in ids:
                    (summary,) = self._store.get(path, [memory_id("id", id_)])
                    if summary.metadata.get(STATE) not in STATES:
                        raise InvalidArgument(
                            "id", id_, "that of a proposed summary, as summaries lists them"
                        )
                    self._writer.update(path, id_, {"metadata": {**summary.metadata, STATE: state}})
                    if state == "accepted":
                        self._store.restore(path, [id_])
                    else:
                        self._store.forget(path, [id_], now)

        self._runtime.run([path], decide)

    def _themes(self, path: str, now: datetime) -> list[list[Memory]]:
        """Return groups of episodes on one theme, each in the order in which it happened."""
        summarised = {
            source
            for summary in made_from_others(self._store, path, SUMMARY_OF)
            for source in sources_of(summary)
        }
        with self._store.view(path, now) as view:
            episodes, vectors = self._episodes(view, path, now, summarised)
        # The speaker is an entity of every turn.
        names = [
            frozenset(map(folded, memory.entities)) - {folded(memory.source.speaker)} for memory in episodes
        ]
        meaning = self._embedding.meaning()
        if meaning.languages:
            # A model finds all texts alike whose language it does not know.
            is_understood = [_knows(meaning.languages, memory.content) for memory in episodes]
            vectors = vectors * np.array(is_understood, np.float32)[:, None]
        groups = themes(vectors, names, meaning.threshold, self._runtime.rules.summary_sources)
        return [
            sorted(
                (episodes[position] for position in group.tolist()),
                key=lambda memory: (memory.event_time, memory.id),
            )[:_MAX_SOURCES]
            for group in groups
        ]

    def _episodes(
        self, view: NamespaceIndex, path: str, now: datetime, summarised: set[str]
    ) -> tuple[list[Memory], Floats]:
        slots = np.arange(view.records().size)
        records = view.records(slots)
        old = records["created"] <= now.timestamp() - self._runtime.rules.summary_days * _DAY
        episodic = records["tier"] == TIERS.index(Tier.EPISODIC.value)
        candidates = slots[visible(records, now.timestamp()) & old & episodic]
        episodes: list[Memory] = []
        episode_slots: list[int] = []
        for start in range(0, candidates.size, _PAGE_SIZE):
            page = candidates[start : start + _PAGE_SIZE]
            for slot, memory in zip(page.tolist(), view.memories(page), strict=True):
                if memory.id not in summarised and len(episodes) < _MAX_EPISODES:
                    episodes.append(memory)
                    episode_slots.append(slot)
        return episodes, view.vectors(np.array(episode_slots, np.intp))

    def _frequencies(self, path: str, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        with self._store.view(path, self._runtime.clock()) as view:
            return view.document_frequencies(words)

    def _summary(self, group: Sequence[Memory], writer: Writer | None, path: str) -> Memory:
        plain = SentenceWriter(self._runtime.analyser.tokens, partial(self._frequencies, path))
        by = writer or plain
        try:
            text = by.write(group, self._runtime.rules.summary_sentences)
        except EmbeddingServiceError as error:
            _LOG.warning("a summary in %s is made of sentences: %s", path, error)
            by, text = plain, plain.write(group, self._runtime.rules.summary_sentences)
        details = {
            "category": "summary",
            "tier": Tier.SEMANTIC,
            "confidence": min(memory.confidence for memory in group),
            "importance": max(memory.importance for memory in group),
            "untrusted": any(memory.untrusted for memory in group),
            "valid_from": min(memory.event_time for memory in group),
            "metadata": {
                SUMMARY_OF: [memory.id for memory in group],
                "summarised_by": by.name,
                STATE: "open",
            },
        }
        return self._writer.drafts.draft(headed(group, text), path, details)


def _knows(languages: Sequence[str], text: str) -> bool:
    """Return whether a model of these languages, by their codes, was made for the language of a text."""
    code = LANGUAGE_CODES.get(detect(text))
    return familiarity(text, languages) > _MIN_FAMILIARITY if code is None else code in languages


_MIN_FAMILIARITY: Final = 0.5
MIN_COHESION: Final = 0.4
"""The least mean tie of the memories of a theme, from 0 to 1."""
_MAX_NAME_TIE: Final = 0.6
_MIN_MEMORIES_FOR_QUANTILE: Final = 30
"""From how many memories on their usual likeness is known."""
_MAX_COMPARED: Final = 1_000
"""How many of them are compared for it."""
_UNALIKE_QUANTILE: Final = 0.9
"""The share of pairs that are not alike: a memory is on the theme of few others."""


def themes(
    vectors: Floats, names: Sequence[frozenset[str]], threshold: float, min_size: int
) -> list[IntArray]:
    """Return the groups of at least `min_size` memories that are about one thing, the largest first.

    Two memories are tied by how far their cosine is above the threshold, and by the rarest name that they
    share. Groups are joined while the mean tie between them is `MIN_COHESION` or more (average linkage:
    Sokal and Michener, 1958), so that one thing does not lead to another until a theme is about everything.
    """
    if not names:
        return []
    cosines = vectors @ vectors.T
    if len(names) >= _MIN_MEMORIES_FOR_QUANTILE:
        # Some models find any two texts half alike: what most pairs here reach says nothing.
        embedded = np.flatnonzero(vectors.any(axis=1))
        sample = embedded[:: max(1, embedded.size // _MAX_COMPARED)]
        pairs = cosines[np.ix_(sample, sample)][np.triu_indices(sample.size, 1)]
        threshold = max(threshold, float(np.quantile(pairs, _UNALIKE_QUANTILE)) if pairs.size else threshold)
    ties = np.maximum((cosines - threshold) / (1.0 - threshold + 1e-9), 0.0).astype(np.float32)
    _tie_names(ties, names)
    groups = [np.array(sorted(group)) for group in linked(ties, MIN_COHESION) if len(group) >= min_size]
    return sorted(groups, key=lambda members: (-members.size, int(members[0])))


def _tie_names(ties: Floats, names: Sequence[frozenset[str]]) -> None:
    """Add what shared names are worth: the rarer the more, and nothing for one that most memories have."""
    mentioned: dict[str, list[int]] = {}
    for position, memory_names in enumerate(names):
        for name in memory_names:
            mentioned.setdefault(name, []).append(position)
    worth = np.zeros_like(ties)
    for positions in mentioned.values():
        if 1 < len(positions) <= len(names) / 2:
            block = np.ix_(positions, positions)
            worth[block] = np.maximum(worth[block], _MAX_NAME_TIE * (1.0 - len(positions) / len(names)))
    ties += worth


def linked(ties: Floats, min_tie: float) -> list[list[int]]:
    """Return groups by average linkage, given how strongly each is tied to each: an exact O(n²) method.

    It follows chains of nearest neighbours (Murtagh, 1983): two that are nearest to each other are joined,
    and what is tied to its nearest by less than `min_tie` can never be joined to anything.
    """
    means = ties.astype(np.float32)
    np.fill_diagonal(means, -np.inf)
    groups = {position: [position] for position in range(len(means))}
    alone: list[list[int]] = []
    chain: list[int] = []
    while groups:
        current = chain[-1] if chain else next(iter(groups))
        chain = chain or [current]
        nearest = int(np.argmax(means[current]))
        # Of equals the one it came from, or the chain would go round in circles.
        if len(chain) > 1 and means[current, chain[-2]] >= means[current, nearest]:
            nearest = chain[-2]
        if means[current, nearest] < min_tie:
            alone.append(groups.pop(current))
            chain.pop()
        elif len(chain) > 1 and nearest == chain[-2]:
            nearest_size, current_size = len(groups[nearest]), len(groups[current])
            means[nearest] = (nearest_size * means[nearest] + current_size * means[current]) / (
                nearest_size + current_size
            )
            means[:, nearest] = means[nearest]
            means[nearest, nearest] = -np.inf
            groups[nearest] += groups.pop(current)
            del chain[-2:]
        else:
            chain.append(nearest)
            continue
        means[current], means[:, current] = -np.inf, -np.inf
    return alone


_RELEVANCE_WEIGHT: Final = 0.6
_MIN_SENTENCE_WORDS: Final = 8
"""Sentences of fewer words count as if they had so many."""
_MAX_SENTENCE_LENGTH: Final = 400
"""Sentences above this are cut: a list without full stops is not a summary of anything."""


@runtime_checkable
class Writer(Protocol):
    """Writes summaries of memories."""

    @property
    def name(self) -> str:
        """What its summaries are marked with; another model or prompt is another name."""
        ...

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        """Return what these memories say in at most `limit` sentences, or raise."""
        ...


class SentenceWriter:
    """Writes a summary of sentences of the memories."""

    name = "sentences"

    def __init__(
        self,
        tokens: Callable[[str], list[str]],
        frequencies: Callable[[Sequence[str]], tuple[int, Mapping[str, int]]] | None = None,
    ) -> None:
        self._tokens = tokens
        self._frequencies = frequencies

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        """Return the central sentences of memories, one on a line, oldest first."""
        ordered = sorted(memories, key=lambda memory: (memory.event_time, memory.id))
        fields = {
            _spoken(memory, sentence): Counter(self._tokens(sentence))
            for memory in ordered
            for sentence in sentences(memory.content) or (memory.content,)
        }
        lines, counts = list(fields), list(fields.values())
        telling = self._telling([set(self._tokens(memory.content)) for memory in ordered])
        table = _weighted(counts, telling)
        # Short remarks have few words of any kind; the root keeps long ones from winning by length alone.
        lengths = np.array([max(words.total(), _MIN_SENTENCE_WORDS) for words in counts], np.float64)
        scores = table.sum(axis=1) / np.sqrt(lengths)
        chosen = mmr(scores, table, trade=_RELEVANCE_WEIGHT, limit=min(limit, len(lines)))
        return "\n".join(f"- {lines[position]}" for position in sorted(chosen.tolist()))

    def _telling(self, texts: Sequence[set[str]]) -> dict[str, float]:
        """Return how telling each word is: the share of these that have it, times how rare it is in all."""
        counts = Counter(word for words in texts for word in words)
        if self._frequencies is None:
            return {word: times / len(texts) for word, times in counts.items()}
        count, everywhere = self._frequencies(sorted(counts))
        return {
            word: times / len(texts) * math.log(1 + count / max(times, everywhere.get(word, 0)))
            for word, times in counts.items()
        }


def headed(memories: Sequence[Memory], text: str) -> str:
    """Return a summary under a line that says of how many memories, and of which days, it is."""
    days = sorted(memory.event_time.date().isoformat() for memory in memories)
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return f"In short, {len(memories)} memories of {when}:\n{text}"


def _spoken(memory: Memory, sentence: str) -> str:
    cut = sentence if len(sentence) <= _MAX_SENTENCE_LENGTH else sentence[: _MAX_SENTENCE_LENGTH - 1] + "…"
    return f"{memory.source.speaker}: {cut}" if memory.source.speaker else cut


def _weighted(counts: Sequence[Counter[str]], telling: Mapping[str, float]) -> FloatArray:
    """Return a row per sentence: how telling each of its words is, however often it says it."""
    column = {word: number for number, word in enumerate(telling)}
    table = np.zeros((len(counts), max(1, len(column))))
    for row, words in zip(table, counts, strict=True):
        for word in words:
            row[column[word]] = telling[word]
    return table
