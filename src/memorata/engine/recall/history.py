"""The newer of two memories in the place of the older one, which is listed as history.

A memory that was superseded is found by its own words, and what superseded it is shown in its place. A
contradiction that was noted and not decided leaves both memories current: the newer one is shown before the
older, whether or not it was found itself. A query about the past keeps its ranking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.model.hit import Explanation, Hit
from memorata.model.memory import Memory

if TYPE_CHECKING:
    from memorata.store.memory.repeats import Contradiction

EMPTY: Final[Mapping[str, Memory]] = MappingProxyType({})
_SUPERSEDED: Final = "the newer one superseded it"


@frozen
class Earlier:
    """A found memory that a newer one superseded, or contradicts by a noted contradiction.

    - `id`: the older memory.
    - `newer`: the id of the newer one; as a hit it comes before.
    - `reason`: the evidence for a contradiction, or that it is superseded, in words.
    - `memory`: the older one where it is no hit.
    """

    id: str
    newer: str
    reason: str
    memory: Memory | None = None

    @property
    def text(self) -> str:
        """The text of the older memory; empty where that is a hit."""
        return "" if self.memory is None else self.memory.content

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {"id": self.id, "newer": self.newer, "reason": self.reason, "text": self.text}


@frozen
class Newest:
    """The hits with the newest of a contradiction first.

    - `hits`: at most as many as the limit.
    - `ranks`: for each, its rank among the found ones, or that of the one whose place it takes.
    - `history`: the older memories.
    """

    ranks: tuple[int, ...]
    hits: tuple[Hit, ...]
    history: tuple[Earlier, ...] = ()


def newest_first(
    hits: Sequence[Hit],
    notes: Sequence[Contradiction],
    successors: Mapping[str, Memory] = EMPTY,
    unseen: Mapping[str, Memory] = EMPTY,
    *,
    limit: int,
) -> Newest:
    """Return the hits in which newer memories take the places of older ones.

    - `notes`: contradictions whose older memory is a hit, or its successor.
    - `successors`: the current memory for each superseded hit; one without any is left out.
    - `unseen`: newer memories of `notes` that are no hits.

    A hit that takes a place has the larger of its own score and the older one's, and its explanation says so.
    """
    ranked: list[tuple[int, Hit]] = []
    former: list[Earlier] = []
    placed: set[str] = set()
    own = {hit.memory.id: hit for hit in hits}
    for rank, hit in enumerate(hits):
        if hit.memory.superseded_by is not None:
            successor = successors.get(hit.memory.id)
            if successor is None:
                continue
            former.append(Earlier(hit.memory.id, successor.id, _SUPERSEDED, hit.memory))
            hit = _in_place(successor, hit, own.get(successor.id), "superseded")
        if hit.memory.id not in placed:
            placed.add(hit.memory.id)
            ranked.append((rank, hit))
    created = {hit.memory.id: hit.memory.created_at for _, hit in ranked}
    contradicted = [note for note in notes if note.older in created]
    # The oldest first, so that the newest of three passes both others.
    for note in sorted(contradicted, key=lambda note: created[note.older]):
        ids = [hit.memory.id for _, hit in ranked]
        older = ids.index(note.older)
        newer = ids.index(note.newer) if note.newer in ids else -1
        if newer < 0 and note.newer not in unseen:
            continue
        if newer < 0:
            rank, passed = ranked[older]
            ranked.insert(older, (rank, _in_place(unseen[note.newer], passed, None, "history")))
        elif newer > older:
            rank, moved = ranked.pop(newer)
            passed = ranked[older][1]
            ranked.insert(older, (rank, _in_place(moved.memory, passed, moved, "history")))
    shown = ranked[:limit]
    ids = [hit.memory.id for _, hit in shown]
    memories = {hit.memory.id: hit.memory for _, hit in ranked}
    noted = [
        Earlier(note.older, note.newer, note.reason, None if note.older in ids else memories[note.older])
        for note in contradicted
    ]
    history = tuple(each for each in (*former, *noted) if each.id in ids or each.newer in ids)
    return Newest(tuple(rank for rank, _ in shown), tuple(hit for _, hit in shown), history)


def _in_place(memory: Memory, older: Hit, found: Hit | None, what: str) -> Hit:
    """Return the hit of a newer memory in the place of an older hit; `found` is its own hit, if any."""

    def explain() -> Explanation:
        note = f"newer than {older.memory.id}, which is {what}"
        passed = Explanation.of("max", "score of the older one", [older.explanation], note)
        parts = [passed] if found is None else [found.explanation, passed]
        return Explanation.of("max", "newest of a contradiction", parts)

    if found is None:
        return Hit(memory, older.score, explain, lambda: older.confidence)
    return Hit(
        memory,
        max(found.score, older.score),
        explain,
        lambda: max(found.confidence, older.confidence),
    )
