"""What came of recalls, on a server: reactions to hits, who saw which variant, and what was learnt."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memorata.model.feedback import Feedback, Signal
from memorata.store.instants import instant, microseconds, moment
from memorata.store.postgres.connection import Server
from memorata.store.postgres.recall_log import is_inhabited, names
from memorata.store.recall_log import Lesson, Reaction, Sighting, may_mean

_LESSON: Final = "SELECT number, kind, name, data, evidence, at, withdrawn_at FROM lessons "
_LONG_AGO: Final = -(2**63)


def react(
    connection: Server,
    number: int,
    slot: int,
    given: Feedback,
    features: Mapping[str, float],
    embedder: str,
) -> None:
    """Write down what somebody said about a hit."""
    connection.execute(
        "INSERT INTO reactions (namespace, recall, slot, signal, rating, given_at, features, embedder) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
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


def reactions(connection: Server, number: int, *, since: datetime | None = None) -> list[Reaction]:
    """Return what people said about hits, in the order in which they said it."""
    rows = connection.execute(
        "SELECT r.recall, m.id, r.signal, r.given_at, r.rating, r.features, r.embedder FROM reactions r "
        "JOIN memories m ON m.namespace = r.namespace AND m.slot = r.slot "
        "WHERE r.namespace = %s AND r.given_at >= %s ORDER BY r.given_at, r.number",
        (number, _LONG_AGO if since is None else microseconds(since)),
    )
    return [
        Reaction(Feedback(recall, memory, Signal(signal), moment(at), rating), json.loads(features), embedder)
        for recall, memory, signal, at, rating, features, embedder in rows
    ]


def keep(
    connection: Server,
    number: int,
    kind: str,
    name: str,
    data: Mapping[str, Any],
    evidence: Mapping[str, Any],
    at: datetime,
) -> Lesson:
    """Write down what was learnt, as the latest version of it."""
    made = connection.execute(
        "INSERT INTO lessons (namespace, kind, name, data, evidence, at) VALUES (%s, %s, %s, %s, %s, %s) "
        "RETURNING number",
        (number, kind, name, json.dumps(dict(data)), json.dumps(dict(evidence)), microseconds(at)),
    ).fetchone()
    assert made is not None  # an INSERT … RETURNING always gives a row
    return Lesson(made[0], kind, name, dict(data), dict(evidence), at)


def lessons(connection: Server, number: int, kind: str, name: str | None, *, withdrawn: bool) -> list[Lesson]:
    """Return what was learnt, the latest first."""
    rows = connection.execute(
        f"{_LESSON}WHERE namespace = %s AND kind = %s AND (%s::text IS NULL OR name = %s) "
        "AND (%s OR withdrawn_at IS NULL) ORDER BY number DESC",
        (number, kind, name, name, withdrawn),
    )
    return [
        Lesson(made, of, called, json.loads(data), json.loads(evidence), moment(at), instant(ended))
        for made, of, called, data, evidence, at, ended in rows
    ]


def withdraw(connection: Server, number: int, lesson: int, at: datetime) -> bool:
    """Let a version hold no more; return whether it did until now."""
    found = connection.execute(
        "UPDATE lessons SET withdrawn_at = %s WHERE namespace = %s AND number = %s AND withdrawn_at IS NULL",
        (microseconds(at), number, lesson),
    )
    return bool(found.rowcount)


def see(connection: Server, number: int, seen: Sequence[Sighting], slots: Mapping[str, int]) -> None:
    """Write down who saw which variant; memories that are gone are left out of the teams."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO sightings (namespace, experiment, variant, person, recall, at, results, teams) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
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


def sightings(connection: Server, number: int, path: str, experiment: str) -> list[Sighting]:
    """Return who saw which variant of an experiment, in the order in which they did."""
    rows = connection.execute(
        "SELECT variant, person, recall, at, results, teams FROM sightings "
        "WHERE namespace = %s AND experiment = %s ORDER BY number",
        (number, experiment),
    ).fetchall()
    teams = [json.loads(row[5]) for row in rows]
    known = names(connection, number, {int(slot) for each in teams for slot in each})
    return [
        Sighting(
            path,
            experiment,
            variant,
            person,
            recall,
            moment(at),
            results,
            {known[int(slot)]: team for slot, team in each.items() if int(slot) in known},
        )
        for (variant, person, recall, at, results, _), each in zip(rows, teams, strict=True)
    ]


def team_slots(connection: Server, number: int, recall: str) -> set[int]:
    """Return the slots of the memories that a list of two rankings showed in a recall."""
    rows = connection.execute(
        "SELECT teams FROM sightings WHERE namespace = %s AND recall = %s", (number, recall)
    )
    return {int(slot) for (teams,) in rows for slot in json.loads(teams)}


def purge(connection: Server, number: int, slots: Sequence[int]) -> None:
    """Remove every trace of memories that are being purged; of all recalls, once no memory is left.

    Lessons hold no trace of a memory: they are numbers over many.
    """
    connection.execute(
        "DELETE FROM reactions WHERE namespace = %s AND slot = ANY (%s::int[])", (number, list(slots))
    )
    rows = connection.execute(
        "SELECT number, teams FROM sightings WHERE namespace = %s AND teams <> '{}'", (number,)
    ).fetchall()
    gone = {str(slot) for slot in slots}
    for row, text in rows:
        teams = json.loads(text)
        if gone & set(teams):
            kept = json.dumps({slot: team for slot, team in teams.items() if slot not in gone})
            connection.execute(
                "UPDATE sightings SET teams = %s WHERE namespace = %s AND number = %s", (kept, number, row)
            )
    if not is_inhabited(connection, number):
        connection.execute("DELETE FROM reactions WHERE namespace = %s", (number,))
        connection.execute("DELETE FROM sightings WHERE namespace = %s", (number,))


def forget_users(connection: Server, number: int, names: Collection[str]) -> None:
    """Remove what was seen by those in experiments whom one of these names may mean."""
    rows = connection.execute(
        "SELECT DISTINCT person FROM sightings WHERE namespace = %s", (number,)
    ).fetchall()
    connection.execute(
        "DELETE FROM sightings WHERE namespace = %s AND person = ANY (%s::text[])",
        (number, [user for (user,) in rows if may_mean(user, names)]),
    )
