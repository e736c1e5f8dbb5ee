"""The log of past recalls, and of exposures: which user was shown which variant of an experiment in one.

A recall is a row, its candidates are one blob (:mod:`.logged_recall`); exposures are written with it. Rows
carry the size of all that came before them, so that the oldest which no longer fit are found without adding
anything up.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Final, TypeVar

import numpy as np

from memorata._frozen import frozen
from memorata.model.checks import IntArray
from memorata.store.database import Session
from memorata.store.facets import Facet, reads_namespace
from memorata.store.logged_recall import (
    LogBounds,
    LoggedRecall,
    encoded,
    features_at,
    kept_rows,
    read_back,
    unpacked,
    without,
)
from memorata.store.rows import (
    LARGEST,
    Namespace,
    find_namespace,
    ids_at,
    is_inhabited,
    microseconds,
    moment,
    slots_of,
)
from memorata.text.known_names import may_mention


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


_Namespaced = TypeVar("_Namespaced", LoggedRecall, Exposure)
_COLUMNS: Final = "namespace, id, at, query, recipe, embedder, said, candidates, shown, start, bytes"
_READ: Final = (
    "SELECT r.id, r.at, r.query, p.data, r.embedder, r.said, r.candidates, r.shown FROM recalls r "
    "JOIN recall_recipes p ON p.namespace = r.namespace AND p.number = r.recipe WHERE r.namespace = ?"
)
LOGGED: Final = "SELECT embedder, said, candidates FROM recalls WHERE namespace = ? AND id = ?"
"""Reads what :func:`features_in` needs of one recall."""
_MEGABYTE: Final = 10**6
_UNBOUNDED: Final = LogBounds(LARGEST, LARGEST)
_ROW_OVERHEAD: Final = 100
"""About how many bytes a row takes beside what is in it."""


class RecallLogStore(Facet):
    """The logged recalls of a database, and the exposures that are written with them."""

    def log(
        self,
        recalls: Sequence[LoggedRecall],
        bounds: LogBounds,
        exposed: Sequence[Exposure] = (),
        *,
        patience: float | None = None,
    ) -> None:
        """Write recalls, and exposures to variants of experiments, and remove the oldest.

        Memories that are gone by now are left out, and so is a namespace that has none, and a recall that saw
        its namespace before something in it was purged: its query may name that. Unlike a memory, a recall
        need not be on the disk when this returns. Other writers are waited for so many seconds, or as long as
        usual; then this raises :class:`~memorata.model.errors.StoreUnavailable`.
        """
        if not recalls and not exposed:
            return

        def write(session: Session) -> None:
            late = set()
            for namespace, entries in _by_namespace(session, recalls):
                timely = _unpurged(session, namespace, entries)
                late |= {entry.id for entry in entries} - {entry.id for entry in timely}
                if timely:
                    _add(session, namespace.number, timely, bounds)
            # The user of a recall that was dropped may be the one that was purged.
            for namespace, shown in _by_namespace(
                session, [entry for entry in exposed if entry.recall_id not in late]
            ):
                _expose(session, namespace.number, shown)

        paths = {entry.namespace for entry in recalls} | {entry.namespace for entry in exposed}
        self._database.write(write, *sorted(paths), durable=False, patience=patience)

    def move(self, namespace: str, to: str, recalls: Sequence[LoggedRecall]) -> None:
        """Log recalls of one namespace in another instead, as far as their candidates are there."""

        def write(session: Session) -> None:
            source, target = find_namespace(session, namespace), find_namespace(session, to)
            assert source is not None  # they were logged there
            assert target is not None  # their candidates are there
            session.execute(
                "DELETE FROM recalls WHERE namespace = ? AND id IN (SELECT value FROM json_each(?))",
                (source.number, session.dialect.array([entry.id for entry in recalls])),
            )
            slots = slots_of(session, target.number, {id_ for entry in recalls for id_ in entry.ids})
            moved = []
            for entry in recalls:
                at = np.array([slots.get(id_, -1) for id_ in entry.ids], np.intp)
                moved.append(without(replace(entry, namespace=to, slots=at, seen=None), at >= 0))
            _add(session, target.number, moved, _UNBOUNDED)

        self._database.write(write, namespace, to)

    @reads_namespace(list)
    def list(
        self,
        session: Session,
        namespace: Namespace,
        *,
        since: datetime | None = None,
        limit: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[LoggedRecall]:
        """Return logged recalls, the latest first."""
        sql, values = _READ, list[Any]([namespace.number])
        if since is not None:
            sql += " AND r.at >= ?"
            values.append(microseconds(since))
        if ids is not None:
            sql += " AND r.id IN (SELECT value FROM json_each(?))"
            values.append(session.dialect.array(ids))
        values.append(LARGEST if limit is None else min(limit, LARGEST))
        rows = session.execute(f"{sql} ORDER BY r.number DESC LIMIT ?", values)
        return read_back(rows, namespace.path, lambda slots: ids_at(session, namespace.number, slots))


def features_in(logged: Sequence[Any], slot: int) -> dict[str, float] | None:
    """Return the features, by column, that a memory had in a row of `LOGGED`; None if it was not found."""
    _, description, blob = logged
    slots, columns, values = unpacked(json.loads(description), blob)
    places = np.flatnonzero(slots == slot)
    return features_at(columns, values, int(places[0])) if places.size else None


def purge_recalls(session: Session, number: int, slots: Sequence[int]) -> None:
    """Remove purged memories from the logged recalls; a recall without other candidates goes with them."""
    gone = np.array(sorted(slots), np.intp)
    rows = session.execute(
        "SELECT number, said, candidates, shown FROM recalls WHERE namespace = ?", (number,)
    ).fetchall()
    for row, text, blob, shown in rows:
        description = json.loads(text)
        purged = np.isin(np.frombuffer(blob, "<i4", description["count"]), gone)
        if not purged.any():
            continue
        if purged.all():
            session.execute("DELETE FROM recalls WHERE namespace = ? AND number = ?", (number, row))
            continue
        candidates, columns, matrix = unpacked(description, blob)
        positions = tuple(np.frombuffer(shown, "<u2").tolist())
        remaining, values, still_shown = kept_rows(candidates, matrix, positions, ~purged)
        text, blob = encoded(
            remaining, columns, values, description["situation"], description["milliseconds"]
        )
        session.execute(
            "UPDATE recalls SET said = ?, candidates = ?, shown = ? WHERE namespace = ? AND number = ?",
            (text, blob, np.array(still_shown, "<u2").tobytes(), number, row),
        )
    session.execute(
        "DELETE FROM recall_recipes WHERE namespace = ? "
        "AND number NOT IN (SELECT recipe FROM recalls WHERE namespace = ?)",
        (number, number),
    )


def forget_queries(session: Session, number: int, names: Collection[str]) -> None:
    """Remove the text of logged queries that may mention one of these names; their candidates stay."""
    rows = session.execute(
        "SELECT number, query FROM recalls WHERE namespace = ? AND query IS NOT NULL", (number,)
    ).fetchall()
    session.executemany(
        "UPDATE recalls SET query = NULL WHERE namespace = ? AND number = ?",
        [(number, row) for row, query in rows if may_mention(query, names)],
    )


def _by_namespace(
    session: Session, entries: Iterable[_Namespaced]
) -> Iterator[tuple[Namespace, list[_Namespaced]]]:
    """Yield the entries by namespace; none of one without memories, for it may have been purged."""
    groups: dict[str, list[_Namespaced]] = {}
    for entry in entries:
        groups.setdefault(entry.namespace, []).append(entry)
    for path in sorted(groups):
        namespace = find_namespace(session, path)
        if namespace is not None and is_inhabited(session, namespace.number):
            yield namespace, groups[path]


def _unpurged(session: Session, namespace: Namespace, entries: Sequence[LoggedRecall]) -> list[LoggedRecall]:
    """Return the recalls since which nothing was purged: a query may name what is gone."""
    (last,) = session.execute(
        "SELECT coalesce(max(change), 0) FROM changes "
        "WHERE namespace = ? AND kind <> 'add' AND kind = 'purge' AND change > ?",
        (namespace.number, min((entry.seen for entry in entries if entry.seen is not None), default=0)),
    ).fetchone()
    # The name may have been another's, which was purged as a whole.
    purged = max(last, namespace.begun)
    return [entry for entry in entries if entry.seen is None or entry.seen >= purged]


def _add(session: Session, number: int, entries: Sequence[LoggedRecall], bounds: LogBounds) -> None:
    """Write recalls of a namespace, leaving out memories that are gone, and remove the oldest."""
    # A writer that is interrupted after its commit writes the same recalls again.
    written = session.execute(
        "SELECT id FROM recalls WHERE namespace = ? AND id IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array([entry.id for entry in entries])),
    )
    existing = {id_ for (id_,) in written}
    unpurged = _unpurged_slots(session, number, entries)
    recipes: dict[int, int] = {}
    scope, of = _scope(session, number)
    last = session.execute(
        f"SELECT start + bytes FROM recalls WHERE {scope} ORDER BY start DESC LIMIT 1", of
    ).fetchone()
    size = 0 if last is None else last[0]
    rows = []
    for entry in {entry.id: entry for entry in entries if entry.id not in existing}.values():
        logged = entry if unpurged is None else without(entry, np.isin(entry.slots, unpurged))
        features = logged.slots, logged.columns, logged.values
        description, blob = encoded(*features, logged.situation, logged.milliseconds)
        shown = np.array(logged.shown, "<u2").tobytes()
        length = len(blob) + len(shown) + len(description) + len((entry.query or "").encode()) + _ROW_OVERHEAD
        recipe = recipes.get(id(entry.recipe))
        if recipe is None:
            recipe = recipes[id(entry.recipe)] = _recipe(session, number, entry.recipe)
        of_recall = number, entry.id, microseconds(entry.at), entry.query, recipe, entry.embedder
        rows.append((*of_recall, description, blob, shown, size, length))
        size += length
    if rows:
        session.insert("recalls", _COLUMNS, *rows)
    _trim(session, number, size - bounds.megabytes * _MEGABYTE, bounds.recalls)


def _scope(session: Session, number: int) -> tuple[str, tuple[int, ...]]:
    """Return the condition of the rows that the bounds count: a file, or on a server a namespace."""
    return ("namespace = ?", (number,)) if session.dialect.remote else ("true", ())


def _trim(session: Session, number: int, start: int, recalls: int) -> None:
    """Remove the recalls that lie before a byte of the log, and all but the latest so many."""
    scope, of = _scope(session, number)
    surplus = session.execute(
        f"SELECT start FROM recalls WHERE {scope} ORDER BY start DESC LIMIT 1 OFFSET ?",
        (*of, min(recalls, LARGEST)),
    ).fetchone()
    first = max(0, start if surplus is None else max(start, surplus[0] + 1))
    session.execute(f"DELETE FROM recalls WHERE {scope} AND start < ?", (*of, first))


def _unpurged_slots(session: Session, number: int, entries: Sequence[LoggedRecall]) -> IntArray | None:
    """Return the slots of candidates that have not been purged; None if that is all of them."""
    if all(entry.seen is not None for entry in entries):
        # They were checked before: nothing was purged since.
        return None
    slots = set(np.concatenate([entry.slots for entry in entries]).tolist())
    ids = ids_at(session, number, slots)
    return None if len(ids) == len(slots) else np.array(list(ids), np.intp)


def _recipe(session: Session, number: int, recipe: Mapping[str, Any]) -> int:
    """Return the number of a recipe's data, which most recalls share."""
    data = json.dumps(dict(recipe), sort_keys=True)
    digest = hashlib.blake2b(data.encode(), digest_size=16).digest()
    row = session.execute(
        "SELECT number FROM recall_recipes WHERE namespace = ? AND digest = ?", (number, digest)
    ).fetchone()
    if row is not None:
        return int(row[0])
    return session.insert("recall_recipes", "namespace, digest, data", (number, digest, data))


class ExposureStore(Facet):
    """The exposures of a database, which :meth:`RecallLogStore.log` writes."""

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
        by_id = [{ids[slot]: team for slot, team in by_slot.items() if slot in ids} for by_slot in teams]
        return [
            Exposure(namespace.path, experiment, variant, user, recall, moment(at), results, of_memories)
            for (variant, user, recall, at, results, _), of_memories in zip(rows, by_id, strict=True)
        ]


def _expose(session: Session, number: int, exposures: Sequence[Exposure]) -> None:
    """Write exposures of a namespace; memories that are gone are left out of the teams."""
    slots = slots_of(session, number, [id_ for exposure in exposures for id_ in exposure.teams])
    for shown in exposures:
        teams = {str(slots[id_]): team for id_, team in shown.teams.items() if id_ in slots}
        of_recall = shown.recall_id, microseconds(shown.at), shown.results, json.dumps(teams)
        session.insert(
            "exposures",
            'namespace, experiment, variant, "user", recall, at, results, teams',
            (number, shown.experiment, shown.variant, shown.user, *of_recall),
        )


def team_slots(session: Session, number: int, recall: str) -> set[int]:
    """Return the slots of the memories that a list of two rankings showed in a recall."""
    rows = session.execute("SELECT teams FROM exposures WHERE namespace = ? AND recall = ?", (number, recall))
    return {int(slot) for (teams,) in rows for slot in json.loads(teams)}


def purge_exposures(session: Session, number: int, slots: Sequence[int]) -> None:
    """Remove purged memories from the teams of a namespace."""
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
