"""Remarks that a newer memory may contradict an older one, and what was decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.database import Database, Session
from memorata.store.memory.duplicates import supersede
from memorata.store.rows import (
    find,
    find_namespace,
    instant,
    marks,
    microseconds,
    moment,
    read_memories,
    slots_of,
)
from memorata.store.saved_settings import listing

if TYPE_CHECKING:
    from memorata.store.memory.repeats import Contradiction

_REMARKS: Final = (
    "SELECT n.id, o.id, c.cue, c.reason, c.at, c.verdict, c.decided_by, c.decided_because, c.decided_at "
    "FROM contradictions c JOIN memories n ON +n.namespace = c.namespace AND n.number = c.newer "
    "JOIN memories o ON +o.namespace = c.namespace AND o.number = c.older WHERE c.namespace = ?"
)

_NOTED: Final = "SELECT 1 FROM contradictions WHERE namespace = ? LIMIT 1"
_MAX_NAMESPACES: Final = 1_024
"""Of how many namespaces it is kept whether anything was noted."""


class ContradictionStore:
    """Which memories may contradict others, and what was decided about it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._any: dict[str, tuple[int, bool]] = {}

    def expect(self, namespace: str, *kinds: str) -> None:
        """Read ahead whether anything was noted in a namespace, where that saves a round trip of a recall.

        And the settings there of some kinds.
        """

        def read(session: Session) -> None:
            number = session.dialect.namespace_number(namespace)
            if number is not None and session.dialect.remote:
                settings = (listing(number, kind) for kind in kinds)
                session.namespace(namespace, [(_NOTED, (number,)), *settings])

        self._database.read(read)

    def of_older(self, namespace: str, ids: Sequence[str], change: int) -> list[Contradiction]:
        """Return what was noted and not decided about the older of two current memories, for some ids.

        As of a change of the namespace: what is noted is noted with a memory, which is one, so where nothing
        ever was, a namespace is asked once a change.
        """
        known = self._any.get(namespace)
        if known is None or known[0] != change:
            if len(self._any) >= _MAX_NAMESPACES:
                self._any.clear()
            known = change, self._database.read(lambda session: any_noted(session, namespace))
            self._any[namespace] = known
        if not known[1]:
            return []
        return self._database.read(lambda session: contradictions(session, namespace, older=ids))

    def newer(self, namespace: str, ids: Sequence[str], now: datetime) -> dict[str, Memory]:
        """Return memories by id; not one that has expired, or is gone."""

        def read(session: Session) -> dict[str, Memory]:
            known = find_namespace(session, namespace)
            slots = [] if known is None else list(slots_of(session, known.number, ids).values())
            memories = () if known is None else read_memories(session, known, slots).values()
            return {each.id: each for each in memories if each.expires_at is None or each.expires_at > now}

        return self._database.read(read)

    def note(self, namespace: str, given: Sequence[Contradiction]) -> None:
        """Note that memories may contradict others; what is noted already stays as it is."""
        self._database.write(lambda session: note_contradictions(session, namespace, given), namespace)

    def list(self, namespace: str, *, id: str | None = None, settled: bool = False) -> list[Contradiction]:
        """Return what was noted about one memory or about all, in the order in which it was.

        Without `settled` only what nobody decided, between memories that are neither forgotten nor
        superseded.
        """
        return self._database.read(lambda session: contradictions(session, namespace, id=id, settled=settled))

    def settle(self, namespace: str, given: Contradiction) -> None:
        """Write a decision down; with ``"contradicts"`` the newer memory supersedes the older one.

        Both must be current for that, and the newer must have been added after the older.
        """
        self._database.write(lambda session: settle_contradiction(session, namespace, given), namespace)


def note_contradictions(session: Session, path: str, remarks: Sequence[Contradiction]) -> None:
    """Note that memories may contradict others; what is noted already stays as it is."""
    for remark in remarks:
        namespace, newer, _, _ = find(session, path, remark.newer)
        _, older, _, _ = find(session, path, remark.older)
        noted = "SELECT 1 FROM contradictions WHERE +namespace = ? AND newer = ? AND older = ?"
        if session.execute(noted, (namespace.number, newer, older)).fetchone() is None:
            session.insert(
                "contradictions",
                "namespace, newer, older, cue, reason, at",
                (namespace.number, newer, older, remark.cue, remark.reason, microseconds(remark.at)),
            )


def any_noted(session: Session, path: str) -> bool:
    """Return whether anything was ever noted in a namespace."""
    namespace = find_namespace(session, path)
    return namespace is not None and session.execute(_NOTED, (namespace.number,)).fetchone() is not None


def contradictions(
    session: Session,
    path: str,
    *,
    id: str | None = None,
    older: Sequence[str] | None = None,
    settled: bool = False,
) -> list[Contradiction]:
    """Return what was noted, in the order in which it was.

    Of one memory, of some that are the older ones, or of all; without `settled` only what nobody decided,
    between memories that are neither forgotten nor superseded.
    """
    condition, values = "", []
    if id is not None:
        condition += " AND (n.id = ? OR o.id = ?)"
        values += [id, id]
    if older is not None:
        condition += f" AND o.id IN ({marks(older)})"
        values += older
    if not settled:
        condition += " AND c.verdict IS NULL"
        for one in "no":
            condition += f" AND {one}.superseded_by IS NULL AND {one}.forgotten_at IS NULL"
    namespace = find_namespace(session, path)
    if namespace is None:
        return []
    rows = session.execute(f"{_REMARKS}{condition} ORDER BY c.number", (namespace.number, *values)).fetchall()
    from memorata.store.memory.repeats import Contradiction

    return [
        Contradiction(newer, older, cue, reason, moment(at), verdict, by, because, instant(decided))
        for newer, older, cue, reason, at, verdict, by, because, decided in rows
    ]


def settle_contradiction(session: Session, path: str, remark: Contradiction) -> None:
    """Write a decision down; with ``"contradicts"`` the newer memory supersedes the older one.

    Both must be current for that, and the newer must have been added after the older.
    """
    namespace, newer, newer_slot, winner = find(session, path, remark.newer)
    _, older, older_slot, _ = find(session, path, remark.older)
    decided = session.execute(
        "UPDATE contradictions SET verdict = ?, decided_by = ?, decided_because = ?, decided_at = ? "
        "WHERE +namespace = ? AND newer = ? AND older = ? AND verdict IS NULL RETURNING number",
        (remark.verdict, remark.decided_by, remark.decided_because, microseconds(remark.decided_at),
         namespace.number, newer, older),
    ).fetchone()  # fmt: skip
    if decided is None:
        raise InvalidArgument(
            "contradiction", f"{remark.newer}, {remark.older}", "one that is noted and open"
        )
    if remark.verdict == "contradicts":
        if newer_slot < older_slot:
            raise InvalidArgument("newer", remark.newer, "a memory that was added after the other")
        supersede(session, path, remark.older, winner, remark.decided_at or remark.at)
