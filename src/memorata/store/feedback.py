"""Feedback on hits of logged recalls.

It is stored with the features of its hit, so that it outlives the logged recall, which goes when the log is
full. It goes with the memory that is purged, and with the namespace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from memorata._frozen import frozen
from memorata.model.errors import InvalidArgument, RecallNotFound
from memorata.model.hit import Feedback, Signal
from memorata.store.database import Session
from memorata.store.facets import Facet, reads_namespace, writes_namespace
from memorata.store.logged_recall import column_name
from memorata.store.recall_log import LOGGED, features_in, team_slots
from memorata.store.rows import (
    Namespace,
    find_namespace,
    ids_at,
    microseconds,
    moment,
    slots_of,
)

_LONG_AGO: Final = -(2**63)
_SLOT: Final = "SELECT slot FROM memories WHERE namespace = ? AND id = ?"
_NO_SLOT: Final = -1


@frozen
class LoggedFeedback:
    """Feedback on a hit, and the features of the hit when it was shown."""

    feedback: Feedback
    features: Mapping[str, float]
    """By column, as logged; empty for a hit that was drafted in from another ranking."""
    embedder: str = ""
    """The embedder its similarity is of."""


class FeedbackStore(Facet):
    """The feedback of a database."""

    @writes_namespace
    def add(self, session: Session, namespace: str, feedback: Feedback) -> None:
        """Write feedback on a hit of a logged recall, with the features of the hit."""
        asked, found = feedback.recall_id, feedback.memory_id
        if (key := session.dialect.namespace_number(namespace)) is not None:
            session.namespace(namespace, [(_SLOT, (key, found)), (LOGGED, (key, asked))])
        row = find_namespace(session, namespace)
        if row is None:
            raise RecallNotFound(asked, namespace)
        (slot,) = session.execute(_SLOT, (row.number, found)).fetchone() or (_NO_SLOT,)
        recall = session.execute(LOGGED, (row.number, asked)).fetchone()
        if recall is None:
            raise RecallNotFound(asked, namespace)
        features = features_in(recall, slot)
        if features is None:
            # A newer memory is shown with the numbers of the one whose place it takes.
            older = (features_in(recall, place) for place in _older(session, row.number, found))
            features = next((numbers for numbers in older if numbers is not None), None)
        if features is None and slot not in team_slots(session, row.number, asked):
            raise InvalidArgument("memory_id", found, f"a memory that the recall {asked} found")
        _insert(session, row.number, slot, LoggedFeedback(feedback, features or {}, recall[0]))

    @writes_namespace
    def put(self, session: Session, namespace: str, logged: Sequence[LoggedFeedback]) -> None:
        """Write feedback on memories of a namespace as it was logged elsewhere."""
        row = find_namespace(session, namespace)
        assert row is not None  # the memories are there
        slots = slots_of(session, row.number, [entry.feedback.memory_id for entry in logged])
        for entry in logged:
            _insert(session, row.number, slots[entry.feedback.memory_id], entry)

    @reads_namespace(list)
    def list(
        self, session: Session, namespace: Namespace, *, since: datetime | None = None
    ) -> list[LoggedFeedback]:
        """Return feedback in the order in which it was given."""
        rows = session.execute(
            "SELECT recall, slot, signal, given_at, rating, features, embedder FROM feedback "
            "WHERE namespace = ? AND given_at >= ? ORDER BY given_at, number",
            (namespace.number, _LONG_AGO if since is None else microseconds(since)),
        ).fetchall()
        ids = ids_at(session, namespace.number, {row[1] for row in rows})
        return [
            LoggedFeedback(
                Feedback(recall, ids[slot], Signal(signal), moment(at), rating),
                {column_name(name): value for name, value in json.loads(features).items()},
                embedder,
            )
            for recall, slot, signal, at, rating, features, embedder in rows
            if slot in ids
        ]


def _insert(session: Session, number: int, slot: int, logged: LoggedFeedback) -> None:
    feedback = logged.feedback
    session.insert(
        "feedback",
        "namespace, recall, slot, signal, rating, given_at, features, embedder",
        (
            number,
            feedback.recall_id,
            slot,
            feedback.signal.value,
            feedback.rating,
            microseconds(feedback.given_at),
            json.dumps(dict(logged.features)),
            logged.embedder,
        ),
    )


def _older(session: Session, number: int, id_: str) -> list[int]:
    """Return the slots of what a memory superseded, also through others, or is noted to contradict."""
    rows = session.execute(
        "WITH RECURSIVE former (id, slot) AS ("
        "SELECT id, slot FROM memories WHERE namespace = ?1 AND superseded_by = ?2 UNION ALL "
        "SELECT m.id, m.slot FROM former f JOIN memories m ON m.namespace = ?1 AND m.superseded_by = f.id) "
        "SELECT slot FROM former UNION SELECT o.slot FROM contradictions c "
        "JOIN memories n ON n.namespace = c.namespace AND n.number = c.newer "
        "JOIN memories o ON o.namespace = c.namespace AND o.number = c.older "
        "WHERE c.namespace = ?1 AND n.id = ?2",
        (number, id_),
    )
    return [slot for (slot,) in rows.fetchall()]


def purge_feedback(session: Session, number: int, slots: Sequence[int]) -> None:
    """Remove the feedback on memories that are being purged."""
    session.executemany(
        "DELETE FROM feedback WHERE namespace = ? AND slot = ?", [(number, slot) for slot in slots]
    )
