"""The part of the store on a server that knows repeats, and the runs that found them.

What each of these means is what its namesake for files means (:mod:`memorata.store.sqlite.repeats`): both
ends of every new link are current memories, so there can be no cycle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from memorata.index.record import changed
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.inheritance import INHERITED_KINDS, given_back, noted, taken_over
from memorata.store.instants import instant, microseconds, moment
from memorata.store.port import Entry, Terms
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.finding import Kept, find, put_record, set_columns
from memorata.store.postgres.namespaces import EMPTY
from memorata.store.postgres.relinking import (
    began,
    is_end_given,
    led_to,
    note_taken,
    notes_of,
    relink,
    settle_ends,
)
from memorata.store.postgres.rows import OWN, memory
from memorata.store.postgres.writing import update
from memorata.store.repeats import Linked, Repeat, Run, Undone
from memorata.store.supersession import ended_again, ended_by

_PREFIX: Final = 10
_PLAIN: Final = "m.superseded_by IS NULL AND (m.speaker = '' OR m.session = '' OR m.position IS NULL)"
"""Current, and no turn of a transcript: word for word the condition of the index of fingerprints."""
_RUN: Final = (
    "SELECT r.number, r.started_at, r.finished_at, r.undone_at, r.strategy, "
    "(SELECT count(*) FROM repeats x WHERE x.namespace = r.namespace AND x.run = r.number) "
    "FROM duplicate_runs r WHERE r.namespace = %s"
)
_LAST_RUN: Final = f"{_RUN} ORDER BY r.number DESC LIMIT 1"
_REPEATS: Final = (
    "FROM repeats r JOIN memories m ON m.namespace = r.namespace AND m.slot = r.memory "
    "JOIN memories w ON w.namespace = r.namespace AND w.slot = r.winner"
)


class RepeatStore:
    """What :class:`~memorata.store.port.Store` promises about repeats."""

    _database: Database

    # --- repeats --------------------------------------------------------------------------------------

    def same(self, namespace: str, fingerprints: Sequence[str], now: datetime) -> dict[str, list[Memory]]:
        """Return the memories that may be seen at `now` with each of the fingerprints, oldest first.

        Inside a write, others who write there wait until it has ended: of two who say the same at the same
        time, the second finds what the first has said.
        """
        wanted = set(fingerprints)

        def read(connection: Server) -> dict[str, list[Memory]]:
            look = namespaces.made if self._database.is_writing else namespaces.find
            rows = connection.execute(
                f"SELECT {OWN} FROM memories m WHERE m.namespace = %s "
                f"AND substr(m.fingerprint, 1, {_PREFIX}) = ANY (%s::text[]) AND {_PLAIN} "
                "AND m.forgotten_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > %s) ORDER BY m.slot",
                (
                    (look(connection, namespace) or EMPTY).number,
                    sorted({each[:_PREFIX] for each in wanted}),
                    microseconds(now),
                ),
            )
            found: dict[str, list[Memory]] = {}
            for row in rows:
                each = memory(row, namespace)
                if each.fingerprint in wanted:
                    found.setdefault(each.fingerprint, []).append(each)
            return found

        return self._database.read(read)

    def unheard(self, namespace: str, content: str) -> bool:
        """Tell whether a text can repeat or contradict nothing: that is not known before the server looks."""
        return False

    def replaced(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that any of the given ones superseded, in the order they were added."""

        def read(connection: Server) -> list[Memory]:
            rows = connection.execute(
                f"SELECT {OWN} FROM memories m WHERE m.namespace = %s "
                "AND m.superseded_by = ANY (%s::text[]) ORDER BY m.slot",
                ((namespaces.find(connection, namespace) or EMPTY).number, list(ids)),
            )
            return [memory(row, namespace) for row in rows]

        return self._database.read(read)

    def repeat(
        self, namespace: str, given: Sequence[Repeat], terms_of: Callable[[Memory], Terms] | None = None
    ) -> None:
        """Supersede memories that repeat others, and note it; all or none."""

        def write(connection: Server) -> None:
            for each in given:
                _repeat(connection, namespace, each, terms_of)

        self._database.write(write)

    def relink(self, namespace: str, links: Sequence[Linked]) -> None:
        """Say which memories took the place of which, as another store has it; all or none."""
        self._database.write(lambda connection: relink(connection, namespace, links))

    def repeats(
        self, namespace: str, *, of: Sequence[str] | None = None, run: int | None = None
    ) -> list[Repeat]:
        """Return notes of repeats, in the order in which they were made."""
        condition = "r.namespace = %(whose)s"
        if of is not None:
            condition += " AND w.id = ANY (%(of)s::text[])"
        if run is not None:
            condition += " AND r.run = %(run)s"

        def read(connection: Server) -> list[Repeat]:
            rows = connection.execute(
                "SELECT m.id, w.id, r.kind, r.reason, r.at, r.mentions, r.after, r.supported_after, r.run "
                f"{_REPEATS} WHERE {condition} ORDER BY r.number",
                {
                    "whose": (namespaces.find(connection, namespace) or EMPTY).number,
                    "of": None if of is None else list(of),
                    "run": run,
                },
            )
            return [
                Repeat(id_, of_, kind, reason, moment(at), mentions, sure, instant(support), run_)
                for id_, of_, kind, reason, at, mentions, sure, support, run_ in rows
            ]

        return self._database.read(read)

    # --- runs -----------------------------------------------------------------------------------------

    def start_run(self, namespace: str, strategy: str, now: datetime) -> Run:
        """Begin a run, or go on with the last one if it was interrupted."""

        def write(connection: Server) -> Run:
            whose = namespaces.locked(connection, namespace)
            if whose is None:
                raise InvalidArgument("namespace", namespace, "one that there is")
            last = connection.execute(_LAST_RUN, (whose.number,)).fetchone()
            if last is None or last[2] is not None or last[3] is not None:
                connection.execute(
                    "INSERT INTO duplicate_runs (namespace, started_at, strategy) VALUES (%s, %s, %s)",
                    (whose.number, microseconds(now), strategy),
                )
                last = connection.execute(_LAST_RUN, (whose.number,)).fetchone()
            assert last is not None  # it was there, or was just made
            return _run(last)

        return self._database.write(write)

    def finish_run(self, namespace: str, number: int, now: datetime) -> None:
        """Say that a run is done."""
        self._database.write(
            lambda connection: connection.execute(
                "UPDATE duplicate_runs SET finished_at = %s WHERE number = %s "
                "AND namespace = (SELECT number FROM namespaces WHERE path = %s)",
                (microseconds(now), number, namespace),
            )
        )

    def runs(self, namespace: str) -> list[Run]:
        """Return the runs over a namespace, the latest first."""
        return self._database.read(
            lambda connection: [
                _run(row)
                for row in connection.execute(
                    f"{_RUN} ORDER BY r.number DESC",
                    ((namespaces.find(connection, namespace) or EMPTY).number,),
                )
            ]
        )

    def undo_run(
        self,
        namespace: str,
        number: int,
        now: datetime,
        terms_of: Callable[[Memory], Terms] | None = None,
    ) -> Undone:
        """Take back what a run did: what it superseded is current again, in one transaction."""
        return self._database.write(lambda connection: _undo(connection, namespace, number, now, terms_of))


def link_repeats(connection: Server, entries: Sequence[Entry]) -> int:
    """Link memories that say they repeat an older one, as those do that come from another store.

    Return the number of the last change; 0 if there was none.
    """
    last = 0
    for entry in entries:
        if entry.memory.superseded_by is None:
            continue
        path, wanted = entry.memory.namespace, entry.memory.superseded_by
        added = find(connection, path, entry.memory.id)
        way = led_to(connection, added.namespace.number, wanted)
        # What it repeats may have been superseded since, by anything but what leads here.
        if added.memory.superseded_by is None and added.slot not in way and way and way[0] < added.slot:
            winner = find(connection, path, wanted)
            at = max(winner.memory.created_at, added.memory.created_at)
            supersede(connection, path, added.memory.id, winner, at)
            last = (namespaces.find(connection, path) or EMPTY).change
    return last


def supersede(connection: Server, namespace: str, loser_id: str, winner: Kept, at: datetime) -> int:
    """Mark a current memory as superseded by another, and return its slot."""
    kept = find(connection, namespace, loser_id)
    loser = kept.memory
    if loser.superseded_by is not None or loser.id == winner.memory.id:
        raise InvalidArgument("memory_id", loser_id, "a memory that is current, and another than the other")
    until, given, first = loser.valid_to, False, None
    if winner.slot > kept.slot:
        first = began(connection, kept.namespace.number, winner.memory.id)
        until = loser.valid_to or ended_by(loser, first)
        given = loser.valid_to is None
        set_columns(connection, winner, supersedes=[*winner.memory.supersedes, loser.id])
        put_record(connection, winner, winner.record.tobytes(), "update")
    set_columns(
        connection,
        kept,
        superseded_by=winner.memory.id,
        superseded_at=microseconds(at),
        valid_to=microseconds(until),
        end_given=given,
    )
    record = changed(
        kept.record, superseded=at.timestamp(), until=math.inf if until is None else until.timestamp()
    )
    put_record(connection, kept, record, "supersede")
    if first is not None and first < loser.event_time:
        # What it had itself taken the place of ended sooner, too.
        settle_ends(connection, kept.namespace, loser.id)
    return kept.slot


def _repeat(
    connection: Server, namespace: str, each: Repeat, terms_of: Callable[[Memory], Terms] | None
) -> None:
    kept = find(connection, namespace, each.of, lock=True)
    if kept.memory.superseded_by is not None:
        raise InvalidArgument("of", each.of, "a memory that is current")
    loser = supersede(connection, namespace, each.memory_id, kept, each.at)
    winner = find(connection, namespace, each.of).memory
    after = winner.confidence if each.confidence is None else each.confidence
    support = max(filter(None, (winner.supported_at, each.supported_at)), default=None)
    gained = replace(winner, mentions=winner.mentions + each.mentions, confidence=after, supported_at=support)
    again = find(connection, namespace, each.memory_id).memory
    taken = {} if terms_of is None or each.kind not in INHERITED_KINDS else taken_over(winner, again)
    update(connection, replace(gained, **taken), winner.version, terms_of)
    connection.execute(
        "INSERT INTO repeats (namespace, memory, winner, run, kind, reason, at, mentions, before, after, "
        "supported_before, supported_after, gained) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (
            kept.namespace.number,
            loser,
            kept.slot,
            each.run,
            each.kind,
            each.reason,
            microseconds(each.at),
            each.mentions,
            winner.confidence,
            after,
            microseconds(winner.supported_at),
            microseconds(support),
            noted(winner, taken),
        ),
    )


def _undo(
    connection: Server,
    namespace: str,
    number: int,
    now: datetime,
    terms_of: Callable[[Memory], Terms] | None,
) -> Undone:
    whose = namespaces.locked(connection, namespace) or EMPTY
    rows = connection.execute(
        "SELECT r.number, m.id, w.id, r.before, r.after, r.mentions, r.supported_before, "
        f"r.supported_after {_REPEATS} WHERE r.run = %s AND r.namespace = %s ORDER BY r.number DESC",
        (number, whose.number),
    ).fetchall()
    reinstated, left = [], []
    for note, loser_id, winner_id, before, after, mentions, once, since in rows:
        winner = find(connection, namespace, winner_id).memory
        loser = find(connection, namespace, loser_id).memory
        if winner.superseded_by is not None or loser.superseded_by != winner_id:
            left.append(loser)
            continue
        notes = notes_of(connection, whose, winner_id)
        reinstated.append(_reinstate(connection, namespace, loser_id))
        winner = _unlisted(connection, namespace, winner_id, loser_id)
        poorer = replace(
            winner,
            mentions=max(1, winner.mentions - mentions),
            confidence=before if winner.confidence == after else winner.confidence,
            supported_at=instant(once) if winner.supported_at == instant(since) else winner.supported_at,
        )
        connection.execute("DELETE FROM repeats WHERE namespace = %s AND number = %s", (whose.number, note))
        if terms_of is not None:
            poorer, others = given_back(poorer, notes, {note})
            note_taken(connection, whose, others)
        update(connection, poorer, winner.version, terms_of)
    found = connection.execute(
        "UPDATE duplicate_runs SET undone_at = %s, finished_at = coalesce(finished_at, %s) "
        "WHERE number = %s AND namespace = %s AND undone_at IS NULL",
        (microseconds(now), microseconds(now), number, whose.number),
    )
    if not found.rowcount:
        raise InvalidArgument("run", number, "a run of this namespace that was not undone yet")
    return Undone(tuple(reinstated), tuple(left))


def _reinstate(connection: Server, namespace: str, id_: str) -> Memory:
    """Let a superseded memory be current again; an end that it was given goes, one of its own stays."""
    kept = find(connection, namespace, id_)
    until = ended_again(kept.memory, is_end_given(connection, kept), None)
    ended = microseconds(until)
    set_columns(connection, kept, superseded_by=None, superseded_at=None, valid_to=ended, end_given=False)
    record = changed(kept.record, superseded=math.inf, until=math.inf if until is None else until.timestamp())
    put_record(connection, kept, record, "reinstate")
    settle_ends(connection, kept.namespace, id_)
    return find(connection, namespace, id_).memory


def _unlisted(connection: Server, namespace: str, winner_id: str, loser_id: str) -> Memory:
    """Take one memory out of what another supersedes, and return that."""
    kept = find(connection, namespace, winner_id)
    if loser_id not in kept.memory.supersedes:
        return kept.memory
    ids = tuple(id_ for id_ in kept.memory.supersedes if id_ != loser_id)
    connection.execute(
        "UPDATE memories SET supersedes = %s WHERE namespace = %s AND slot = %s",
        (list(ids), kept.namespace.number, kept.slot),
    )
    return replace(kept.memory, supersedes=ids)


def _run(row: tuple[Any, ...]) -> Run:
    number, started, finished, undone, strategy, repeats = row
    return Run(number, moment(started), instant(finished), instant(undone), strategy, repeats)
