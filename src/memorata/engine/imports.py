"""Imports as one: which memories and relations an import brought, so that it can be undone.

Noted in the transaction that writes them, as slots and change numbers, under the import's id: nothing of what
a memory says, and nothing that a purge would have to look for. What was there before is not part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from memorata._frozen import frozen
from memorata.engine.runtime import Runtime
from memorata.engine.write.purge import Purge
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.identifiers import RANDOM_BITS, uuid7
from memorata.model.memory import Memory

IMPORT: Final = "import"
"""The kind of saved setting that a part of an import is; its name is the id of the import."""


@frozen
class Imported:
    """An import: its id, where it came from, when it began, and how much of it there is still to undo."""

    id: str
    source: str
    at: datetime
    memories: int
    relations: int


@frozen
class Undone:
    """What undoing an import took out, or would: memories by namespace, and how many relations."""

    memories: dict[str, tuple[str, ...]]
    relations: int


class Imports:
    """Notes what imports bring into a store, lists them, and undoes one."""

    def __init__(self, runtime: Runtime, purge: Purge) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._purge = purge

    def begin(self) -> str:
        """Return an id for an import."""
        import secrets

        return uuid7(self._runtime.clock(), secrets.randbits(RANDOM_BITS))

    def note(self, id: str, source: str, memories: Sequence[Memory]) -> None:
        """Note memories that were just written, inside the transaction that wrote them."""
        by_namespace: dict[str, list[str]] = {}
        for memory in memories:
            by_namespace.setdefault(memory.namespace, []).append(memory.id)
        for path, ids in by_namespace.items():
            slots = sorted(self._store.paths.slots(path, ids).values())
            self._save(path, id, {"source": source, "slots": _ranges(slots), "changes": []})

    def note_relation(self, id: str, source: str, path: str) -> None:
        """Note the relation that was just written, inside the transaction that wrote it."""
        change = self._store.paths.change(path)
        self._save(path, id, {"source": source, "slots": [], "changes": [change]})

    def list(self, *, namespace: str | None = None) -> tuple[Imported, ...]:
        """Return the imports into a namespace that were not undone, the latest first."""
        path = self._runtime.path(namespace)
        imports: dict[str, Imported] = {}
        # The latest part of an import comes first, and its first part says when it began.
        for part in self._store.saved_settings.list(path, IMPORT):
            size = sum(last - first + 1 for first, last in part.data["slots"])
            earlier = imports.get(part.name)
            imports[part.name] = Imported(
                part.name,
                part.data["source"],
                part.at,
                size + (earlier.memories if earlier else 0),
                len(part.data["changes"]) + (earlier.relations if earlier else 0),
            )
        return tuple(imports.values())

    def undo(self, id: str, *, purge: bool = False, dry_run: bool = False) -> Undone:
        """Undo an import, in every namespace that it wrote to; what was there before it stays.

        Parameters
        ----------
        id
            The import, as `list` names it.
        purge
            Remove what it brought for good, so that the same import can be run again; without, memories are
            forgotten, and `restore` brings them back.
        dry_run
            Only return what would go.

        Notes
        -----
        Relations that the import declared by themselves are taken back either way, and with them entities
        that nothing else refers to. Without `purge` it is one transaction; a purge is one for each namespace,
        and can be run again where it broke off.

        Examples
        --------
        >>> import memorata
        >>> from memorata.service.formats.record import Record
        >>> from memorata.service.transfer import Importer
        >>> with memorata.open(":memory:", embedder="lexical") as memory:
        ...     Importer(memory, batch="notes").add([Record(1, {"content": "Anna likes tea."})])
        ...     (done,) = memory.transfer.imports.list()
        ...     undone = memory.transfer.imports.undo(done.id)
        ...     done.source, done.memories, len(memory.list().memories)
        ('notes', 1, 0)
        """
        checks.text("id", id)
        checks.flag("purge", purge)
        paths = self._store.paths.with_setting(IMPORT, id)
        if not paths:
            raise InvalidArgument("id", id, "an import that was not undone (memorata import list)")
        ids: dict[str, tuple[str, ...]] = {}
        changes: dict[str, list[int]] = {}
        for path in paths:
            parts = [part.data for part in self._store.saved_settings.list(path, IMPORT, id)]
            slots = [
                slot for part in parts for first, last in part["slots"] for slot in range(first, last + 1)
            ]
            ids[path] = tuple(self._store.paths.ids(path, slots).values())
            changes[path] = [change for part in parts for change in part["changes"]]
        if checks.flag("dry_run", dry_run):
            return Undone(ids, sum(map(len, changes.values())))
        relations = 0
        if not purge:
            with self._store.together():
                for path in paths:
                    self._store.forget(path, ids[path], self._runtime.clock())
                    relations += self._store.relations.remove_changes(path, changes[path])
                    self._withdraw(path, id)
            return Undone(ids, relations)
        for path in paths:
            relations += self._store.relations.remove_changes(path, changes[path])
            ids[path] = tuple(self._purge.memories(path, ids[path]))
            self._withdraw(path, id)
        return Undone(ids, relations)

    def _save(self, path: str, id: str, data: dict[str, object]) -> None:
        self._store.saved_settings.save(path, IMPORT, id, data, {}, self._runtime.clock())

    def _withdraw(self, path: str, id: str) -> None:
        self._store.saved_settings.withdraw_all(path, IMPORT, id, self._runtime.clock())


def _ranges(slots: Sequence[int]) -> list[list[int]]:
    """Return sorted numbers as ranges, both ends included.

    >>> _ranges([1, 2, 3, 7])
    [[1, 3], [7, 7]]
    """
    ranges: list[list[int]] = []
    for slot in slots:
        if ranges and slot == ranges[-1][1] + 1:
            ranges[-1][1] = slot
        else:
            ranges.append([slot, slot])
    return ranges
