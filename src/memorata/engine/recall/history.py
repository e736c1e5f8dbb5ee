"""Of hits that contradict each other the newest comes first, and the older ones are told as history.

A contradiction that was noted and not decided leaves both memories current. Who asks how things are wants the
newer one; who asks how things were says so, and gets the ranking as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memorata._frozen import frozen
from memorata.model.explanation import Explanation
from memorata.model.hit import Hit

if TYPE_CHECKING:
    from memorata.store.memory.repeats import Contradiction


@frozen
class Earlier:
    """A hit that a newer memory contradicts: how it was, as far as anybody noted.

    - `id`: the older memory, one of the hits.
    - `newer`: the id of what contradicts it; among the hits it comes before.
    - `reason`: what speaks for a contradiction, in words.
    """

    id: str
    newer: str
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return {"id": self.id, "newer": self.newer, "reason": self.reason}


def newest_first(
    hits: Sequence[Hit], notes: Sequence[Contradiction]
) -> tuple[list[int], tuple[Hit, ...], tuple[Earlier, ...]]:
    """Return the order of hits in which the newer of a contradiction precedes the older, and the history.

    A hit that moves up has the score of the one it passes, and its explanation says so: the larger of its own
    score and that of the older one.
    """
    place = {hit.memory.id: rank for rank, hit in enumerate(hits)}
    told = [note for note in notes if note.older in place]
    order, moved = list(range(len(hits))), dict(enumerate(hits))
    # The oldest first, so that the newest of three passes both others.
    for note in sorted(told, key=lambda each: hits[place[each.older]].memory.created_at):
        if note.newer not in place:
            continue
        newer, older = place[note.newer], place[note.older]
        if order.index(newer) < order.index(older):
            continue
        order.remove(newer)
        order.insert(order.index(older), newer)
        moved[newer] = _lifted(moved[newer], moved[older])
    history = tuple(Earlier(note.older, note.newer, note.reason) for note in told)
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
