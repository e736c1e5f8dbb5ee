"""What came of recalls, in SQLite: reactions to hits, who saw which variant, and what was learnt.

Reactions keep the numbers of their hit, so that they outlive the logged recall, which goes when the log is
full. They go with the memory that is purged, and everything with the namespace.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memorata.model.feedback import Feedback, Signal
from memorata.store.instants import instant, microseconds, moment
from memorata.store.recall_log import Lesson, Reaction, Sighting, may_mean

_LESSON: Final = "SELECT number, kind, name, data, evidence, at, withdrawn_at FROM lessons "


def react(
    connection: sqlite3.Connection,
    number: int,
    slot: int,
    given: Feedback,
    features: Mapping[str, float],
    embedder: str,
) -> None:
    """Write down what somebody said about a hit."""
    connection.execute(
        "INSERT INTO reactions (namespace, recall, slot, signal, rating, given_at, features, embedder) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            number,
            given.recall_id,
            slot,
            given.signal.value,
            given.rating,
            microseconds(given.given_at),
            json.dumps(dict(features)),
            embedder,
        ),
    )


def reactions(
    connection: sqlite3.Connection, number: int, *, since: datetime | None = None
) -> list[Reaction]:
    """Return what people said about hits, in the order in which they said it."""
    rows = connection.execute(
        "SELECT r.recall, m.id, r.signal, r.given_at, r.rating, r.features, r.embedder FROM reactions r "
        "JOIN memories m ON m.number = (r.namespace << 31) + r.slot "
        "WHERE r.namespace = ? AND r.given_at >= ? ORDER BY r.given_at, r.number",
        (number, -(2**63) if since is None else microseconds(since)),
    )
    return [
        Reaction(Feedback(recall, memory, Signal(signal), moment(at), rating), json.loads(features), embedder)
        for recall, memory, signal, at, rating, features, embedder in rows
    ]


def keep(
    connection: sqlite3.Connection,
    number: int,
    kind: str,
    name: str,
    data: Mapping[str, Any],
    evidence: Mapping[str, Any],
    at: datetime,
) -> Lesson:
    """Write down what was learnt, as the latest version of it."""
    values = (number, kind, name, json.dumps(dict(data)), json.dumps(dict(evidence)), microseconds(at))
    (made,) = connection.execute(
        "INSERT INTO lessons (namespace, kind, name, data, evidence, at) VALUES (?, ?, ?, ?, ?, ?) "
        "RETURNING number",
        values,
    ).fetchone()
    return Lesson(made, kind, name, dict(data), dict(evidence), at)


def lessons(
    connection: sqlite3.Connection, number: int, kind: str, name: str | None, *, withdrawn: bool
) -> list[Lesson]:
    """Return what was learnt, the latest first."""
    rows = connection.execute(
        f"{_LESSON}WHERE namespace = ?1 AND kind = ?2 AND (?3 IS NULL OR name = ?3) "
        "AND (?4 OR withdrawn_at IS NULL) ORDER BY number DESC",
        (number, kind, name, withdrawn),
    )
    return [
        Lesson(made, of, called, json.loads(data), json.loads(evidence), moment(at), instant(ended))
        for made, of, called, data, evidence, at, ended in rows
    ]


def withdraw(connection: sqlite3.Connection, number: int, lesson: int, at: datetime) -> bool:
    """Let a version hold no more; return whether it did until now."""
    found = connection.execute(
        "UPDATE lessons SET withdrawn_at = ? WHERE namespace = ? AND number = ? AND withdrawn_at IS NULL",
        (microseconds(at), number, lesson),
    )
    return bool(found.rowcount)


def see(
    connection: sqlite3.Connection, number: int, seen: Sequence[Sighting], slots: Mapping[str, int]
) -> None:
    """Write down who saw which variant; memories that are gone are left out of the teams."""
    connection.executemany(
        "INSERT INTO sightings (namespace, experiment, variant, user, recall, at, results, teams) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                number,
                each.experiment,
                each.variant,
                each.user,
                each.recall_id,
                microseconds(each.at),
                each.results,
                json.dumps({str(slots[id_]): team for id_, team in each.teams.items() if id_ in slots}),
            )
            for each in seen
        ],
    )


def sightings(connection: sqlite3.Connection, number: int, path: str, experiment: str) -> list[Sighting]:
    """Return who saw which variant of an experiment, in the order in which they did."""
    names = dict(
        connection.execute(
            "SELECT m.slot, m.id FROM sightings s JOIN json_each(s.teams) t "
            "JOIN memories m ON m.number = (s.namespace << 31) + CAST(t.key AS INTEGER) "
            "WHERE s.namespace = ? AND s.experiment = ?",
            (number, experiment),
        ).fetchall()
    )
    rows = connection.execute(
        "SELECT variant, user, recall, at, results, teams FROM sightings "
        "WHERE namespace = ? AND experiment = ? ORDER BY number",
        (number, experiment),
    )
    return [
        Sighting(
            path,
            experiment,
            variant,
            user,
            recall,
            moment(at),
            results,
            {names[int(slot)]: team for slot, team in json.loads(teams).items() if int(slot) in names},
        )
        for variant, user, recall, at, results, teams in rows
    ]


def team_slots(connection: sqlite3.Connection, number: int, recall: str) -> set[int]:
    """Return the slots of the memories that a list of two rankings showed in a recall."""
    rows = connection.execute(
        "SELECT t.key FROM sightings s JOIN json_each(s.teams) t WHERE s.namespace = ? AND s.recall = ?",
        (number, recall),
    )
    return {int(slot) for (slot,) in rows}


def purge(connection: sqlite3.Connection, number: int, slots: Sequence[int]) -> None:
    """Remove every trace of memories that are being purged; of all recalls, once no memory is left.

    Lessons hold no trace of a memory: they are numbers over many.
    """
    asked = json.dumps(list(slots))
    connection.execute(
        "DELETE FROM reactions WHERE namespace = ? AND slot IN (SELECT value FROM json_each(?))",
        (number, asked),
    )
    rows = connection.execute(
        "SELECT number, teams FROM sightings WHERE namespace = ? AND teams <> '{}'", (number,)
    ).fetchall()
    gone = {str(slot) for slot in slots}
    for row, text in rows:
        teams = json.loads(text)
        if gone & set(teams):
            kept = json.dumps({slot: team for slot, team in teams.items() if slot not in gone})
            connection.execute("UPDATE sightings SET teams = ? WHERE number = ?", (kept, row))
    if connection.execute("SELECT 1 FROM memories WHERE namespace = ? LIMIT 1", (number,)).fetchone() is None:
        connection.execute("DELETE FROM reactions WHERE namespace = ?", (number,))
        connection.execute("DELETE FROM sightings WHERE namespace = ?", (number,))


def forget_users(connection: sqlite3.Connection, number: int, names: Collection[str]) -> None:
    """Remove what was seen by those in experiments whom one of these names may mean."""
    rows = connection.execute("SELECT DISTINCT user FROM sightings WHERE namespace = ?", (number,)).fetchall()
    connection.executemany(
        "DELETE FROM sightings WHERE namespace = ? AND user = ?",
        [(number, user) for (user,) in rows if may_mean(user, names)],
    )
