"""Exposures: which user was shown which variant of an experiment."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from memorata._frozen import frozen
from memorata.store.database import Session
from memorata.store.facets import Facet, reads_namespace
from memorata.store.rows import Namespace, ids_at, is_inhabited, microseconds, moment, slots_of
from memorata.text.name_matching import may_mention


@frozen
class Exposure:
    """That a user was shown a variant of an experiment, in a recall with so many results."""

    namespace: str
    experiment: str
    variant: str
    user: str
    recall_id: str
    at: datetime
    results: int
    teams: Mapping[str, int] = field(default_factory=dict, hash=False)
    """For two rankings in one list: by memory, which ranking it is from (1, -1, or 0 for neither)."""


class ExposureStore(Facet):
    """The exposures of a database; they are written with the log of recalls (:mod:`.recall_log`)."""

    @reads_namespace(list)
    def list(self, session: Session, namespace: Namespace, experiment: str) -> list[Exposure]:
        """Return the exposures to an experiment, in the order in which they happened."""
        rows = session.execute(
            'SELECT variant, "user", recall, at, results, teams FROM exposures '
            "WHERE namespace = ? AND experiment = ? ORDER BY number",
            (namespace.number, experiment),
        ).fetchall()
        teams = [{int(slot): team for slot, team in json.loads(row[5]).items()} for row in rows]
        ids = ids_at(session, namespace.number, {slot for by_slot in teams for slot in by_slot})
        return [
            Exposure(
                namespace.path,
                experiment,
                variant,
                user,
                recall,
                moment(at),
                results,
                {ids[slot]: team for slot, team in by_slot.items() if slot in ids},
            )
            for (variant, user, recall, at, results, _), by_slot in zip(rows, teams, strict=True)
        ]


def add(session: Session, number: int, exposures: Sequence[Exposure]) -> None:
    """Write exposures of a namespace; memories that are gone are left out of the teams."""
    slots = slots_of(session, number, [id_ for exposure in exposures for id_ in exposure.teams])
    for exposure in exposures:
        teams = {str(slots[id_]): team for id_, team in exposure.teams.items() if id_ in slots}
        session.insert(
            "exposures",
            'namespace, experiment, variant, "user", recall, at, results, teams',
            (
                number,
                exposure.experiment,
                exposure.variant,
                exposure.user,
                exposure.recall_id,
                microseconds(exposure.at),
                exposure.results,
                json.dumps(teams),
            ),
        )


def team_slots(session: Session, number: int, recall: str) -> set[int]:
    """Return the slots of the memories that a list of two rankings showed in a recall."""
    rows = session.execute("SELECT teams FROM exposures WHERE namespace = ? AND recall = ?", (number, recall))
    return {int(slot) for (teams,) in rows for slot in json.loads(teams)}


def purge_exposures(session: Session, number: int, slots: Sequence[int]) -> None:
    """Remove purged memories from the teams of a namespace; all exposures, once no memory is left."""
    if not is_inhabited(session, number):
        session.execute("DELETE FROM exposures WHERE namespace = ?", (number,))
        return
    gone = {str(slot) for slot in slots}
    rows = session.execute(
        "SELECT number, teams FROM exposures WHERE namespace = ? AND teams <> '{}'", (number,)
    ).fetchall()
    for row, text in rows:
        teams = json.loads(text)
        if not gone.isdisjoint(teams):
            remaining = json.dumps({slot: team for slot, team in teams.items() if slot not in gone})
            session.execute(
                "UPDATE exposures SET teams = ? WHERE namespace = ? AND number = ?", (remaining, number, row)
            )


def forget_users(session: Session, number: int, names: Collection[str]) -> None:
    """Remove the exposures of users of experiments that one of these names may mean."""
    rows = session.execute('SELECT DISTINCT "user" FROM exposures WHERE namespace = ?', (number,)).fetchall()
    session.executemany(
        'DELETE FROM exposures WHERE namespace = ? AND "user" = ?',
        [(number, user) for (user,) in rows if may_mean(user, names)],
    )


def may_mean(user: str, names: Collection[str]) -> bool:
    """Return whether a user of an experiment may be one of these names: names of accounts are spelt freely.

    >>> [may_mean(user, ["Anna Berg"]) for user in ("anna_berg", "a.berg@acme.example", "annabel", "")]
    [True, True, False, False]
    >>> may_mean("user_4711", ["Anna Berg", "user_4711"])
    True
    """
    return may_mention(user.replace("_", " "), [name.replace("_", " ") for name in names])
