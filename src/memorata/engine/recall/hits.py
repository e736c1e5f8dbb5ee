"""Hits: the memories at the best positions of a ranking, with what their texts add to their scores."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import add
from typing import Final

import numpy as np

from memorata._frozen import unchecked
from memorata.engine.recall.confidence import Estimates
from memorata.engine.recall.conversation import reply_leads
from memorata.engine.recall.evidence import Requirements, explained_with_text, lifted, text_parts
from memorata.engine.recall.ranking import Ranked
from memorata.engine.recall.result import Rejected, SessionHit
from memorata.index.search import NamespaceIndex
from memorata.model.checks import IntArray
from memorata.model.hit import Hit

_HIT: Final = unchecked(Hit)
"""Memories and scores of the index need no checks."""


def hits_at(
    ranked: Ranked,
    positions: Sequence[int],
    view: NamespaceIndex,
    requirements: Requirements,
    depth: int = 0,
    limit: int | None = None,
) -> tuple[tuple[Hit, ...], Rejected | None, Estimates]:
    """Return the hits at some positions, and the best candidate that was refused, read together.

    The scores of the first `depth` include what their texts add; the best `limit` of all are returned.
    """
    where = np.array(positions, np.intp)
    slots, scores = ranked.slots[where], ranked.scores[where].tolist()
    rejected = None
    if ranked.refused is None or ranked.refused_explain is None or ranked.missed is None:
        memories = view.memories(slots)
    else:
        *memories, refused = view.memories(np.array([*slots.tolist(), ranked.refused], np.intp))
        rejected = Rejected(Hit(refused, ranked.refused_score, ranked.refused_explain), ranked.missed())
    estimates = Estimates(ranked.trace, requirements, positions, memories)
    parts = text_parts(requirements, memories[:depth], scores[0]) if depth and scores else []
    order = list(range(len(scores)))
    if parts:
        first = list(map(lifted, scores, parts))
        leads = reply_leads(requirements.people, memories[:depth], first)
        parts = [[*own, lead] for own, lead in zip(parts, leads, strict=True)]
        scores[: len(parts)] = map(add, first, leads)
        order.sort(key=lambda number: -scores[number])
    estimates.lifted, estimates.order = scores, order[:limit]

    def hit(number: int) -> Hit:
        explain = partial(ranked.explain, positions[number])
        if number < len(parts) and any(parts[number]):
            explain = partial(explained_with_text, explain, parts[number])
        return _HIT(memories[number], scores[number], explain, partial(estimates.of, number))

    return tuple(map(hit, estimates.order)), rejected, estimates


def grouped(groups: Sequence[tuple[float, IntArray]], hits: Sequence[Hit]) -> tuple[SessionHit, ...]:
    """Return sessions with their hits, from groups of positions and the hits at them."""
    remaining = iter(hits)
    result = []
    for score, group in groups:
        own = tuple(next(remaining) for _ in range(group.size))
        result.append(SessionHit(own[0].memory.source.session, score, own))
    return tuple(result)


def sessions_within(sessions: Sequence[SessionHit], shown: int) -> tuple[SessionHit, ...]:
    """Return the sessions as far as the first `shown` hits reach."""
    result = []
    for session in sessions:
        if shown <= 0:
            break
        result.append(SessionHit(session.session, session.score, session.hits[:shown]))
        shown -= len(session.hits)
    return tuple(result)
