"""Finding duplicates among many memories: candidates by the method that suits their number, then verified.

Up to ten thousand memories all vectors are compared (:func:`~recollect.duplicates.pairs.near_pairs`). Beyond,
candidates are those that agree on a band of MinHash signatures of their letters, or of sign bits of their
vectors; each misses a pair at its threshold once in a hundred times, and most pairs are above both.
Candidates are verified by their cosines, all at once, and then read word by word
(:func:`~recollect.duplicates.near.judge`).

A group is a memory that stays and those that directly repeat it: a likeness is not handed on along a chain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.duplicates.bands import bands_for
from recollect.duplicates.clusters import clusters, groups
from recollect.duplicates.collisions import colliding_pairs
from recollect.duplicates.decisions import Decision, Verdict
from recollect.duplicates.fingerprint import normalised
from recollect.duplicates.methods import Method, method_for
from recollect.duplicates.near import ALONE_JACCARD, judge
from recollect.duplicates.pairs import near_pairs
from recollect.duplicates.signatures import Signer, agreement, band_keys, direction_keys
from recollect.duplicates.strategies import resolve
from recollect.duplicates.wording import extends
from recollect.model.checks import FloatArray, IntArray
from recollect.model.memory import Memory
from recollect.store.port import Floats

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

_LETTERS: Final = 0.75
"""The Jaccard index at which MinHash may miss one pair in a hundred; the vectors find what is below."""
_HASHES: Final = 300
_BUCKET: Final = 32
"""The largest bucket all of whose pairs are candidates: texts of one template would give millions."""
_PLANES: Final = 4_096
_MISS: Final = 0.01
_AT_ONCE: Final = 1 << 22
_STEP: Final = 2_000
_SAME: Final = 32
"""With how many others of the same words a memory is compared, if it is one with none of them."""


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """A memory, and others that say the same.

    Parameters
    ----------
    keep
        The one that stays.
    repeats
        The others, oldest first.
    content
        What the one that stays says afterwards: its own words, or those of all under the strategy
        ``"merge"``.
    kind
        ``"exact"`` if all have the same words, ``"correction"`` if a correction wins, ``"near"`` otherwise.
    reasons
        For each of the others, why.
    """

    keep: Memory
    repeats: tuple[Memory, ...]
    content: str
    kind: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundDuplicates:
    """What a search found.

    Parameters
    ----------
    groups
        The groups, in the order of their oldest members.
    method
        How candidates were found.
    compared
        How many memories were compared.
    candidates
        How many pairs were looked at.
    turns
        How many memories were left out, being turns of transcripts. Passages of files are compared.
    """

    groups: tuple[DuplicateGroup, ...]
    method: Method
    compared: int
    candidates: int
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that may be duplicates, with their cosines; NaN for those that have none."""

    pairs: IntArray
    cosines: FloatArray


@dataclass(frozen=True, slots=True)
class DuplicateSearch:
    """How duplicates are looked for.

    Parameters
    ----------
    threshold
        The least cosine of duplicates.
    signer
        Makes MinHash signatures.
    method
        ``"matrix"`` or ``"lsh"``, whatever the number; None to choose by it.
    strategy
        What becomes of duplicates: a name in :data:`~recollect.duplicates.strategies.STRATEGIES`.
    paraphrases
        Whether other words for the same count, as far as vectors can tell.
    """

    threshold: float
    signer: Signer
    method: str | None = None
    strategy: str = "keep_highest_confidence"
    paraphrases: bool = False

    def run(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Floats | None],
        progress: Progress = lambda what, done, total: None,
    ) -> FoundDuplicates:
        """Return the groups of duplicates among some memories.

        Parameters
        ----------
        memories
            Current memories of one namespace, none of them a turn of a transcript, in the order they were
            added.
        vectors
            The vectors of each; None for one that has none.
        progress
            Told how far it is.
        """
        method = method_for(len(memories), self.method)
        links = _Links(memories, self.threshold, paraphrases=self.paraphrases)
        first = links.first
        candidates = self.candidates(
            [memories[place].content for place in first],
            [vectors[place] for place in first],
            method,
            progress,
        )
        count = len(candidates.pairs)
        cosines = candidates.cosines.tolist()
        for done, (a, b) in enumerate(candidates.pairs.tolist()):
            if done % _STEP == 0:
                progress("reading candidates", done, count)
            links.note(first[a], first[b], None if math.isnan(cosines[done]) else cosines[done])
        progress("reading candidates", count, count)
        labels = clusters(len(memories), links.pairs())
        made = [group for members in groups(labels) for group in self._grouped(memories, members, links)]
        return FoundDuplicates(tuple(made), method, len(memories), count)

    def candidates(
        self, texts: Sequence[str], vectors: Sequence[Floats | None], method: Method, progress: Progress
    ) -> Candidates:
        """Return the pairs whose cosine reaches the threshold; without vectors, those of the same letters."""
        having = np.array([place for place, rows in enumerate(vectors) if rows is not None], np.intp)
        rows = (
            np.stack([_first(vectors[place]) for place in having])
            if having.size
            else np.zeros((0, 1), np.float32)
        )
        progress("comparing", 0, len(texts))
        if method is Method.MATRIX:
            close = near_pairs(rows, self.threshold)
            by_vector, cosines = having[close.positions()], close.cosine
        else:
            by_vector = np.unique(
                np.concatenate([having[self._by_direction(rows)], self._by_letters(texts, _LETTERS)]), axis=0
            )
            by_vector, cosines = self._verified(by_vector, vectors)
        progress("comparing", len(texts) // 2, len(texts))
        if having.size == len(texts):
            return Candidates(by_vector, cosines)
        bare = np.ones(len(texts), np.bool_)
        bare[having] = False
        letters = self._by_letters(texts, ALONE_JACCARD)
        letters = letters[bare[letters].any(axis=1)]
        progress("comparing", len(texts), len(texts))
        return Candidates(
            np.concatenate([by_vector, letters]), np.concatenate([cosines, np.full(len(letters), np.nan)])
        )

    def _by_direction(self, rows: Floats) -> IntArray:
        banding = bands_for(agreement(self.threshold), _PLANES, _MISS)
        return colliding_pairs(direction_keys(rows, banding), largest=_BUCKET)

    def _by_letters(self, texts: Sequence[str], similarity: float) -> IntArray:
        banding = bands_for(similarity, _HASHES, _MISS)
        signatures = self.signer.sign([normalised(text) for text in texts], banding.permutations)
        return colliding_pairs(band_keys(signatures, banding), largest=_BUCKET)

    def _verified(self, pairs: IntArray, vectors: Sequence[Floats | None]) -> tuple[IntArray, FloatArray]:
        """Return those of the pairs whose cosine reaches the threshold, and the cosines."""
        known = np.array([rows is not None for rows in vectors])
        pairs = pairs[known[pairs].all(axis=1)]
        width = next((rows.shape[1] for rows in vectors if rows is not None), 1)
        matrix = np.zeros((len(vectors), width), np.float32)
        for place, each in enumerate(vectors):
            if each is not None:
                matrix[place] = each[0]
        cosines = np.empty(len(pairs))
        step = max(1, _AT_ONCE // width)
        for start in range(0, len(pairs), step):
            some = pairs[start : start + step]
            cosines[start : start + step] = np.einsum("ij,ij->i", matrix[some[:, 0]], matrix[some[:, 1]])
        near = cosines >= self.threshold - 1e-6
        return pairs[near], np.clip(cosines[near], -1.0, 1.0)

    def _grouped(
        self, memories: Sequence[Memory], members: Sequence[int], links: _Links
    ) -> Iterator[DuplicateGroup]:
        """Yield the groups of a cluster: the winner and what directly repeats it, then the rest likewise."""
        left = list(members)
        while (centre := self._winner(memories, left)) is not None:
            losers = [
                place
                for place in left
                if place != centre
                and links.between(centre, place)
                and self._may_lose(memories[place], memories[centre])
            ]
            gone = {centre, *losers}
            left = [place for place in left if place not in gone]
            if losers:
                yield self._group(memories, centre, losers, links)

    def _winner(self, memories: Sequence[Memory], places: Sequence[int]) -> int | None:
        """Return who wins among some: what is pinned, or as the strategy says."""
        if len(places) < 2:
            return None
        pinned = [place for place in places if memories[place].pinned]
        if pinned:
            return pinned[0]
        winner = resolve([memories[place] for place in places], self.strategy).winner
        return None if winner is None else next(place for place in places if memories[place] is winner)

    def _may_lose(self, memory: Memory, keep: Memory) -> bool:
        """Tell whether a memory may be superseded: it is not pinned, and says no more than what stays."""
        more = self.strategy != "merge" and extends(memory.content, keep.content)
        return not memory.pinned and not more

    def _group(
        self, memories: Sequence[Memory], centre: int, losers: Sequence[int], links: _Links
    ) -> DuplicateGroup:
        keep, repeats = memories[centre], tuple(memories[place] for place in losers)
        decisions = [links.between(centre, place) for place in losers]
        if any(each is not None and each.verdict is Verdict.CORRECTION for each in decisions):
            kind = "correction"
        else:
            kind = "exact" if {each.fingerprint for each in repeats} == {keep.fingerprint} else "near"
        content = keep.content
        if self.strategy == "merge" and kind == "near" and not keep.pinned:
            survivor = resolve([keep, *repeats], self.strategy).survivor
            content = keep.content if survivor is None else survivor.content
        return DuplicateGroup(
            keep, repeats, content, kind, tuple("" if each is None else each.reason for each in decisions)
        )


class _Links:
    """Which memories are one: those of the same words stand behind the first of them."""

    def __init__(self, memories: Sequence[Memory], threshold: float, *, paraphrases: bool) -> None:
        self._memories = memories
        self._threshold = threshold
        self._paraphrases = paraphrases
        self._stands_for: list[int] = []
        self._near: dict[tuple[int, int], float | None] = {}
        self.first: list[int] = []
        same: dict[str, list[int]] = {}
        for place, memory in enumerate(memories):
            earlier = same.setdefault(memory.fingerprint, [])
            found = next((other for other in earlier[-_SAME:] if self._judged(other, place, 1.0)), None)
            if found is None:
                earlier.append(place)
                self.first.append(place)
            self._stands_for.append(place if found is None else found)
        # Who stands behind one of them may be one with another: confidences are compared pair by pair.
        self._same = [
            (places[0], other) for places in same.values() if len(places) <= _SAME for other in places[1:]
        ]

    def note(self, a: int, b: int, cosine: float | None) -> None:
        """Judge two memories of different words, and note the pair if they are one."""
        if self._judged(a, b, cosine) is not None:
            self._near[min(a, b), max(a, b)] = cosine

    def pairs(self) -> list[tuple[int, int]]:
        """Return the pairs that belong together, as clusters are made of them."""
        return [*self._near, *self._same, *enumerate(self._stands_for)]

    def between(self, a: int, b: int) -> Decision[Memory] | None:
        """Return why two memories are one; None if they are not."""
        if self._memories[a].fingerprint == self._memories[b].fingerprint:
            return self._judged(a, b, 1.0)
        one, other = sorted((self._stands_for[a], self._stands_for[b]))
        if (one, other) not in self._near:
            return None
        return self._judged(a, b, self._near[one, other])

    def _judged(self, a: int, b: int, cosine: float | None) -> Decision[Memory] | None:
        decision = judge(
            self._memories[a],
            self._memories[b],
            cosine,
            threshold=self._threshold,
            paraphrases=self._paraphrases,
        )
        return decision if decision.verdict in (Verdict.DUPLICATE, Verdict.CORRECTION) else None


def _first(rows: Floats | None) -> Floats:
    assert rows is not None  # callers looked
    row: Floats = rows[0]
    return row
