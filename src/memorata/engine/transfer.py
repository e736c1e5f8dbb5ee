"""The facet `transfer`: import of records, export, and copies of a whole memory into another store.

Memories go over in batches, each one transaction, with their words and vectors; what is there already is
left, so that a copy that was interrupted goes on where it was. The source is only read, and may be written to
meanwhile: what changed while a pass was under way is looked at in the next one, until a pass finds nothing.
At the end both sides are read and compared, memory by memory.

Copied are memories, hidden ones too and which of those repeat others, entities and
relations. Logs of recalls, saved settings, runs over duplicates and keys stay where they are.

Which memories and relations an import brought is noted in the transaction that writes them, as slots and
change numbers under the import's id, so that it can be undone: nothing of what a memory says, and nothing
that a purge would have to look for. What was there before is not part of it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from memorata._frozen import frozen
from memorata.engine.embedding import CurrentEmbedder
from memorata.engine.gc_pause import gc_paused
from memorata.engine.runtime import Runtime
from memorata.engine.write.purge import Purge
from memorata.engine.write.terms import ANALYSER, note_words_read
from memorata.engine.write.writer import Writer, batches, stored_entries
from memorata.model import checks
from memorata.model.checks import RANDOM_BITS, uuid7
from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument, StoreCorrupt
from memorata.model.memory import Memory
from memorata.store.entities import EntityRecord
from memorata.store.entries import Hidden
from memorata.store.memory.repeats import Linked
from memorata.store.store import Store

BATCH: Final = 500
MAX_PASSES: Final = 10
"""How often what has changed meanwhile is looked at; a source that is written to without end has no end."""
_EQUAL_SETTINGS: Final = ("analyser", "language", "min_length")
_COPIED_SETTINGS: Final = (*_EQUAL_SETTINGS, "embedder", "embedder_dimension")
_STORE_FIELDS: Final = frozenset({"version", "embedder"})
"""What a store keeps of a memory for itself: its version, and the embedder of its vectors."""


@frozen
class CopyReport:
    """What came of a copy.

    - `namespaces`, `memories`: how many there are in the source.
    - `new`: how many memories were not in the target before.
    - `changed`: how many were there, but not as the source has them now.
    - `entities`, `relations`: how many there are in the source.
    - `checksum`: the SHA-256 of all memories of the source, in their order, and of when they were hidden.
    - `differing`: the memories that are not the same on both sides after all, as ``namespace: id``; nothing
      for a copy that is whole.
    """

    namespaces: int
    memories: int
    new: int
    changed: int
    entities: int
    relations: int
    checksum: str
    differing: tuple[str, ...]


class Transfer:
    """The facet `transfer` of an engine: memories out of this store and into it, as they are."""

    def __init__(self, runtime: Runtime, embedding: CurrentEmbedder, writer: Writer, purge: Purge) -> None:
        self.imports = Imports(runtime, purge)
        """What imports brought: list them, and undo one."""
        self._runtime = runtime
        self._store = runtime.store
        self._embedding = embedding
        self._writer = writer

    def import_records(
        self, memories: Sequence[Memory], *, hidden: Mapping[str, Sequence[Hidden]] | None = None
    ) -> list[Memory]:
        """Add memories exactly as they are, and hide what was hidden, all in one transaction.

        Nothing is read from their texts but secrets, where those are taken out, and nothing is compared with
        what is there; a memory whose id its namespace knows is left as it is.

        Parameters
        ----------
        memories
            The memories, those that supersede others after them.
        hidden
            By namespace, since when some of these, or of those that they supersede, have been hidden.
        """
        if isinstance(memories, str) or not isinstance(memories, Sequence):
            raise InvalidArgument("memories", memories, "a list of memories")
        for number, memory in enumerate(memories):
            checks.instance(f"memories[{number}]", memory, Memory)
        if hidden is not None:
            checks.instance("hidden", hidden, dict)
        existing = self._store.known([(memory.namespace, memory.id) for memory in memories])
        fresh = [memory for memory in memories if (memory.namespace, memory.id) not in existing]
        drafts = self._writer.drafts
        new = [drafts.clean(drafts.marked(memory)) for memory in fresh]
        # Embedded before the transaction, which other writers have to wait for.
        with gc_paused():
            entries = self._writer.entries(new)

            def write() -> None:
                with self._store.together():
                    self._store.add(entries)
                    for namespace, marks in (hidden or {}).items():
                        self._store.hide(namespace, marks)

            self._runtime.run(sorted({memory.namespace for memory in memories}), write)
        return [entry.memory for entry in entries]

    def export(
        self, namespace: str | None = None, *, damaged: Callable[[StoreCorrupt], None] | None = None
    ) -> Iterator[Memory]:
        """Yield every memory of a namespace, hidden ones too, in the order they were written.

        Parameters
        ----------
        namespace
            Whose memories; None for those of every namespace.
        damaged
            Called with the error of each memory that cannot be read, which is left out; None to raise it.
        """
        path = None if namespace is None else self._runtime.path(namespace)
        return self._store.export(path, damaged)

    def copy(self, target: Store, *, progress: Callable[[int], None] = lambda done: None) -> CopyReport:
        """Copy all memories, entities and relations into another store, and compare the two.

        Parameters
        ----------
        target
            Where to. Its words must be read as those of this store, which a new store's are from now on.
        progress
            Called after every batch with the number of memories looked at.

        Raises
        ------
        InvalidArgument
            The target is this store, or reads words in another way.
        """
        source, embedder = self._store, self._embedding.embedder
        checks.instance("target", target, Store)
        checks.function("progress", progress)
        if _same_database(source, target):
            raise InvalidArgument("target", target.path, "another database than the one to copy")
        _agree(source, target)
        if embedder is not None:
            target.use_embedder(embedder.name, embedder.dimension)
        new = changed = 0
        before = _last_change(source, 0)
        for _ in range(MAX_PASSES):
            added, altered = _pass(self._runtime, target, progress)
            new, changed = new + added, changed + altered
            after = _last_change(source, before)
            if after == before:
                break
            before = after
        return _compared(source, target, new, changed)


def _same_database(source: Store, target: Store) -> bool:
    """Return whether two stores are one, or two connections to one file."""
    paths = Path(source.path), Path(target.path)
    return source is target or (all(path.exists() for path in paths) and paths[0].samefile(paths[1]))


def _agree(source: Store, target: Store) -> None:
    if target.setting(ANALYSER) is None:
        # Whatever is copied there is read anew.
        note_words_read(target)
    for name in _COPIED_SETTINGS:
        expected, actual = source.setting(name), target.setting(name)
        if actual is None and expected is not None:
            target.remember_setting(name, expected)
        elif name in _EQUAL_SETTINGS and actual != expected:
            raise InvalidArgument(
                "target", target.path, f"a store whose {name} is {expected!r}, and not {actual!r}"
            )


def _pass(source: Runtime, target: Store, progress: Callable[[int], None]) -> tuple[int, int]:
    """Copy what is not there, and bring what is there up to date; return how many of either."""
    new = changed = count = 0
    relinked: dict[str, list[Memory]] = {}
    for batch in batches(source.store.export(None), BATCH):
        existing = target.known([(memory.namespace, memory.id) for memory in batch])
        fresh = [memory for memory in batch if (memory.namespace, memory.id) not in existing]
        with target.together():
            if fresh:
                target.add(stored_entries(source, [_addable(target, memory, relinked) for memory in fresh]))
            for memory in batch:
                if (memory.namespace, memory.id) in existing:
                    changed += _updated(source, target, memory, relinked)
        new += len(fresh)
        count += len(batch)
        progress(count)
    for path in source.store.namespaces():
        with target.together():
            _relink(source.store, target, path, relinked.get(path, []))
            _hide(source.store, target, path)
            _declare(source.store, target, path)
    return new, changed


def _addable(target: Store, memory: Memory, relinked: dict[str, list[Memory]]) -> Memory:
    """Return a memory that can be added; a place that another has in the target is seen to later."""
    path = memory.namespace
    existing = target.known([(path, id_) for id_ in memory.supersedes])
    older = target.get(path, [id_ for id_ in memory.supersedes if (path, id_) in existing])
    superseded = {version.id for version in older if version.superseded_by is not None}
    if not superseded:
        return memory
    relinked.setdefault(path, []).append(memory)
    return replace(memory, supersedes=tuple(id_ for id_ in memory.supersedes if id_ not in superseded))


def _updated(source: Runtime, target: Store, memory: Memory, relinked: dict[str, list[Memory]]) -> bool:
    """Give a memory of the target what the source knows about it, but links; return whether it differed."""
    (existing,) = target.get(memory.namespace, [memory.id])
    linked = (memory.superseded_by, memory.supersedes) == (existing.superseded_by, existing.supersedes)
    if not linked:
        relinked.setdefault(memory.namespace, []).append(memory)
    updated = replace(
        memory,
        version=existing.version,
        embedder=existing.embedder,
        supersedes=existing.supersedes,
        superseded_by=existing.superseded_by,
    )
    if updated == existing:
        return not linked
    target.update(updated, existing.version, source.terms_of)
    return True


def _relink(source: Store, target: Store, path: str, memories: Sequence[Memory]) -> None:
    """Give memories of the target the supersession links that they have in the source."""
    since = {mark.memory_id: mark.superseded_at for mark in source.hidden(path)}
    existing = {version.id: version for version in target.get(path, [memory.id for memory in memories])}
    links: dict[str, Linked] = {}
    neighbours: dict[str, set[str]] = {}
    for memory in memories:
        at, versions = since.get(memory.id), (memory, existing[memory.id])
        neighbours[memory.id] = {
            id_ for version in versions for id_ in (*version.supersedes, version.superseded_by) if id_
        }
        pairs = {(path, id_) for id_ in neighbours[memory.id]}
        shared = source.known(sorted(pairs)) & target.known(sorted(pairs))
        # What is in one of them only is left alone, and so is what has changed since it was read.
        if pairs <= shared and (memory.superseded_by is None) == (at is None):
            links[memory.id] = Linked(memory.id, memory.superseded_by, at, memory.supersedes)
    # And so is every neighbour of these: both ends hold a link.
    while alone := [
        id_ for id_ in links if any(other in neighbours and other not in links for other in neighbours[id_])
    ]:
        for id_ in alone:
            del links[id_]
    target.duplicates.relink(path, list(links.values()))


def _hide(source: Store, target: Store, path: str) -> None:
    existing_marks = {mark.memory_id: mark for mark in target.hidden(path)}
    marks = {mark.memory_id: mark for mark in source.hidden(path)}
    restored = [
        id_
        for id_, mark in existing_marks.items()
        if mark.forgotten_at is not None and (id_ not in marks or marks[id_].forgotten_at is None)
    ]
    existing = {id_ for _, id_ in target.known([(path, id_) for id_ in (*marks, *restored)])}
    in_source = {id_ for _, id_ in source.known([(path, id_) for id_ in restored])}
    target.restore(path, [id_ for id_ in restored if id_ in in_source])
    superseded = {id_ for id_, mark in existing_marks.items() if mark.superseded_at is not None}
    target.hide(
        path,
        [
            mark if id_ in superseded else replace(mark, superseded_at=None)
            for id_, mark in marks.items()
            if existing_marks.get(id_) != mark and id_ in existing
        ],
    )


def _declare(source: Store, target: Store, path: str) -> None:
    existing = {record.entity.name: record for record in target.entities.list(path)}
    records = [record for record in source.entities.list(path) if existing.get(record.entity.name) != record]
    # A name may have gone from one to another: first none of them has more than its own.
    for record in records:
        before = existing.get(record.entity.name)
        if before is not None and before.merged_into is not None:
            target.entities.undo_merge(path, record.entity.name)
        if before is not None:
            target.entities.describe(path, record.entity.name, aliases=())
    for record in records:
        declare(target, path, record.entity)
    for record in records:
        if record.merged_into is not None:
            target.entities.merge(path, record.merged_into, record.entity.name)
    relations = source.relations.list(path)
    if relations:
        latest = max(relation.created_at for relation in relations if relation.created_at)
        target.relations.add(path, relations, latest)


def declare(store: Store, path: str, entity: Entity) -> None:
    """Declare an entity of one namespace in another."""
    store.entities.describe(
        path, entity.name, type=entity.type, aliases=entity.aliases, description=entity.description
    )


def _compared(source: Store, target: Store, new: int, changed: int) -> CopyReport:
    differing = []
    counts = source.namespaces()
    checksum = hashlib.sha256()
    entities = relations = 0
    for path in counts:
        mine, theirs = _digests(source, path), _digests(target, path)
        differing += [f"{path}: {id_}" for id_ in mine if mine[id_] != theirs.get(id_)]
        for digest in mine.values():
            checksum.update(digest)
        stated, copied = _declared(source, path), _declared(target, path)
        differing += [f"{path}: {item}" for item in stated if item not in copied]
        declared = sum(isinstance(item, EntityRecord) for item in stated)
        entities, relations = entities + declared, relations + len(stated) - declared
    numbers = len(counts), sum(counts.values()), new, changed, entities, relations
    return CopyReport(*numbers, checksum.hexdigest(), tuple(differing))


def _declared(store: Store, path: str) -> list[EntityRecord | Relation]:
    return [*store.entities.list(path), *store.relations.list(path)]


def _digests(store: Store, path: str) -> dict[str, bytes]:
    """Return by id the SHA-256 of everything that a store says about a memory, in the order of adding."""
    hidden = {mark.memory_id: mark for mark in store.hidden(path)}
    digests = {}
    for memory in store.export(path):
        values = [
            repr(getattr(memory, field.name)) for field in fields(memory) if field.name not in _STORE_FIELDS
        ]
        text = "\x00".join([*values, repr(hidden.get(memory.id))])
        digests[memory.id] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return digests


def _last_change(store: Store, since: int) -> int:
    last = since
    while changes := store.changes(last, 10_000):
        last = changes[-1].number
    return last


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
        return uuid7(self._runtime.clock(), secrets.randbits(RANDOM_BITS))

    def note(self, id: str, source: str, memories: Sequence[Memory]) -> None:
        """Note memories that were just written, inside the transaction that wrote them."""
        by_namespace: dict[str, list[str]] = {}
        for memory in memories:
            by_namespace.setdefault(memory.namespace, []).append(memory.id)
        for path, ids in by_namespace.items():
            slots = sorted(self._store.slots(path, ids).values())
            self._save(path, id, {"source": source, "slots": _ranges(slots), "changes": []})

    def note_relation(self, id: str, source: str, path: str) -> None:
        """Note the relation that was just written, inside the transaction that wrote it."""
        change = self._store.last_change(path)
        self._save(path, id, {"source": source, "slots": [], "changes": [change]})

    def list(self, *, namespace: str | None = None) -> tuple[Imported, ...]:
        """Return the imports into a namespace that were not undone, the latest first."""
        path = self._runtime.path(namespace)
        imports: dict[str, Imported] = {}
        # The latest part of an import comes first, and its first part says when it began.
        for part in self._store.saved_settings.list(path, IMPORT):
            later = imports.get(part.name, Imported(part.name, "", part.at, 0, 0))
            memories = later.memories + sum(last - first + 1 for first, last in part.data["slots"])
            relations = later.relations + len(part.data["changes"])
            imports[part.name] = Imported(part.name, part.data["source"], part.at, memories, relations)
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
        ...     (done,) = memory.admin.transfer.imports.list()
        ...     undone = memory.admin.transfer.imports.undo(done.id)
        ...     done.source, done.memories, len(memory.list().memories)
        ('notes', 1, 0)
        """
        checks.text("id", id)
        checks.flag("purge", purge)
        paths = self._store.saved_settings.namespaces(IMPORT, id)
        if not paths:
            raise InvalidArgument("id", id, "an import that was not undone (memorata import list)")
        ids: dict[str, tuple[str, ...]] = {}
        changes: dict[str, list[int]] = {}
        for path in paths:
            parts = [part.data for part in self._store.saved_settings.list(path, IMPORT, id)]
            slots = [
                slot for part in parts for first, last in part["slots"] for slot in range(first, last + 1)
            ]
            ids[path] = tuple(self._store.ids(path, slots).values())
            changes[path] = [change for part in parts for change in part["changes"]]
        if checks.flag("dry_run", dry_run):
            return Undone(ids, sum(map(len, changes.values())))
        relations, now = 0, self._runtime.clock()
        with nullcontext() if purge else self._store.together():
            for path in paths:
                relations += self._store.relations.remove_changes(path, changes[path])
                if purge:
                    ids[path] = tuple(self._purge.memories(path, ids[path]))
                else:
                    self._store.forget(path, ids[path], now)
                self._store.saved_settings.withdraw_all(path, IMPORT, id, now)
        return Undone(ids, relations)

    def _save(self, path: str, id: str, data: dict[str, object]) -> None:
        self._store.saved_settings.save(path, IMPORT, id, data, {}, self._runtime.clock())


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
