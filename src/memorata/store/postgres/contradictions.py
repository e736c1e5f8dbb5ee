"""The part of the store on a server that knows which memories may contradict others, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memorata.model.errors import InvalidArgument
from memorata.store.instants import instant, microseconds, moment
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.finding import find
from memorata.store.postgres.namespaces import EMPTY
from memorata.store.postgres.repeats import supersede
from memorata.store.repeats import Contradiction

_HINT: Final = (
    "SELECT n.id, o.id, c.cue, c.reason, c.at, c.verdict, c.decided_by, c.decided_because, c.decided_at "
    "FROM contradictions c JOIN memories n ON n.namespace = c.namespace AND n.slot = c.newer "
    "JOIN memories o ON o.namespace = c.namespace AND o.slot = c.older WHERE c.namespace = %(whose)s"
)


class ContradictionStore:
    """What :class:`~memorata.store.port.Store` promises about contradictions."""

    _database: Database

    def note_contradictions(self, namespace: str, given: Sequence[Contradiction]) -> None:
        """Note that memories may contradict others; what is noted already stays as it is."""

        def write(connection: Server) -> None:
            for each in given:
                newer = find(connection, namespace, each.newer, lock=True)
                older = find(connection, namespace, each.older)
                connection.execute(
                    "INSERT INTO contradictions (namespace, newer, older, cue, reason, at) "
                    "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                    (
                        newer.namespace.number,
                        newer.slot,
                        older.slot,
                        each.cue,
                        each.reason,
                        microseconds(each.at),
                    ),
                )

        self._database.write(write)

    def contradictions(
        self, namespace: str, *, id: str | None = None, settled: bool = False
    ) -> list[Contradiction]:
        """Return what was noted, in the order in which it was."""
        condition = ""
        if id is not None:
            condition += " AND (n.id = %(id)s OR o.id = %(id)s)"
        if not settled:
            condition += " AND c.verdict IS NULL"
            for one in "no":
                condition += f" AND {one}.superseded_by IS NULL AND {one}.forgotten_at IS NULL"

        def read(connection: Server) -> list[Contradiction]:
            whose = (namespaces.find(connection, namespace) or EMPTY).number
            rows = connection.execute(f"{_HINT}{condition} ORDER BY c.number", {"whose": whose, "id": id})
            return [
                Contradiction(newer, older, cue, reason, moment(at), verdict, by, because, instant(decided))
                for newer, older, cue, reason, at, verdict, by, because, decided in rows
            ]

        return self._database.read(read)

    def settle_contradiction(self, namespace: str, given: Contradiction) -> None:
        """Write a decision down; with ``"contradicts"`` the newer memory supersedes the older one."""

        def write(connection: Server) -> None:
            newer = find(connection, namespace, given.newer, lock=True)
            older = find(connection, namespace, given.older)
            found = connection.execute(
                "UPDATE contradictions SET verdict = %s, decided_by = %s, decided_because = %s, "
                "decided_at = %s WHERE namespace = %s AND newer = %s AND older = %s AND verdict IS NULL",
                (
                    given.verdict,
                    given.decided_by,
                    given.decided_because,
                    microseconds(given.decided_at),
                    newer.namespace.number,
                    newer.slot,
                    older.slot,
                ),
            )
            if not found.rowcount:
                raise InvalidArgument(
                    "contradiction", f"{given.newer}, {given.older}", "one that is noted and open"
                )
            if given.verdict == "contradicts":
                if newer.slot < older.slot:
                    raise InvalidArgument("newer", given.newer, "a memory that was added after the other")
                supersede(connection, namespace, given.older, newer, given.decided_at or given.at)

        self._database.write(write)
