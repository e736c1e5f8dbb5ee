"""The part of the store on one SQLite file that knows repeats, the runs that found them, and contradictions.

A memory is superseded by its own row (``superseded_by``); what supersedes an older one also lists it in
``supersedes``, as corrections do. One that is superseded by an *older* one, because it only repeats it, is
linked by its own row alone. Both ends of every new link are current memories, so a link leads from the root
of one tree of ``superseded_by`` to the root of another: there can be no cycle. Only what comes from elsewhere
is linked to what is superseded by now, and not if that leads back to it.
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memorata.index.record import changed
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.instants import instant, microseconds
from memorata.store.limits import LARGEST
from memorata.store.port import Entry, Terms
from memorata.store.sqlite import addresses
from memorata.store.sqlite.connection import reading
from memorata.store.sqlite.connection import writing as transaction
from memorata.store.sqlite.finding import find, find_namespace, put_record, record_of
from memorata.store.sqlite.relinking import began, led_to, note_taken, notes_of, relink, settle_ends
from memorata.store.sqlite.rows import SELECTED, SOURCE, marks, memory
from memorata.store.sqlite.writing import update
from memorata.store.succession import ended_again, ended_by
from memorata.store.taking_over import KINDS, given_back, noted, taken_over

if TYPE_CHECKING:
    from memorata.store.repeats import Contradiction, Linked, Repeat, Run, Undone

_AT_ONCE: Final = 500
_RUN: Final = (
    "SELECT number, started_at, finished_at, undone_at, strategy, "
    "(SELECT count(*) FROM repeats WHERE run = r.number) FROM duplicate_runs r WHERE namespace = ?"
)
_LAST_RUN: Final = f"{_RUN} ORDER BY number DESC LIMIT 1"
_HINT: Final = (
    "SELECT n.id, o.id, c.cue, c.reason, c.at, c.verdict, c.decided_by, c.decided_because, c.decided_at "
    "FROM contradictions c JOIN memories n ON n.number = c.newer JOIN memories o ON o.number = c.older "
    "WHERE c.namespace = ?"
)


class RepeatStore:
    """What :class:`~memorata.store.port.Store` promises about repeats and contradictions."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock

    # --- repeats --------------------------------------------------------------------------------------

    def replaced(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that any of the given ones superseded, in the order they were added."""
        with self._lock, reading(self._connection, self.path):
            whose = find_namespace(self._connection, namespace)
            if whose is None:
                return []
            rows = []
            for start in range(0, len(ids), _AT_ONCE):
                some = ids[start : start + _AT_ONCE]
                rows += self._connection.execute(
                    f"SELECT m.number, {SELECTED} FROM {SOURCE} WHERE m.superseded_by IN ({marks(some)}) "
                    "AND m.namespace = ?",
                    (*some, whose.number),
                ).fetchall()
        return [memory(row[1:]) for row in sorted(rows, key=lambda row: int(row[0]))]

    def repeat(
        self, namespace: str, given: Sequence[Repeat], terms_of: Callable[[Memory], Terms] | None = None
    ) -> None:
        """Supersede memories that repeat others, and note it; all or none.

        Both ends must be current. One that repeats a younger memory held until that began; one that repeats
        an older memory never held by itself.
        """
        with self._lock, transaction(self._connection, self.path):
            losers = [self._repeat(namespace, each, terms_of) for each in given]
            addresses.leave_out(self._connection, losers)

    def relink(self, namespace: str, links: Sequence[Linked]) -> None:
        """Say which memories took the place of which, as another store has it; all or none."""
        with self._lock, transaction(self._connection, self.path):
            relink(self._connection, namespace, links)

    def repeats(
        self, namespace: str, *, of: Sequence[str] | None = None, run: int | None = None
    ) -> list[Repeat]:
        """Return notes of repeats, in the order in which they were made."""
        condition, values = "", []
        if of is not None:
            condition += f" AND w.id IN ({marks(of)})"
            values += list(of)
        if run is not None:
            condition += " AND r.run = ?"
            values.append(str(run))
        with self._lock, reading(self._connection, self.path):
            whose = find_namespace(self._connection, namespace)
            if whose is None:
                return []
            rows = self._connection.execute(
                "SELECT m.id, w.id, r.kind, r.reason, r.at, r.mentions, r.after, r.supported_after, r.run "
                "FROM repeats r "
                "JOIN memories m ON m.number = r.memory JOIN memories w ON w.number = r.winner "
                f"WHERE r.namespace = ?{condition} ORDER BY r.number",
                (whose.number, *values),
            ).fetchall()
        from memorata.store.repeats import Repeat

        return [
            Repeat(id_, of_, kind, reason, _known(at), mentions, confidence, instant(support), run_)
            for id_, of_, kind, reason, at, mentions, confidence, support, run_ in rows
        ]

    # --- runs -----------------------------------------------------------------------------------------

    def start_run(self, namespace: str, strategy: str, now: datetime) -> Run:
        """Begin a run, or go on with the last one if it was interrupted."""
        with self._lock, transaction(self._connection, self.path):
            whose = find_namespace(self._connection, namespace)
            if whose is None:
                raise InvalidArgument("namespace", namespace, "one that there is")
            last = self._connection.execute(_LAST_RUN, (whose.number,)).fetchone()
            if last is not None and last[2] is None and last[3] is None:
                return _run(last)
            self._connection.execute(
                "INSERT INTO duplicate_runs (namespace, started_at, strategy) VALUES (?, ?, ?)",
                (whose.number, microseconds(now), strategy),
            )
            row = self._connection.execute(_LAST_RUN, (whose.number,)).fetchone()
        return _run(row)

    def finish_run(self, namespace: str, number: int, now: datetime) -> None:
        """Say that a run is done."""
        with self._lock, transaction(self._connection, self.path):
            self._connection.execute(
                "UPDATE duplicate_runs SET finished_at = ? WHERE number = ? "
                "AND namespace = (SELECT number FROM namespaces WHERE path = ?)",
                (microseconds(now), number, namespace),
            )

    def runs(self, namespace: str) -> list[Run]:
        """Return the runs over a namespace, the latest first."""
        with self._lock, reading(self._connection, self.path):
            whose = find_namespace(self._connection, namespace)
            if whose is None:
                return []
            rows = self._connection.execute(f"{_RUN} ORDER BY number DESC", (whose.number,)).fetchall()
        return [_run(row) for row in rows]

    def undo_run(
        self,
        namespace: str,
        number: int,
        now: datetime,
        terms_of: Callable[[Memory], Terms] | None = None,
    ) -> Undone:
        """Take back what a run did: what it superseded is current again, in one transaction.

        A confidence that has changed since stays. What repeats something that was superseded in the meantime
        stays superseded too, for it was corrected in what it repeats.
        """
        reinstated, left = [], []
        # No run has the largest number of a database; one above it cannot even be asked for.
        wanted = min(number, LARGEST)
        with self._lock, transaction(self._connection, self.path):
            whose = find_namespace(self._connection, namespace)
            rows = self._connection.execute(
                "SELECT r.number, m.id, w.id, r.before, r.after, r.mentions, r.supported_before, "
                "r.supported_after FROM repeats r "
                "JOIN memories m ON m.number = r.memory JOIN memories w ON w.number = r.winner "
                "WHERE r.run = ? AND r.namespace = ? ORDER BY r.number DESC",
                (wanted, 0 if whose is None else whose.number),
            ).fetchall()
            for note, loser_id, winner_id, before, after, mentions, once, since in rows:
                _, _, _, winner = find(self._connection, namespace, winner_id)
                _, _, _, loser = find(self._connection, namespace, loser_id)
                if winner.superseded_by is not None or loser.superseded_by != winner_id:
                    left.append(loser)
                    continue
                notes = notes_of(self._connection, namespace, winner_id)
                reinstated.append(self._reinstate(namespace, loser_id))
                winner = self._unlisted(namespace, winner_id, loser_id)
                poorer = replace(
                    winner,
                    mentions=max(1, winner.mentions - mentions),
                    confidence=before if winner.confidence == after else winner.confidence,
                    supported_at=instant(once)
                    if winner.supported_at == instant(since)
                    else winner.supported_at,
                )
                self._connection.execute("DELETE FROM repeats WHERE number = ?", (note,))
                if terms_of is not None:
                    poorer, others = given_back(poorer, notes, {note})
                    note_taken(self._connection, others)
                update(self._connection, poorer, winner.version, terms_of)
            found = self._connection.execute(
                "UPDATE duplicate_runs SET undone_at = ?, finished_at = coalesce(finished_at, ?) "
                "WHERE number = ? AND namespace = ? AND undone_at IS NULL",
                (microseconds(now), microseconds(now), wanted, 0 if whose is None else whose.number),
            )
            if not found.rowcount:
                raise InvalidArgument("run", number, "a run of this namespace that was not undone yet")
        from memorata.store.repeats import Undone

        return Undone(tuple(reinstated), tuple(left))

    # --- contradictions -------------------------------------------------------------------------------

    def note_contradictions(self, namespace: str, given: Sequence[Contradiction]) -> None:
        """Note that memories may contradict others; what is noted already stays as it is."""
        with self._lock, transaction(self._connection, self.path):
            for each in given:
                whose, newer, _, _ = find(self._connection, namespace, each.newer)
                _, older, _, _ = find(self._connection, namespace, each.older)
                self._connection.execute(
                    "INSERT INTO contradictions (namespace, newer, older, cue, reason, at) "
                    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (whose.number, newer, older, each.cue, each.reason, microseconds(each.at)),
                )

    def contradictions(
        self, namespace: str, *, id: str | None = None, settled: bool = False
    ) -> list[Contradiction]:
        """Return what was noted, in the order in which it was.

        Of one memory, or of all; without `settled` only what nobody decided, between memories that are
        neither forgotten nor superseded.
        """
        condition, values = "", []
        if id is not None:
            condition += " AND (n.id = ? OR o.id = ?)"
            values += [id, id]
        if not settled:
            condition += " AND c.verdict IS NULL"
            for one in "no":
                condition += f" AND {one}.superseded_by IS NULL AND {one}.forgotten_at IS NULL"
        with self._lock, reading(self._connection, self.path):
            whose = find_namespace(self._connection, namespace)
            if whose is None:
                return []
            rows = self._connection.execute(
                f"{_HINT}{condition} ORDER BY c.number", (whose.number, *values)
            ).fetchall()
        from memorata.store.repeats import Contradiction

        return [
            Contradiction(newer, older, cue, reason, _known(at), verdict, by, because, instant(decided))
            for newer, older, cue, reason, at, verdict, by, because, decided in rows
        ]

    def settle_contradiction(self, namespace: str, given: Contradiction) -> None:
        """Write a decision down; with ``"contradicts"`` the newer memory supersedes the older one.

        Both must be current for that, and the newer must have been added after the older.
        """
        with self._lock, transaction(self._connection, self.path):
            whose, newer, newer_slot, winner = find(self._connection, namespace, given.newer)
            _, older, older_slot, _ = find(self._connection, namespace, given.older)
            found = self._connection.execute(
                "UPDATE contradictions SET verdict = ?, decided_by = ?, decided_because = ?, decided_at = ? "
                "WHERE namespace = ? AND newer = ? AND older = ? AND verdict IS NULL",
                (given.verdict, given.decided_by, given.decided_because, microseconds(given.decided_at),
                 whose.number, newer, older),
            )  # fmt: skip
            if not found.rowcount:
                raise InvalidArgument(
                    "contradiction", f"{given.newer}, {given.older}", "one that is noted and open"
                )
            if given.verdict == "contradicts":
                if newer_slot < older_slot:
                    raise InvalidArgument("newer", given.newer, "a memory that was added after the other")
                self._supersede(namespace, given.older, winner, given.decided_at or given.at)

    # --- inside ---------------------------------------------------------------------------------------

    def _link_repeats(self, entries: Sequence[Entry]) -> int:
        """Link memories that say they repeat an older one, as those do that come from another store.

        Return the number of the last change; 0 if there was none.
        """
        linked = False
        for entry in entries:
            if entry.memory.superseded_by is None:
                continue
            path, wanted = entry.memory.namespace, entry.memory.superseded_by
            added = find(self._connection, path, entry.memory.id)
            way = led_to(self._connection, added[0].number, wanted)
            # What it repeats may have been superseded since, by anything but what leads here.
            if added[3].superseded_by is None and added[2] not in way and way and way[0] < added[2]:
                winner = find(self._connection, path, wanted)[3]
                self._supersede(path, added[3].id, winner, max(winner.created_at, added[3].created_at))
                linked = True
        if not linked:
            return 0
        return int(self._connection.execute("SELECT max(change) FROM changes").fetchone()[0])

    def _repeat(self, namespace: str, each: Repeat, terms_of: Callable[[Memory], Terms] | None) -> int:
        """Supersede one memory, and return its number."""
        whose, winner_number, _, winner = find(self._connection, namespace, each.of)
        if winner.superseded_by is not None:
            raise InvalidArgument("of", each.of, "a memory that is current")
        loser_number = self._supersede(namespace, each.memory_id, winner, each.at)
        _, _, _, winner = find(self._connection, namespace, each.of)
        after = winner.confidence if each.confidence is None else each.confidence
        support = max(filter(None, (winner.supported_at, each.supported_at)), default=None)
        gained = replace(
            winner, mentions=winner.mentions + each.mentions, confidence=after, supported_at=support
        )
        loser = find(self._connection, namespace, each.memory_id)[3]
        taken = {} if terms_of is None or each.kind not in KINDS else taken_over(winner, loser)
        update(self._connection, replace(gained, **taken), winner.version, terms_of)
        self._connection.execute(
            "INSERT INTO repeats (namespace, memory, winner, run, kind, reason, at, mentions, before, after, "
            "supported_before, supported_after, gained) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (whose.number, loser_number, winner_number, each.run, each.kind, each.reason,
             microseconds(each.at), each.mentions, winner.confidence, after,
             microseconds(winner.supported_at), microseconds(support), noted(winner, taken)),
        )  # fmt: skip
        return loser_number

    def _supersede(self, namespace: str, loser_id: str, winner: Memory, at: datetime) -> int:
        """Mark a current memory as superseded by another, and return its number."""
        whose, number, slot, loser = find(self._connection, namespace, loser_id)
        _, winner_number, winner_slot, current = find(self._connection, namespace, winner.id)
        if loser.superseded_by is not None or loser.id == winner.id:
            raise InvalidArgument(
                "memory_id", loser_id, "a memory that is current, and another than the other"
            )
        until, given, first = loser.valid_to, False, None
        if winner_slot > slot:
            first = began(self._connection, whose.number, winner.id)
            until, given = loser.valid_to or ended_by(loser, first), loser.valid_to is None
            self._connection.execute(
                "UPDATE memories SET supersedes = ?, version = version + 1 WHERE number = ?",
                (json.dumps([*current.supersedes, loser.id], ensure_ascii=False), winner_number),
            )
            unchanged = record_of(self._connection, whose, winner_slot).tobytes()
            put_record(self._connection, whose, winner_slot, unchanged, "update")
        self._connection.execute(
            "UPDATE memories SET superseded_by = ?, superseded_at = ?, valid_to = ?, end_given = ?, "
            "version = version + 1 WHERE number = ?",
            (winner.id, microseconds(at), microseconds(until), given, number),
        )
        record = changed(
            record_of(self._connection, whose, slot),
            superseded=at.timestamp(),
            until=math.inf if until is None else until.timestamp(),
        )
        put_record(self._connection, whose, slot, record, "supersede")
        if first is not None and first < loser.event_time:
            # What it had itself taken the place of ended sooner, too.
            settle_ends(self._connection, whose, loser.id)
        return number

    def _reinstate(self, namespace: str, id_: str) -> Memory:
        """Let a superseded memory be current again; an end that it was given goes, one of its own stays."""
        whose, number, slot, kept = find(self._connection, namespace, id_)
        (given,) = self._connection.execute(
            "SELECT end_given FROM memories WHERE number = ?", (number,)
        ).fetchone()
        until = ended_again(kept, bool(given), None)
        self._connection.execute(
            "UPDATE memories SET superseded_by = NULL, superseded_at = NULL, valid_to = ?, "
            "end_given = 0, version = version + 1 WHERE number = ?",
            (microseconds(until), number),
        )
        record = changed(
            record_of(self._connection, whose, slot),
            superseded=math.inf,
            until=math.inf if until is None else until.timestamp(),
        )
        put_record(self._connection, whose, slot, record, "reinstate")
        addresses.add_current(self._connection, [number])
        settle_ends(self._connection, whose, id_)
        return find(self._connection, namespace, id_)[3]

    def _unlisted(self, namespace: str, winner_id: str, loser_id: str) -> Memory:
        """Take one memory out of what another supersedes, and return that."""
        _, number, _, winner = find(self._connection, namespace, winner_id)
        if loser_id not in winner.supersedes:
            return winner
        kept = tuple(id_ for id_ in winner.supersedes if id_ != loser_id)
        self._connection.execute(
            "UPDATE memories SET supersedes = ? WHERE number = ?",
            (json.dumps(kept, ensure_ascii=False), number),
        )
        return replace(winner, supersedes=kept)


def _run(row: tuple[int, int, int | None, int | None, str, int]) -> Run:
    from memorata.store.repeats import Run

    number, started, finished, undone, strategy, repeats = row
    return Run(number, _known(started), instant(finished), instant(undone), strategy, repeats)


def _known(value: int) -> datetime:
    found = instant(value)
    assert found is not None  # the column is never empty
    return found
