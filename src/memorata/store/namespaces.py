"""Namespaces as a whole: another path for one with all that it holds, and who holds a setting by a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memorata.model.errors import InvalidArgument
from memorata.store.database import Database, Session
from memorata.store.rows import NAMED, find_namespace, log_change


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
                "SELECT DISTINCT n.path FROM lessons l JOIN namespaces n ON n.number = l.namespace "
                f"WHERE l.kind = ? AND l.name = ? AND l.withdrawn_at IS NULL AND n.{NAMED} ORDER BY n.path",
                (kind, name),
            ).fetchall()
        )
        return [path for (path,) in rows]
