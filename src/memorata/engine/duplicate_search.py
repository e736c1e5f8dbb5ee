"""Finding duplicates among many memories: candidates by their words, then verified.

Two memories are one only if they make one statement, or one goes on from the other, and words can be looked
up (:func:`~memorata.dedupe.statements.statement_pairs`): the time grows with the number of memories,
even if all are of one template, and so alike by letters and by vectors. What a correction may deny is found
by its subject (:func:`~memorata.dedupe.statements.denial_pairs`). Only other words for the same, if they
are asked for, are looked for by likeness (:class:`~memorata.engine.likeness.Likeness`).

Candidates are verified by their cosines, all at once, and then read word by word
(:func:`~memorata.dedupe.verification.judge`).

A group is a memory that stays and those that directly repeat it: a likeness is not handed on along a chain.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.dedupe.decisions import Decision, Verdict, is_correction
from memorata.dedupe.minhash import Signer
from memorata.dedupe.pairs import Method, clusters, groups, method_for
from memorata.dedupe.statements import denial_pairs, paraphrase_keys, statement_pairs
from memorata.dedupe.strategies import precedence, resolve
from memorata.dedupe.verification import judge
from memorata.dedupe.wording import extends
from memorata.engine.likeness import Likeness, Progress, joined, most_alike
from memorata.model.memory import Memory
from memorata.store.port import Floats

_BUCKET: Final = 32
"""Of how many memories of one statement all pairs are compared."""
_STEP: Final = 2_000
_SAME: Final = 32
"""With how many others of the same words a memory is compared, if it is one with none of them."""


@frozen
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


@frozen
class FoundDuplicates:
    """What a search found.

    Parameters
    ----------
    groups
        The groups, in the order of their oldest members.
    method
        How other words for the same are found, if they were asked for; what has the same words is looked up.
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


@frozen
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
        What becomes of duplicates: a name in :data:`~memorata.dedupe.strategies.STRATEGIES`.
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
        texts, given = [memories[place].content for place in first], [vectors[place] for place in first]
        pairs = statement_pairs(
            texts, largest=_BUCKET, progress=lambda done: progress("reading words", done, len(texts))
        )
        denying = np.array([is_correction(memories[place]) for place in first], np.bool_)
        likeness = Likeness(self.threshold, self.signer)
        candidates = joined(likeness.verified(np.concatenate([pairs, denial_pairs(texts, denying)]), given))
        if self.paraphrases:
            keys = paraphrase_keys(texts)
            if method is Method.MATRIX and self.method is None and likeness.crowded(given, keys):
                method = Method.LSH
            alike = likeness.find(texts, given, method, progress, keys)
            candidates = joined(candidates, most_alike(alike))
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

    def _grouped(
        self, memories: Sequence[Memory], members: Sequence[int], links: _Links
    ) -> Iterator[DuplicateGroup]:
        """Yield the groups of a cluster: the winner and what directly repeats it, then the rest likewise."""
        left = set(members)
        alike: dict[str, list[int]] = defaultdict(list)
        for place in members:
            alike[memories[place].fingerprint].append(place)
        for centre in self._winners(memories, members):
            if centre not in left:
                continue
            left.discard(centre)
            beside = {*alike[memories[centre].fingerprint], *links.beside(centre)} & left
            losers = [
                place
                for place in sorted(beside)
                if links.between(centre, place) and self._may_lose(memories[place], memories[centre])
            ]
            left.difference_update(losers)
            if losers:
                yield self._group(memories, centre, losers, links)

    def _winners(self, memories: Sequence[Memory], places: Sequence[int]) -> list[int]:
        """Return who wins among some, one after the other: what is pinned, then as the strategy says."""
        pinned = [place for place in places if memories[place].pinned]
        others = [place for place in places if not memories[place].pinned]
        order = precedence([memories[place] for place in others], self.strategy)
        return pinned + [others[rank] for rank in order]

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
        self._behind: dict[int, list[int]] = defaultdict(list)
        self._beside: dict[int, list[int]] = defaultdict(list)
        self.first: list[int] = []
        same: dict[str, list[int]] = {}
        for place, memory in enumerate(memories):
            earlier = same.setdefault(memory.fingerprint, [])
            found = next((other for other in earlier[-_SAME:] if self._judged(other, place, 1.0)), None)
            if found is None:
                earlier.append(place)
                self.first.append(place)
            self._stands_for.append(place if found is None else found)
            self._behind[self._stands_for[place]].append(place)
        # Who stands behind one of them may be one with another: confidences are compared pair by pair.
        self._same = [
            (places[0], other) for places in same.values() if len(places) <= _SAME for other in places[1:]
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
