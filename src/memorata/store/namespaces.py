"""Namespaces: another path for one with all that it holds, their slots and ids, and who holds a setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memorata.model.errors import InvalidArgument
from memorata.store.database import Database, Session
from memorata.store.rows import EMPTY, NAMED, find_namespace, ids_at, log_change, slots_of


class NamespaceStore:
    """The namespaces of a database; `forget` lets go of what this process keeps of one."""

    def __init__(self, database: Database, forget: Callable[[str], None]) -> None:
        self._database = database
        self._forget = forget

    def rename(self, paths: Mapping[str, str]) -> None:
        """Give namespaces other paths that nothing was written to, with all that they hold, all or none."""

        def work(session: Session) -> None:
            for old, new in paths.items():
                found = find_namespace(session, old)
                if found is None:
                    raise InvalidArgument("namespace", old, "one that there is")
                if find_namespace(session, new) is not None:
                    raise InvalidArgument("to", new, "a namespace that nothing was written to")
                number = session.dialect.rename_namespace(session, found.number, old, new)
                # Whoever knew another by this name, or this one's graph by another, looks again.
                log_change(session, number, "rename", naming=True)

        self._database.write(work, *sorted({*paths, *paths.values()}))
        for path in (*paths, *paths.values()):
            self._forget(path)

    def with_setting(self, kind: str, name: str) -> list[str]:
        """Return the namespaces that have a saved setting in force by this name."""
        rows = self._database.read(
            lambda session: session.execute(
                "SELECT DISTINCT n.path FROM saved_settings l JOIN namespaces n ON n.number = l.namespace "
                f"WHERE l.kind = ? AND l.name = ? AND l.withdrawn_at IS NULL AND n.{NAMED} ORDER BY n.path",
                (kind, name),
            ).fetchall()
        )
        return [path for (path,) in rows]

    def slots(self, path: str, ids: Sequence[str]) -> dict[str, int]:
        """Return the slots of memories by id; those that are not there are left out."""
        return self._database.read(lambda session: slots_of(session, _number(session, path), ids))

    def ids(self, path: str, slots: Sequence[int]) -> dict[int, str]:
        """Return the ids of memories by slot, in their order; slots without one are left out."""
        found = self._database.read(lambda session: ids_at(session, _number(session, path), slots))
        return dict(sorted(found.items()))

    def change(self, path: str) -> int:
        """Return the number of the last change of a namespace."""
        return self._database.read(lambda session: (find_namespace(session, path) or EMPTY).change)


def _number(session: Session, path: str) -> int:
    return (find_namespace(session, path) or EMPTY).number
