"""Remarks that a newer memory may contradict an older one, and what was decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.database import Database, Session
from memorata.store.facets import Facet, reads, reads_namespace, writes_namespace
from memorata.store.memory.duplicates import supersede
from memorata.store.rows import (
    Namespace,
    find,
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
"""For how many namespaces it is cached whether anything was noted."""


class ContradictionStore(Facet):
    """Which memories may contradict others, and what was decided about it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._any: dict[str, tuple[int, bool]] = {}

    @reads
    def expect(self, session: Session, namespace: str, *kinds: str) -> None:
        """Read ahead, where that saves a round trip, whether anything was noted, and settings of kinds."""
        number = session.dialect.namespace_number(namespace)
        if number is not None and session.dialect.remote:
            settings = (listing(number, kind) for kind in kinds)
            session.namespace(namespace, [(_NOTED, (number,)), *settings])

    def of_older(self, namespace: str, ids: Sequence[str], change: int) -> list[Contradiction]:
        """Return what was noted and not decided about the older of two current memories, for some ids.

        As of a change of the namespace: a remark is written with a memory, which is a change, so that a
        namespace without remarks is searched once per change.
        """
        noted = self._any.get(namespace)
        if noted is None or noted[0] != change:
            if len(self._any) >= _MAX_NAMESPACES:
                self._any.clear()
            noted = change, self._is_any_noted(namespace)
            self._any[namespace] = noted
        return self.list(namespace, older=ids) if noted[1] else []

    @reads_namespace(bool)
    def _is_any_noted(self, session: Session, namespace: Namespace) -> bool:
        return session.execute(_NOTED, (namespace.number,)).fetchone() is not None

    @reads_namespace(dict)
    def newer(
        self, session: Session, namespace: Namespace, ids: Sequence[str], now: datetime
    ) -> dict[str, Memory]:
        """Return memories by id; not one that has expired, or is gone."""
        return _unexpired(session, namespace, ids, now)

    @reads_namespace(dict)
    def successors(
        self, session: Session, namespace: Namespace, ids: Sequence[str], now: datetime
    ) -> dict[str, Memory]:
        """Return the current memory at the end of the chain of each superseded one, by the older id.

        None for one whose successor was forgotten, purged or has expired.
        """
        ends = {id_: id_ for id_ in ids}
        shown: set[str] = set()
        while unread := set(ends.values()) - shown:
            rows = session.execute(
                f"SELECT id, superseded_by, forgotten_at FROM memories WHERE +namespace = ? "
                f"AND id IN ({marks(unread)})",
                (namespace.number, *unread),
            ).fetchall()
            shown |= {id_ for id_, by, forgotten in rows if by is None and forgotten is None}
            links = {id_: by for id_, by, _ in rows if by is not None}
            ends = {older: links.get(end, end) for older, end in ends.items() if end in links or end in shown}
        memories = _unexpired(session, namespace, list(shown), now)
        return {older: memories[end] for older, end in ends.items() if end in memories}

    @writes_namespace
    def note(self, session: Session, namespace: str, remarks: Sequence[Contradiction]) -> None:
        """Note that memories may contradict others; what is noted already stays as it is."""
        for remark in remarks:
            owner, newer, _, _ = find(session, namespace, remark.newer)
            _, older, _, _ = find(session, namespace, remark.older)
            noted = "SELECT 1 FROM contradictions WHERE +namespace = ? AND newer = ? AND older = ?"
            if session.execute(noted, (owner.number, newer, older)).fetchone() is None:
                session.insert(
                    "contradictions",
                    "namespace, newer, older, cue, reason, at",
                    (owner.number, newer, older, remark.cue, remark.reason, microseconds(remark.at)),
                )

    @writes_namespace
    def settle(self, session: Session, namespace: str, remark: Contradiction) -> None:
        """Write a decision down; with ``"contradicts"`` the newer memory supersedes the older one.

        Both must be current for that, and the newer must have been added after the older.
        """
        owner, newer, newer_slot, winner = find(session, namespace, remark.newer)
        _, older, older_slot, _ = find(session, namespace, remark.older)
        decided = session.execute(
            "UPDATE contradictions SET verdict = ?, decided_by = ?, decided_because = ?, decided_at = ? "
            "WHERE +namespace = ? AND newer = ? AND older = ? AND verdict IS NULL RETURNING number",
            (remark.verdict, remark.decided_by, remark.decided_because, microseconds(remark.decided_at),
             owner.number, newer, older),
        ).fetchone()  # fmt: skip
        if decided is None:
            raise InvalidArgument(
                "contradiction", f"{remark.newer}, {remark.older}", "one that is noted and open"
            )
        if remark.verdict == "contradicts":
            if newer_slot < older_slot:
                raise InvalidArgument("newer", remark.newer, "a memory that was added after the other")
            supersede(session, namespace, remark.older, winner, remark.decided_at or remark.at)

    @reads_namespace(list)
    def list(
        self,
        session: Session,
        namespace: Namespace,
        *,
        id: str | None = None,
        older: Sequence[str] | None = None,
        settled: bool = False,
    ) -> list[Contradiction]:
        """Return what was noted about one memory, some older ones or all, in the order in which it was.

        Without `settled` only undecided remarks, between memories that are neither forgotten nor superseded.
        """
        condition, values = "", list[object]()
        if id is not None:
            condition += " AND (n.id = ? OR o.id = ?)"
            values += [id, id]
        if older is not None:
            condition += f" AND o.id IN ({marks(older)})"
            values += older
        if not settled:
            condition += " AND c.verdict IS NULL"
            for alias in "no":
                condition += f" AND {alias}.superseded_by IS NULL AND {alias}.forgotten_at IS NULL"
        rows = session.execute(
            f"{_REMARKS}{condition} ORDER BY c.number", (namespace.number, *values)
        ).fetchall()
        from memorata.store.memory.repeats import Contradiction

        return [
            Contradiction(newer, older, cue, reason, moment(at), verdict, by, because, instant(decided))
            for newer, older, cue, reason, at, verdict, by, because, decided in rows
        ]


def _unexpired(
    session: Session, namespace: Namespace, ids: Sequence[str], now: datetime
) -> dict[str, Memory]:
    """Return memories by id, without those that are gone or have expired."""
    slots = [*slots_of(session, namespace.number, ids).values()]
    memories = read_memories(session, namespace, slots).values()
    return {memory.id: memory for memory in memories if memory.expires_at is None or memory.expires_at > now}
