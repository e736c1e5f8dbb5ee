"""Repeats: memories that were superseded because they repeat others, and the runs that superseded them.

A memory is superseded by its own row (``superseded_by``); what supersedes an older one also lists it in
``supersedes``, as corrections do. One that is superseded by an *older* one, because it only repeats it, is
linked by its own row alone. Both ends of every new link are current memories, so a link leads from the root
of one tree of ``superseded_by`` to the root of another: there can be no cycle. Only imported memories are
linked to superseded ones, and not if the chain of those leads back to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.database import Session
from memorata.store.entries import Entry, TermsOf
from memorata.store.facets import Facet, reads_namespace, writes_namespace, written_by
from memorata.store.memory import supersession
from memorata.store.memory.lookup import located
from memorata.store.memory.memories import update
from memorata.store.memory.supersession import (
    INHERITED_KINDS,
    began,
    given_back,
    led_to,
    mark_current,
    mark_superseded,
    note_taken,
    noted,
    notes_of,
    settle_ends,
    taken_over,
)
from memorata.store.rows import (
    EMPTY,
    LARGEST,
    OWN,
    Namespace,
    find,
    find_namespace,
    instant,
    last_change,
    marks,
    memory,
    microseconds,
    moment,
    put_record,
    set_columns,
)

if TYPE_CHECKING:
    from memorata.store.memory.repeats import Repeat, Run, Undone

_RUN: Final = (
    "SELECT number, started_at, finished_at, undone_at, strategy, "
    "(SELECT count(*) FROM repeats WHERE run = r.number AND +namespace = r.namespace) "
    "FROM duplicate_runs r WHERE namespace = ?"
)
_LAST_RUN: Final = f"{_RUN} ORDER BY number DESC LIMIT 1"
_PAIRS: Final = (
    "FROM repeats r JOIN memories m ON +m.namespace = r.namespace AND m.number = r.memory "
    "JOIN memories w ON +w.namespace = r.namespace AND w.number = r.winner"
)
_BY_NUMBER: Final = "WHERE +namespace = ? AND number = ?"


class DuplicateStore(Facet):
    """Which memories repeat others, and the runs that superseded them."""

    @reads_namespace(list)
    def replaced(self, session: Session, namespace: Namespace, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that any of these superseded, in the order they were added."""
        rows = session.execute(
            f"SELECT {OWN}, NULL FROM memories m WHERE m.superseded_by IN (SELECT value FROM json_each(?)) "
            "AND +m.namespace = ? ORDER BY m.number",
            (session.dialect.array(ids), namespace.number),
        )
        return [memory(row, namespace.path) for row in rows.fetchall()]

    @writes_namespace
    def repeat(
        self, session: Session, namespace: str, notes: Sequence[Repeat], terms_of: TermsOf | None = None
    ) -> None:
        """Supersede memories that repeat others, and note it; all or none.

        Both ends must be current. One that repeats a younger memory held until that began, and is listed in
        its `supersedes`; one that repeats an older memory never held by itself, and is linked by its own
        `superseded_by` alone. The one that stays gains mentions and confidence as the note says. With
        `terms_of`, which returns the terms of a memory, it also takes over fields that only the other has
        (:mod:`memorata.store.memory.supersession`).
        """
        for note in notes:
            _repeat(session, namespace, note, terms_of)

    relink = written_by(supersession.relink)

    @reads_namespace(list)
    def repeats(
        self,
        session: Session,
        namespace: Namespace,
        *,
        of: Sequence[str] | None = None,
        run: int | None = None,
    ) -> list[Repeat]:
        """Return notes of repeats, in the order in which they were made."""
        condition, values = "", list[object]()
        if of is not None:
            condition += f" AND w.id IN ({marks(of)})" if of else " AND 1 = 0"
            values += list(of)
        if run is not None:
            condition += " AND r.run = ?"
            values.append(run)
        rows = session.execute(
            "SELECT m.id, w.id, r.kind, r.reason, r.at, r.mentions, r.after, r.supported_after, r.run "
            f"{_PAIRS} WHERE r.namespace = ?{condition} ORDER BY r.number",
            (namespace.number, *values),
        ).fetchall()
        from memorata.store.memory.repeats import Repeat

        return [
            Repeat(id_, of_, kind, reason, moment(at), mentions, confidence, instant(support), run_)
            for id_, of_, kind, reason, at, mentions, confidence, support, run_ in rows
        ]

    @writes_namespace
    def start_run(self, session: Session, namespace: str, strategy: str, now: datetime) -> Run:
        """Begin a run that supersedes duplicates, or go on with the last one if it was interrupted."""
        owner = find_namespace(session, namespace)
        if owner is None:
            raise InvalidArgument("namespace", namespace, "one that there is")
        last = session.execute(_LAST_RUN, (owner.number,)).fetchone()
        if last is not None and last[2] is None and last[3] is None:
            return _run(last)
        session.insert(
            "duplicate_runs", "namespace, started_at, strategy", (owner.number, microseconds(now), strategy)
        )
        return _run(session.execute(_LAST_RUN, (owner.number,)).fetchone())

    @writes_namespace
    def finish_run(self, session: Session, namespace: str, number: int, now: datetime) -> None:
        """Mark a run as done."""
        owner = find_namespace(session, namespace) or EMPTY
        session.execute(
            f"UPDATE duplicate_runs SET finished_at = ? {_BY_NUMBER}",
            (microseconds(now), owner.number, number),
        )

    @reads_namespace(list)
    def runs(self, session: Session, namespace: Namespace) -> list[Run]:
        """Return the runs over a namespace, the latest first."""
        rows = session.execute(f"{_RUN} ORDER BY number DESC", (namespace.number,)).fetchall()
        return [_run(row) for row in rows]

    @writes_namespace
    def undo_run(
        self,
        session: Session,
        namespace: str,
        number: int,
        now: datetime,
        terms_of: TermsOf | None = None,
    ) -> Undone:
        """Undo a run: what it superseded is current again, in one transaction.

        A confidence that has changed since stays. A repeat of a memory that was superseded in the meantime
        stays superseded too, for the correction is of both. With `terms_of`, which returns the terms of a
        memory, inherited fields are given back.
        """
        reinstated, left = [], []
        # No run has the largest number of a database; one above it cannot be a parameter.
        key = min(number, LARGEST), (find_namespace(session, namespace) or EMPTY).number
        rows = session.execute(
            "SELECT r.number, m.id, w.id, r.before, r.after, r.mentions, r.supported_before, "
            f"r.supported_after {_PAIRS} WHERE r.run = ? AND +r.namespace = ? ORDER BY r.number DESC",
            key,
        ).fetchall()
        for row in rows:
            _, _, _, winner = find(session, namespace, row[2])
            _, _, _, loser = find(session, namespace, row[1])
            if winner.superseded_by is not None or loser.superseded_by != winner.id:
                left.append(loser)
            else:
                reinstated.append(_take_back(session, namespace, row, terms_of))
        undone = session.execute(
            "UPDATE duplicate_runs SET undone_at = ?, finished_at = coalesce(finished_at, ?) "
            "WHERE number = ? AND +namespace = ? AND undone_at IS NULL RETURNING number",
            (microseconds(now), microseconds(now), *key),
        )
        if undone.fetchone() is None:
            raise InvalidArgument("run", number, "a run of this namespace that was not undone yet")
        from memorata.store.memory.repeats import Undone

        return Undone(tuple(reinstated), tuple(left))

    @writes_namespace
    def reinstate(self, session: Session, namespace: str, id: str, terms_of: TermsOf | None = None) -> Memory:
        """Make a superseded memory current again, and return it; its successor must be current."""
        owner, number, _, loser = find(session, namespace, id)
        if loser.superseded_by is None:
            raise InvalidArgument("id", id, "a memory that another one superseded")
        _, winner_number, _, winner = find(session, namespace, loser.superseded_by)
        if winner.superseded_by is not None:
            raise InvalidArgument("id", id, f"one whose successor is current: reinstate {winner.id} first")
        session.execute(
            "UPDATE contradictions SET verdict = 'compatible', decided_because = 'taken back' "
            "WHERE +namespace = ? AND newer = ? AND older = ?",
            (owner.number, winner_number, number),
        )
        note = session.execute(
            "SELECT number, before, after, mentions, supported_before, supported_after FROM repeats "
            "WHERE +namespace = ? AND memory = ? AND winner = ?",
            (owner.number, number, winner_number),
        ).fetchone()
        if note is not None:
            return _take_back(session, namespace, (note[0], loser.id, winner.id, *note[1:]), terms_of)
        current = _reinstate(session, namespace, loser.id)
        update(session, _unlisted(session, namespace, winner.id, loser.id), winner.version, terms_of)
        return current


def _take_back(session: Session, namespace: str, row: Sequence[Any], terms_of: TermsOf | None) -> Memory:
    """Make a repeat current again, and restore its winner to what it was without it."""
    note, loser_id, winner_id, before, after, mentions, supported_before, supported_after = row
    owner, _, _, _ = find(session, namespace, winner_id)
    notes = notes_of(session, namespace, winner_id)
    current = _reinstate(session, namespace, loser_id)
    winner = _unlisted(session, namespace, winner_id, loser_id)
    restored = replace(
        winner,
        mentions=max(1, winner.mentions - mentions),
        confidence=before if winner.confidence == after else winner.confidence,
        supported_at=instant(supported_before)
        if winner.supported_at == instant(supported_after)
        else winner.supported_at,
    )
    session.execute(f"DELETE FROM repeats {_BY_NUMBER}", (owner.number, note))
    if terms_of is not None:
        restored, others = given_back(restored, notes, {note})
        note_taken(session, owner.number, others)
    update(session, restored, winner.version, terms_of)
    return current


def link_repeats(session: Session, entries: Sequence[Entry]) -> int:
    """Link imported repeats, whose `superseded_by` names an older memory; return the last change, or 0."""
    linked = 0
    for entry in entries:
        path, wanted = entry.memory.namespace, entry.memory.superseded_by
        assert wanted is not None  # the caller checked
        added = find(session, path, entry.memory.id)
        chain = led_to(session, added[0].number, wanted)
        # The repeated memory may have been superseded since, unless its chain leads back here.
        if added[3].superseded_by is None and added[2] not in chain and chain and chain[0] < added[2]:
            winner = find(session, path, wanted)[3]
            supersede(session, path, added[3].id, winner, max(winner.created_at, added[3].created_at))
            linked = last_change(session, added[0].number)
    return linked


def _repeat(session: Session, namespace: str, note: Repeat, terms_of: TermsOf | None) -> None:
    """Supersede one memory, and return its number."""
    owner, winner_number, _, winner = find(session, namespace, note.of)
    if winner.superseded_by is not None:
        raise InvalidArgument("of", note.of, "a memory that is current")
    loser_number = supersede(session, namespace, note.memory_id, winner, note.at)
    _, _, _, winner = find(session, namespace, note.of)
    after = winner.confidence if note.confidence is None else note.confidence
    support = max(filter(None, (winner.supported_at, note.supported_at)), default=None)
    gained = replace(winner, mentions=winner.mentions + note.mentions, confidence=after, supported_at=support)
    loser = find(session, namespace, note.memory_id)[3]
    taken = {} if terms_of is None or note.kind not in INHERITED_KINDS else taken_over(winner, loser)
    update(session, replace(gained, **taken), winner.version, terms_of)
    session.insert(
        "repeats",
        "namespace, memory, winner, run, kind, reason, at, mentions, before, after, supported_before, "
        "supported_after, gained",
        (owner.number, loser_number, winner_number, note.run, note.kind, note.reason,
         microseconds(note.at), note.mentions, winner.confidence, after,
         microseconds(winner.supported_at), microseconds(support), noted(winner, taken)),
    )  # fmt: skip


def supersede(session: Session, namespace: str, loser_id: str, winner: Memory, at: datetime) -> int:
    """Mark a current memory as superseded by another, and return its number."""
    loser = located(session, namespace, loser_id)
    owner, winner_number, winner_slot, current, winner_record = located(session, namespace, winner.id)
    if loser.memory.superseded_by is not None or loser_id == winner.id:
        raise InvalidArgument("memory_id", loser_id, "a memory that is current, and another than the other")
    first = None
    if winner_slot > loser.slot:
        first = began(session, owner.number, winner.id)
        set_columns(session, owner.number, winner_number, supersedes=(*current.supersedes, loser_id))
        put_record(session, owner, winner_slot, winner_record.tobytes(), "update")
    mark_superseded(session, loser, winner.id, at, first)
    return loser.number


def _reinstate(session: Session, namespace: str, id_: str) -> Memory:
    """Make a superseded memory current again; an end that its successor set goes, one of its own stays."""
    loser = located(session, namespace, id_)
    (end_given,) = session.execute(
        f"SELECT end_given FROM memories {_BY_NUMBER}", (loser.namespace.number, loser.number)
    ).fetchone()
    mark_current(session, loser, end_given=bool(end_given))
    settle_ends(session, loser.namespace, id_)
    return find(session, namespace, id_)[3]


def _unlisted(session: Session, namespace: str, winner_id: str, loser_id: str) -> Memory:
    """Take one memory out of what another supersedes, and return that."""
    owner, number, _, winner = find(session, namespace, winner_id)
    if loser_id not in winner.supersedes:
        return winner
    remaining = tuple(id_ for id_ in winner.supersedes if id_ != loser_id)
    set_columns(session, owner.number, number, version=0, supersedes=remaining)
    return replace(winner, supersedes=remaining)


def _run(row: tuple[int, int, int | None, int | None, str, int]) -> Run:
    from memorata.store.memory.repeats import Run

    number, started, finished, undone, strategy, repeats = row
    return Run(number, moment(started), instant(finished), instant(undone), strategy, repeats)
