"""Finding duplicates among many memories: candidates by statement, then verified.

Two memories are one only if they make one statement, or one goes on from the other, and both can be looked up
(:func:`~memorata.dedupe.wording.statement_key`): the time grows with the number of memories, even if all are
of one template. The memories that a correction may deny are those of the same subject
(:mod:`memorata.dedupe.contradiction`). Only paraphrases, if they are wanted, are looked for by vectors, all
with all among those of the same numbers and negations.

A group is a memory that stays and those that directly repeat it: a likeness is not handed on along a chain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.dedupe.decisions import Decision, Verdict, is_correction, precedence, resolve
from memorata.dedupe.verification import judge
from memorata.dedupe.wording import extends, shortenings, statement_key, wording
from memorata.embed.vectors import unit_rows
from memorata.index.codes import Floats
from memorata.model.checks import IntArray
from memorata.model.memory import Memory

_MAX_SAME: Final = 32
"""With how many others of one statement or subject each is compared, where very many are none of them one."""
_MAX_NEAREST: Final = 16
"""With how many of those most like it a memory is compared word by word."""
_BLOCK: Final = 1_024
_MANY: Final = 2_000
"""After how many memories progress is reported."""

Progress = Callable[[str, int, int], None]
"""Called with the step, how much of it is done, and how much there is."""
_Pair = tuple[int, int]


@frozen
class DuplicateGroup:
    """A memory, and others that say the same.

    - `keep`: the one that stays.
    - `repeats`: the others, oldest first.
    - `content`: the text of the one that stays afterwards: its own, or that of all under the strategy
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
    """The result of a search.

    - `groups`: the groups, in the order of their oldest members.
    - `compared`: how many memories were compared.
    - `candidates`: how many pairs of other words were read.
    - `turns`: how many memories were left out, being turns of transcripts. Passages of files are compared.
    """

    groups: tuple[DuplicateGroup, ...]
    compared: int
    candidates: int
    turns: int = 0


@frozen
class DuplicateSearch:
    """The search for duplicates, with its settings."""

    threshold: float
    strategy: str = "keep_highest_confidence"
    paraphrases: bool = False

    def run(
        self,
        memories: Sequence[Memory],
        vectors: Sequence[Floats | None],
        progress: Progress = lambda what, done, total: None,
    ) -> FoundDuplicates:
        """Return the groups of duplicates among some memories."""
        rows = _unit_rows(vectors)
        texts = [memory.content for memory in memories]
        same, further = _by_statement(texts, progress)
        pairs = further | set(_denials(memories))
        if self.paraphrases:
            pairs |= set(_near_pairs(texts, rows, self.threshold, progress))
        links = _Links(self, memories, rows, same)
        for done, pair in enumerate(sorted(pairs)):
            if done % _MANY == 0:
                progress("reading candidates", done, len(pairs))
            links.read(*pair)
        progress("reading candidates", len(pairs), len(pairs))
        groups = [
            group for members in links.components() for group in self._grouped(memories, members, links)
        ]
        return FoundDuplicates(tuple(groups), len(memories), len(pairs))

    def judge(self, a: Memory, b: Memory, cosine: float | None) -> Decision[Memory] | None:
        """Return why two memories are one; None if they are not."""
        decision = judge(a, b, cosine, threshold=self.threshold, paraphrases=self.paraphrases)
        return decision if decision.verdict in (Verdict.DUPLICATE, Verdict.CORRECTION) else None

    def _grouped(
        self, memories: Sequence[Memory], members: Sequence[int], links: _Links
    ) -> Iterator[DuplicateGroup]:
        """Yield the groups of a component: the winner and its direct repeats, then the rest likewise."""
        remaining = set(members)
        alone = 0
        for centre in self._winners(memories, members, links):
            if centre not in remaining:
                continue
            remaining.discard(centre)
            beside = links.beside(centre, remaining, _MAX_SAME if alone > _MAX_SAME else len(members))
            losers = {
                place: decision
                for place in beside
                if self._may_lose(memories[place], memories[centre])
                and (decision := links.between(centre, place)) is not None
            }
            remaining.difference_update(losers)
            alone += not losers
            if losers:
                yield self._group(memories, centre, losers)

    def _winners(self, memories: Sequence[Memory], places: Sequence[int], links: _Links) -> list[int]:
        """Return memories in the order in which they win: pinned ones, then by the strategy.

        Of equally sure ones the one wins that most others directly repeat: so the fewest are left over.
        """
        pinned = [place for place in places if memories[place].pinned]
        unpinned = [place for place in places if not memories[place].pinned]
        winners = [
            unpinned[rank] for rank in precedence([memories[place] for place in unpinned], self.strategy)
        ]
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
        return not memory.pinned and (self.strategy == "merge" or not extends(memory.content, keep.content))

    def _group(
        self, memories: Sequence[Memory], centre: int, losers: dict[int, Decision[Memory]]
    ) -> DuplicateGroup:
        keep, repeats = memories[centre], tuple(memories[place] for place in losers)
        if any(decision.verdict is Verdict.CORRECTION for decision in losers.values()):
            kind = "correction"
        else:
            kind = "exact" if {repeat.fingerprint for repeat in repeats} == {keep.fingerprint} else "near"
        content = keep.content
        if self.strategy == "merge" and kind == "near" and not keep.pinned:
            survivor = resolve([keep, *repeats], self.strategy).survivor
            content = keep.content if survivor is None else survivor.content
        reasons = tuple(decision.reason for decision in losers.values())
        return DuplicateGroup(keep, repeats, content, kind, reasons)


class _Links:
    """Which memories may be one: those of one statement, and pairs of others that were read."""

    def __init__(
        self,
        search: DuplicateSearch,
        memories: Sequence[Memory],
        rows: dict[int, Floats],
        same: Sequence[list[int]],
    ) -> None:
        self._search, self._memories, self._rows, self._same = search, memories, rows, same
        self._bucket = {place: bucket for bucket in same for place in bucket}
        self._read: dict[_Pair, Decision[Memory]] = {}
        self._near: dict[int, list[int]] = defaultdict(list)

    def read(self, a: int, b: int) -> None:
        """Judge two memories of different statements, and note the pair if they are one."""
        decision = self._judged(a, b)
        if decision is not None:
            self._read[min(a, b), max(a, b)] = decision
            self._near[a].append(b)
            self._near[b].append(a)

    def degree(self, place: int) -> int:
        """Return how many memories of other statements are one with a memory."""
        return len(self._near.get(place, ()))

    def beside(self, place: int, among: set[int], most: int) -> list[int]:
        """Return memories that may be one with a memory, in order; of its own statement the next `most`."""
        bucket = self._bucket.get(place, [])
        if most < len(bucket):
            start = bucket.index(place)
            bucket = bucket[start : start + most + 1]
        return sorted({*bucket, *self._near.get(place, ())} & among)

    def between(self, a: int, b: int) -> Decision[Memory] | None:
        """Return why two memories are one; None if they are not."""
        return self._read.get((min(a, b), max(a, b))) or self._judged(a, b)

    def components(self) -> list[list[int]]:
        """Return the members of each connected component of two or more, in the order of their first."""
        smallest: dict[int, int] = {}

        def root(place: int) -> int:
            path = []
            while smallest.get(place, place) != place:
                path.append(place)
                place = smallest[place]
            smallest.update(dict.fromkeys(path, place))
            return place

        for a, b in [*self._read, *(pair for bucket in self._same for pair in pairwise(bucket))]:
            first, last = sorted((root(a), root(b)))
            smallest[last] = first
        members: dict[int, list[int]] = defaultdict(list)
        for place in range(len(self._memories)):
            members[root(place)].append(place)
        return [component for component in members.values() if len(component) > 1]

    def _judged(self, a: int, b: int) -> Decision[Memory] | None:
        one, other = self._memories[a], self._memories[b]
        if one.fingerprint == other.fingerprint:
            return self._search.judge(one, other, 1.0)
        first, second = self._rows.get(a), self._rows.get(b)
        cosine = None if first is None or second is None else float(np.clip(first @ second, -1.0, 1.0))
        return self._search.judge(one, other, cosine)


def _by_statement(texts: Sequence[str], progress: Progress) -> tuple[list[list[int]], set[_Pair]]:
    """Return the places of texts that are one statement, and pairs of which one goes on from the other."""
    same: dict[str, list[int]] = defaultdict(list)
    filed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    shorter: list[list[tuple[str, ...]]] = []
    for place, text in enumerate(texts):
        if place % _MANY == 0:
            progress("reading words", place, len(texts))
        same[statement_key(text)].append(place)
        words, shortened = shortenings(text)
        if words and len(filed[words]) < _MAX_SAME:
            filed[words].append(place)
        shorter.append(shortened)
    progress("reading words", len(texts), len(texts))
    goes_on = {
        (min(place, other), max(place, other))
        for place, shortened in enumerate(shorter)
        for words in shortened
        for other in filed.get(words, ())
    }
    return [places for places in same.values() if len(places) > 1], goes_on


def _denials(memories: Sequence[Memory]) -> Iterator[_Pair]:
    """Yield each correction with the memories of the same subject that come nearest before and after it."""
    from memorata.dedupe.contradiction import subjects

    if not any(is_correction(memory) for memory in memories):
        return
    about: dict[str, list[int]] = defaultdict(list)
    ranks: list[tuple[int, str, int]] = []
    for place, memory in enumerate(memories):
        for subject in subjects(memory.content):
            if is_correction(memory):
                ranks.append((place, subject, len(about[subject])))
            about[subject].append(place)
    for place, subject, rank in ranks:
        for other in about[subject][max(0, rank - _MAX_SAME) : rank + _MAX_SAME + 1]:
            if other != place:
                yield min(place, other), max(place, other)


def _near_pairs(
    texts: Sequence[str], rows: dict[int, Floats], threshold: float, progress: Progress
) -> Iterable[_Pair]:
    """Return pairs of like vectors, and of the same numbers and negations; of each the nearest few."""
    alike: dict[tuple[bool, tuple[str, ...]], list[int]] = defaultdict(list)
    for place in rows:
        statement = wording(texts[place])
        alike[statement.negated, tuple(sorted(statement.numbers))].append(place)
    done = 0
    for places in alike.values():
        matrix = np.stack([rows[place] for place in places])
        for start in range(0, len(places), _BLOCK):
            progress("comparing", done, len(rows))
            cosines = matrix[start : start + _BLOCK] @ matrix.T
            for offset, row in enumerate(cosines):
                row[start + offset] = -1.0
                for other in _nearest(row, threshold):
                    a, b = sorted((places[start + offset], places[other]))
                    yield a, b
            done += len(cosines)
    progress("comparing", len(rows), len(rows))


def _nearest(cosines: Floats, threshold: float) -> list[int]:
    near: IntArray = np.flatnonzero(cosines >= threshold)
    if near.size > _MAX_NEAREST:
        near = near[np.argsort(-cosines[near], kind="stable")[:_MAX_NEAREST]]
    found: list[int] = near.tolist()
    return found


def _unit_rows(vectors: Sequence[Floats | None]) -> dict[int, Floats]:
    """Return the first vector of each place that has any, at length 1."""
    places = [place for place, rows in enumerate(vectors) if rows is not None]
    if not places:
        return {}
    stacked = np.stack([rows[0] for rows in vectors if rows is not None]).astype(np.float32)
    return dict(zip(places, unit_rows(stacked), strict=True))
