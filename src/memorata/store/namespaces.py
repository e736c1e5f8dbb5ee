"""Namespaces: renaming, slots and ids of their memories, and which have a saved setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memorata.model.errors import InvalidArgument
from memorata.store.database import Database, Session
from memorata.store.facets import Facet, reads, reads_namespace
from memorata.store.rows import NAMED, Namespace, find_namespace, ids_at, log_change, slots_of


class NamespaceStore(Facet):
    """The namespaces of a database; `forget` drops what this process caches of one."""

    def __init__(self, database: Database, forget: Callable[[str], None]) -> None:
        super().__init__(database)
        self._forget = forget

    def rename(self, paths: Mapping[str, str]) -> None:
        """Give namespaces other paths that nothing was written to, with all that they hold, all or none."""

        def work(session: Session) -> None:
            for old, new in paths.items():
                namespace = find_namespace(session, old)
                if namespace is None:
                    raise InvalidArgument("namespace", old, "one that there is")
                if find_namespace(session, new) is not None:
                    raise InvalidArgument("to", new, "a namespace that nothing was written to")
                number = session.dialect.rename_namespace(session, namespace.number, old, new)
                # Other processes drop their caches of either name.
                log_change(session, number, "rename", naming=True)

        self._database.write(work, *sorted({*paths, *paths.values()}))
        for path in (*paths, *paths.values()):
            self._forget(path)

    @reads
    def with_setting(self, session: Session, kind: str, name: str) -> list[str]:
        """Return the namespaces that have a saved setting in force by this name."""
        rows = session.execute(
            "SELECT DISTINCT n.path FROM saved_settings l JOIN namespaces n ON n.number = l.namespace "
            f"WHERE l.kind = ? AND l.name = ? AND l.withdrawn_at IS NULL AND n.{NAMED} ORDER BY n.path",
            (kind, name),
        )
        return [path for (path,) in rows]

    @reads_namespace(dict)
    def slots(self, session: Session, namespace: Namespace, ids: Sequence[str]) -> dict[str, int]:
        """Return the slots of memories by id; missing ids are left out."""
        return slots_of(session, namespace.number, ids)

    @reads_namespace(dict)
    def ids(self, session: Session, namespace: Namespace, slots: Sequence[int]) -> dict[int, str]:
        """Return the ids of memories by slot, in their order; slots without one are left out."""
        return dict(sorted(ids_at(session, namespace.number, slots).items()))

    @reads_namespace(int)
    def change(self, session: Session, namespace: Namespace) -> int:
        """Return the number of the last change of a namespace."""
        return namespace.change
