"""Order of hits that contradict each other: the newest first, the older ones listed as history.

A contradiction that was noted and not decided leaves both memories current. A query about the present wants
the newer one; a query about the past keeps its ranking.
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


@frozen
class Earlier:
    """A hit that a newer memory contradicts, by a noted contradiction.

    - `id`: the older memory, one of the hits.
    - `newer`: the id of the memory that contradicts it; as a hit it comes before.
    - `reason`: the evidence for a contradiction, in words.
    - `memory`: the newer one, where it is no hit itself and nothing was filtered.
    """

    id: str
    newer: str
    reason: str
    memory: Memory | None = None

    @property
    def text(self) -> str:
        """The text of the newer memory; empty where that is a hit itself, or not loaded."""
        return "" if self.memory is None else self.memory.content

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {"id": self.id, "newer": self.newer, "reason": self.reason, "text": self.text}


def newest_first(
    hits: Sequence[Hit], notes: Sequence[Contradiction], unseen: Mapping[str, Memory] = EMPTY
) -> tuple[list[int], tuple[Hit, ...], tuple[Earlier, ...]]:
    """Return the order of hits in which the newer of a contradiction precedes the older, and the history.

    A hit that moves up has the score of the one it passes, and its explanation says so: the larger of its own
    score and that of the older one. `unseen` are newer memories that are no hits.
    """
    place = {hit.memory.id: rank for rank, hit in enumerate(hits)}
    contradicted = [note for note in notes if note.older in place]
    order, moved = list(range(len(hits))), dict(enumerate(hits))
    # The oldest first, so that the newest of three passes both others.
    for note in sorted(contradicted, key=lambda note: hits[place[note.older]].memory.created_at):
        if note.newer not in place:
            continue
        newer, older = place[note.newer], place[note.older]
        if order.index(newer) < order.index(older):
            continue
        order.remove(newer)
        order.insert(order.index(older), newer)
        moved[newer] = _lifted(moved[newer], moved[older])
    history = tuple(
        Earlier(note.older, note.newer, note.reason, unseen.get(note.newer)) for note in contradicted
    )
    return order, tuple(moved[rank] for rank in order), history


def _lifted(newer: Hit, older: Hit) -> Hit:
    def explain() -> Explanation:
        passed = Explanation.leaf(
            "score of what it contradicts",
            older.score,
            f"newer than {older.memory.id}, which stays as history",
        )
        return Explanation.of("max", "newest of a contradiction", [newer.explanation, passed])

    return Hit(
        newer.memory,
        max(newer.score, older.score),
        explain,
        lambda: max(newer.confidence, older.confidence),
    )
