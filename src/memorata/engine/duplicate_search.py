"""Finding duplicates among many memories: candidates by their words, then verified.

Two memories are one only if they make one statement, or one goes on from the other, and words can be looked
up (:func:`~memorata.dedupe.pairs.statement_pairs`): the time grows with the number of memories,
even if all are of one template, and so alike by letters and by vectors. What a correction may deny is found
by its subject (:func:`~memorata.dedupe.pairs.denial_pairs`). Only other words for the same, if they
are asked for, are looked for by likeness (:class:`Likeness`).

Candidates are verified by their cosines, all at once, and then read word by word
(:func:`~memorata.dedupe.verification.judge`).

A group is a memory that stays and those that directly repeat it: a likeness is not handed on along a chain.
"""

from __future__ import annotations

import importlib.util
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.dedupe.decisions import Decision, Verdict, is_correction, precedence, resolve
from memorata.dedupe.fingerprint import normalised
from memorata.dedupe.minhash import (
    Keys,
    ShingleSigner,
    Signatures,
    Signer,
    agreement,
    band_keys,
    bands_for,
    direction_keys,
    shingle_hashes,
)
from memorata.dedupe.pairs import (
    Method,
    clusters,
    colliding_pairs,
    denial_pairs,
    groups,
    method_for,
    near_pairs,
    paraphrase_keys,
    statement_pairs,
)
from memorata.dedupe.verification import ALONE_JACCARD, judge
from memorata.dedupe.wording import extends
from memorata.embed.vectors import unit_rows
from memorata.index.codes import Floats
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.memory import Memory

_MAX_STATEMENT_BUCKET: Final = 32
"""Of how many memories of one statement all pairs are compared."""
_CANDIDATES_PER_REPORT: Final = 2_000
_MAX_SAME_WORDS: Final = 32
"""With how many others of the same words a memory is compared, if it is one with none of them."""


@frozen
class DuplicateGroup:
    """A memory, and others that say the same.

    - `keep`: the one that stays.
    - `repeats`: the others, oldest first.
    - `content`: what the one that stays says afterwards: its own words, or those of all under the strategy
      ``"merge"``.
    - `kind`: ``"exact"`` if all have the same words, ``"correction"`` if a correction wins, ``"near"``
      otherwise.
    - `reasons`: for each of the others, why.
    """

    keep: Memory
    repeats: tuple[Memory, ...]
    content: str
    kind: str
    reasons: tuple[str, ...]


@frozen
class FoundDuplicates:
    """What a search found.

    - `groups`: the groups, in the order of their oldest members.
    - `method`: how other words for the same are found, if they were asked for; what has the same words is
      looked up.
    - `compared`: how many memories were compared.
    - `candidates`: how many pairs were looked at.
    - `turns`: how many memories were left out, being turns of transcripts. Passages of files are compared.
    """

    groups: tuple[DuplicateGroup, ...]
    method: Method
    compared: int
    candidates: int
    turns: int = 0


@frozen
class DuplicateSearch:
    """The search for duplicates, with its settings."""

    threshold: float
    signer: Signer
    method: str | None = None
    strategy: str = "keep_highest_confidence"
    paraphrases: bool = False
    permutations: int = 300

    def run(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Floats | None],
        progress: Progress = lambda what, done, total: None,
    ) -> FoundDuplicates:
        """Return the groups of duplicates among some memories."""
        method = method_for(len(memories), self.method)
        links = _Links(memories, self.threshold, paraphrases=self.paraphrases)
        first = links.first
        texts, rows = [memories[place].content for place in first], [vectors[place] for place in first]
        pairs = statement_pairs(
            texts,
            largest=_MAX_STATEMENT_BUCKET,
            progress=lambda done: progress("reading words", done, len(texts)),
        )
        denying = np.array([is_correction(memories[place]) for place in first], np.bool_)
        likeness = Likeness(self.threshold, self.signer, self.permutations)
        candidates = joined(likeness.verified(np.concatenate([pairs, denial_pairs(texts, denying)]), rows))
        if self.paraphrases:
            keys = paraphrase_keys(texts)
            if method is Method.MATRIX and self.method is None and likeness.crowded(rows, keys):
                method = Method.LSH
            alike = likeness.find(texts, rows, method, progress, keys)
            candidates = joined(candidates, most_alike(alike))
        count = len(candidates.pairs)
        cosines = candidates.cosines.tolist()
        for done, (a, b) in enumerate(candidates.pairs.tolist()):
            if done % _CANDIDATES_PER_REPORT == 0:
                progress("reading candidates", done, count)
            links.note(first[a], first[b], None if math.isnan(cosines[done]) else cosines[done])
        progress("reading candidates", count, count)
        labels = clusters(len(memories), links.pairs())
        found_groups = [
            group for members in groups(labels) for group in self._grouped(memories, members, links)
        ]
        return FoundDuplicates(tuple(found_groups), method, len(memories), count)

    def _grouped(
        self, memories: Sequence[Memory], members: Sequence[int], links: _Links
    ) -> Iterator[DuplicateGroup]:
        """Yield the groups of a cluster: the winner and what directly repeats it, then the rest likewise."""
        remaining = set(members)
        alike: dict[str, list[int]] = defaultdict(list)
        for place in members:
            alike[memories[place].fingerprint].append(place)
        for centre in self._winners(memories, members, links):
            if centre not in remaining:
                continue
            remaining.discard(centre)
            beside = {*alike[memories[centre].fingerprint], *links.beside(centre)} & remaining
            losers = [
                place
                for place in sorted(beside)
                if links.between(centre, place) and self._may_lose(memories[place], memories[centre])
            ]
            remaining.difference_update(losers)
            if losers:
                yield self._group(memories, centre, losers, links)

    def _winners(self, memories: Sequence[Memory], places: Sequence[int], links: _Links) -> list[int]:
        """Return memories in the order in which they win: pinned ones, then by the strategy.

        Of equally sure ones the one wins that most others directly repeat: so the fewest are left over.
        """
        pinned = [place for place in places if memories[place].pinned]
        unpinned = [place for place in places if not memories[place].pinned]
        order = precedence([memories[place] for place in unpinned], self.strategy)
        winners = [unpinned[rank] for rank in order]
        if self.strategy in ("keep_highest_confidence", "merge"):
            winners.sort(
                key=lambda place: (
                    (False, 0.0, 0)
                    if is_correction(memories[place])
                    else (True, -memories[place].confidence, -links.degree(place))
                )
            )
        return pinned + winners

    def _may_lose(self, memory: Memory, keep: Memory) -> bool:
        """Return whether a memory may be superseded: it is not pinned, and says no more than what stays."""
        more = self.strategy != "merge" and extends(memory.content, keep.content)
        return not memory.pinned and not more

    def _group(
        self, memories: Sequence[Memory], centre: int, losers: Sequence[int], links: _Links
    ) -> DuplicateGroup:
        keep, repeats = memories[centre], tuple(memories[place] for place in losers)
        decisions = [links.between(centre, place) for place in losers]
        if any(decision is not None and decision.verdict is Verdict.CORRECTION for decision in decisions):
            kind = "correction"
        else:
            kind = "exact" if {decision.fingerprint for decision in repeats} == {keep.fingerprint} else "near"
        content = keep.content
        if self.strategy == "merge" and kind == "near" and not keep.pinned:
            survivor = resolve([keep, *repeats], self.strategy).survivor
            content = keep.content if survivor is None else survivor.content
        return DuplicateGroup(
            keep,
            repeats,
            content,
            kind,
            tuple("" if decision is None else decision.reason for decision in decisions),
        )


class _Links:
    """Which memories are one: those of the same words stand behind the first of them."""

    def __init__(self, memories: Sequence[Memory], threshold: float, *, paraphrases: bool) -> None:
        self._memories = memories
        self._threshold = threshold
        self._paraphrases = paraphrases
        self._stands_for: list[int] = []
        self._near: dict[tuple[int, int], float | None] = {}
        self._behind: dict[int, list[int]] = defaultdict(list)
        self._beside: dict[int, list[int]] = defaultdict(list)
        self.first: list[int] = []
        same: dict[str, list[int]] = {}
        for place, memory in enumerate(memories):
            earlier = same.setdefault(memory.fingerprint, [])
            match = next(
                (other for other in earlier[-_MAX_SAME_WORDS:] if self._judged(other, place, 1.0)), None
            )
            if match is None:
                earlier.append(place)
                self.first.append(place)
            self._stands_for.append(place if match is None else match)
            self._behind[self._stands_for[place]].append(place)
        # A memory behind one of them may be one with another: confidences are compared pair by pair.
        self._same = [
            (places[0], other)
            for places in same.values()
            if len(places) <= _MAX_SAME_WORDS
            for other in places[1:]
        ]

    def note(self, a: int, b: int, cosine: float | None) -> None:
        """Judge two memories of different words, and note the pair if they are one."""
        if self._judged(a, b, cosine) is not None:
            self._near[min(a, b), max(a, b)] = cosine
            self._beside[a].append(b)
            self._beside[b].append(a)

    def beside(self, a: int) -> Iterator[int]:
        """Yield the memories of other words that may be one with a memory."""
        for other in self._beside.get(self._stands_for[a], ()):
            yield from self._behind[other]

    def degree(self, a: int) -> int:
        """Return how many statements in other words are one with a memory."""
        return len(self._beside.get(self._stands_for[a], ()))

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


Progress = Callable[[str, int, int], None]
"""Called with the step, how much of it is done, and how much there is."""
_Report = Callable[[int, int], None]

_LETTER_JACCARD: Final = 0.75
"""The Jaccard index at which MinHash may miss one pair in a hundred; the vectors find what is below."""
_MAX_BAND_BUCKET: Final = 32
"""The largest bucket all of whose pairs are candidates: texts of one template would give millions."""
_PAIRS_BEYOND_BUCKET: Final = 1
"""With how many that follow each is paired in a larger one; each of some hundred bands has others."""
_MAX_NEAR_PAIRS: Final = 2_000_000
"""From how many pairs at the threshold on not all of them are compared, unless the method is given."""
_SAMPLE_TEXTS: Final = 256
_MAX_PAIRS_PER_MEMORY: Final = 16
"""With how many of those most like it a memory is compared word by word, where very many are like it."""
_MAX_PAIRS: Final = 200_000
"""How many candidates are all read, whatever the number of memories."""
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_PLANES: Final = 4_096
_MISS_RATE: Final = 0.01
_PRODUCTS_PER_STEP: Final = 1 << 22


@frozen
class Candidates:
    """Pairs that may be duplicates, with their cosines; NaN for those that have none."""

    pairs: IntArray
    cosines: FloatArray


@frozen
class Likeness:
    """The search for like pairs: threshold, signer and number of permutations."""

    threshold: float
    signer: Signer
    permutations: int = 300

    def find(
        self,
        texts: Sequence[str],
        vectors: Sequence[Floats | None],
        method: Method,
        progress: Progress,
        keys: Keys | None = None,
    ) -> Candidates:
        """Return pairs of one key whose cosine reaches the threshold; without vectors, of like letters."""
        embedded = np.array([place for place, rows in enumerate(vectors) if rows is not None], np.intp)
        apart = np.zeros(len(texts), np.uint64) if keys is None else keys
        report = partial(progress, "comparing")
        if method is Method.MATRIX:
            candidates = self._by_product(_stacked(vectors, embedded), embedded, apart, report)
        else:
            directions = embedded[self._by_direction(_stacked(vectors, embedded), apart[embedded], report)]
            candidates = np.concatenate([directions, self._by_letters(texts, _LETTER_JACCARD, apart, report)])
        bare = np.ones(len(texts), np.bool_)
        bare[embedded] = False
        candidates = candidates[~bare[candidates].any(axis=1)]
        if embedded.size < len(texts):
            letters = self._by_letters(texts, ALONE_JACCARD, apart, report)
            candidates = np.concatenate([candidates, letters[bare[letters].any(axis=1)]])
        return self.verified(joined(Candidates(candidates, np.full(len(candidates), np.nan))).pairs, vectors)

    def crowded(self, vectors: Sequence[Floats | None], keys: Keys) -> bool:
        """Return, by a sample, whether more pairs are near than can be compared."""
        embedded = np.array([place for place, rows in enumerate(vectors) if rows is not None], np.intp)
        sample = np.unique(
            np.linspace(0, embedded.size - 1, min(_SAMPLE_TEXTS, embedded.size)).astype(np.intp)
        )
        if not sample.size:
            return False
        rows, apart = _stacked(vectors, embedded), keys[embedded]
        near = (rows[sample] @ rows.T >= self.threshold) & (apart[sample][:, None] == apart)
        return bool(near.mean() * embedded.size**2 / 2 > _MAX_NEAR_PAIRS)

    def verified(self, pairs: IntArray, vectors: Sequence[Floats | None]) -> Candidates:
        """Return those of the pairs whose cosine reaches the threshold, or that have none."""
        embedded = np.array([rows is not None for rows in vectors], np.bool_)
        cosines = np.full(len(pairs), np.nan)
        both = np.flatnonzero(embedded[pairs].all(axis=1))
        used = np.unique(pairs[both])
        rows = _stacked(vectors, used)
        step = max(1, _PRODUCTS_PER_STEP // rows.shape[1])
        for start in range(0, len(both), step):
            batch = both[start : start + step]
            one, other = np.searchsorted(used, pairs[batch]).T
            cosines[batch] = np.einsum("ij,ij->i", rows[one], rows[other])
        near = ~(cosines < self.threshold - 1e-6)
        return Candidates(pairs[near], np.clip(cosines[near], -1.0, 1.0))

    def _by_product(self, rows: Floats, embedded: IntArray, apart: Keys, report: _Report) -> IntArray:
        pairs = [np.zeros((0, 2), np.intp)]
        done = 0
        for members in groups(apart[embedded].astype(np.intp)):
            places = np.array(members, np.intp)
            report(done, embedded.size)
            pairs.append(embedded[places[near_pairs(rows[places], self.threshold).positions()]])
            done += places.size
        report(embedded.size, embedded.size)
        return np.concatenate(pairs)

    def _by_direction(self, rows: Floats, apart: Keys, report: _Report) -> IntArray:
        banding = bands_for(agreement(self.threshold), _PLANES, _MISS_RATE)
        return _colliding(direction_keys(rows, banding), banding.bands, apart, report)

    def _by_letters(self, texts: Sequence[str], similarity: float, apart: Keys, report: _Report) -> IntArray:
        banding = bands_for(similarity, self.permutations, _MISS_RATE)
        signatures = self.signer.sign([normalised(text) for text in texts], banding.permutations)
        return _colliding(band_keys(signatures, banding), banding.bands, apart, report)


def joined(*candidates: Candidates) -> Candidates:
    """Return the pairs of all, each once, in order."""
    pairs = np.concatenate([part.pairs for part in candidates])
    cosines = np.concatenate([part.cosines for part in candidates])
    _, places = np.unique(pairs[:, 0] * (pairs.max(initial=0) + 1) + pairs[:, 1], return_index=True)
    return Candidates(pairs[places], cosines[places])


def most_alike(candidates: Candidates) -> Candidates:
    """Return all pairs, or if they are very many, of each memory those with what is most like it after it."""
    if len(candidates.pairs) <= _MAX_PAIRS:
        return candidates
    order = np.lexsort((candidates.pairs[:, 1], -np.nan_to_num(candidates.cosines), candidates.pairs[:, 0]))
    first = candidates.pairs[order, 0]
    rank = np.arange(len(order)) - np.searchsorted(first, first)
    nearest = np.sort(order[rank < _MAX_PAIRS_PER_MEMORY])
    return Candidates(candidates.pairs[nearest], candidates.cosines[nearest])


def _colliding(bands: Iterable[Keys], total: int, apart: Keys, report: _Report) -> IntArray:
    """Return the pairs of one key that agree on a band, and report each band."""
    salt = apart * _FACTOR

    def within() -> Iterator[Keys]:
        for number, keys in enumerate(bands):
            report(number, total)
            yield (keys ^ salt) * _FACTOR
        report(total, total)

    return colliding_pairs(within(), largest=_MAX_BAND_BUCKET, beyond=_PAIRS_BEYOND_BUCKET)


def _stacked(vectors: Sequence[Floats | None], embedded: IntArray) -> Floats:
    """Return the first vector of each that has any, at length 1."""
    if not embedded.size:
        return np.zeros((0, 1), np.float32)
    return unit_rows(np.stack([_first(vectors[place]) for place in embedded]).astype(np.float32))


def _first(rows: Floats | None) -> Floats:
    assert rows is not None  # callers looked
    row: Floats = rows[0]
    return row


_TEXTS_PER_STEP: Final = 1_000


class RensaSigner:
    """Makes signatures with rensa's R-MinHash."""

    def __init__(self, size: int = 3, seed: int = 1) -> None:
        self._size = checks.whole("size", size, 1)
        self._seed = checks.whole("seed", seed)

    def sign(self, texts: Sequence[str], permutations: int) -> Signatures:
        """Return one row for each text; see :class:`~memorata.dedupe.minhash.ShingleSigner`."""
        from rensa import RMinHash

        checked, count = checks.texts("texts", texts), checks.whole("permutations", permutations, 1)
        rows = np.full((len(checked), count), 2**32 - 1, np.uint32)
        for start in range(0, len(checked), _TEXTS_PER_STEP):
            hashes, firsts, owners = shingle_hashes(checked[start : start + _TEXTS_PER_STEP], self._size)
            if owners.size:
                offsets = np.append(firsts, hashes.size).astype(np.uint64)
                signatures = RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, count, self._seed)
                rows[start + owners] = np.array(signatures.to_rows(), np.uint32)
        return rows


def usual_signer() -> Signer:
    """Return the faster signer that is installed."""
    return RensaSigner() if importlib.util.find_spec("rensa") is not None else ShingleSigner()
