"""Writes imported memories, entities and relations; existing ones stay as they are.

A chunk is one transaction, together with what is hidden in it: an interrupted import leaves a consistent
state, and the same import run again adds the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.engine.embedding import embedded_before
from memorata.model import checks
from memorata.model.checks import namespace as checked_namespace
from memorata.model.entity import Entity, Relation, relation_type
from memorata.model.errors import AlreadySuperseded, InvalidArgument, MemorataError, MemoryNotFound
from memorata.model.memory import IMPORT, Memory
from memorata.store.entities import EntityRecord
from memorata.store.entries import Hidden
from memorata.store.memory.repeats import KINDS
from memorata.store.memory.supersession import ended_by
from memorata.text.tokens import folded

_READ: Final = ("entities", "valid_from", "valid_to", "metadata")
"""Fields that analysing a text can fill in."""


@frozen
class ImportedMemory:
    """A memory of a file: its fields, and since when it is hidden.

    `end_given` tells whether its end was set by what superseded it, `repeat` how it repeats that; None where
    the file does not say.
    """

    fields: Mapping[str, Any]
    forgotten_at: datetime | None = None
    superseded_at: datetime | None = None
    end_given: bool | None = None
    repeat: str | None = None


@frozen
class ImportedDeclaration:
    """An entity or a relation of a file, and its namespace, if the file names one."""

    declared: EntityRecord | Relation
    namespace: str = ""


@dataclass(slots=True)
class ImportCounts:
    """How many memories, entities and relations were imported, and how many existed already."""

    imported: int = 0
    entities: int = 0
    relations: int = 0
    known: int = 0
    known_entities: int = 0
    known_relations: int = 0


@frozen
class _Draft:
    """A memory to write, the record it was made from, and whether that was exported from a memory."""

    memory: Memory
    record: ImportedMemory
    exported: bool


class RecordWriter:
    """Writes records into one namespace, or with None into those that the records name."""

    def __init__(
        self,
        engine: Engine,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        via: str = IMPORT,
        batch: str | None = None,
    ) -> None:
        self.counts = ImportCounts()
        self.import_id = ""
        self._batch = None if dry_run else batch
        self._engine = engine.scope(via=via)
        self._namespace = namespace
        self._dry_run = dry_run
        self._seen: dict[tuple[str, str], int] = {}
        self._newer: dict[tuple[str, str], str] = {}
        self._superseded: dict[tuple[str, str], tuple[datetime, Memory, ImportedMemory]] = {}
        self._entities = DeclarationWriter(engine, namespace, self._exists, dry_run=dry_run)

    def write(self, records: Sequence[ImportedMemory | ImportedDeclaration]) -> dict[int, MemorataError]:
        """Write records, the memories in one transaction, and return the errors of the others by position."""
        problems: dict[int, MemorataError] = {}
        drafts: list[_Draft] = []
        for position, record in enumerate(records):
            if isinstance(record, ImportedMemory):
                try:
                    draft = self._draft(record)
                    if draft is None:
                        self.counts.known += 1
                    else:
                        drafts.append(draft)
                except MemorataError as error:
                    problems[position] = error
        self._write(drafts)
        # Relations need the memories that assert them, so these come after.
        for position, record in enumerate(records):
            if isinstance(record, ImportedDeclaration):
                try:
                    self._declare(record)
                except MemorataError as error:
                    problems[position] = error
        return dict(sorted(problems.items()))

    def _declare(self, declaration: ImportedDeclaration) -> None:
        with nullcontext() if self._batch is None else self._engine.store.together():
            new = self._entities.write(declaration.declared, declaration.namespace)
            declared = declaration.declared
            if new and self._batch is not None and isinstance(declared, Relation):
                path = self._namespace or declaration.namespace or self._engine.namespace
                self._engine.admin.transfer.imports.note_relation(self._id(), self._batch, path)
        if isinstance(declaration.declared, EntityRecord):
            self.counts.entities += new
            self.counts.known_entities += not new
        else:
            self.counts.relations += new
            self.counts.known_relations += not new

    def _draft(self, record: ImportedMemory) -> _Draft | None:
        """Return the draft of a memory, or None for one that an earlier record has brought."""
        fields = dict(record.fields)
        if "content" not in fields:
            raise InvalidArgument("fields", list(fields), "such that content is among them")
        if self._namespace is not None:
            fields["namespace"] = self._namespace
        if record.repeat is not None:
            checks.one_of("repeat", record.repeat, KINDS)
        if (winner := fields.pop("superseded_by", None)) is not None:
            if isinstance(fields.get("version"), int):
                # The store marks it again, and counts that as a change, when what supersedes it comes in.
                fields["version"] = max(1, fields["version"] - 1)
            if self._repeats(winner, fields):
                fields["superseded_by"] = winner
        memory = self._engine.draft(**fields)
        # What was exported had been analysed already, and comes back as it was.
        memory = replace(memory, **{name: fields[name] for name in _READ if name in fields})
        key = (memory.namespace, memory.id)
        if key in self._seen:
            # Two files of one name that say the same, or two exports that both hold it.
            if self._seen[key] == hash(memory.content):
                return None
            raise InvalidArgument("id", memory.id, "another one than that of an earlier record")
        exported = bool(fields.get("fingerprint"))
        lost = [older for older in memory.supersedes if not self._exists(older, memory.namespace)]
        if lost and not exported:
            raise InvalidArgument("supersedes", lost[0], "a memory that is there or comes earlier")
        if lost:
            # An export about one entity leaves out what is about others; a damaged file has lost some.
            existing = tuple(older for older in memory.supersedes if older not in lost)
            memory = replace(memory, supersedes=existing)
        for older in memory.supersedes:
            newer = self._superseded_by(older, memory.namespace)
            if newer is not None and newer != memory.id:
                raise AlreadySuperseded(older, newer)
        self._seen[key] = hash(memory.content)
        self._newer |= {(memory.namespace, older): memory.id for older in memory.supersedes}
        if memory.superseded_by is not None:
            self._newer[key] = memory.superseded_by
        if record.superseded_at is not None:
            self._superseded[key] = record.superseded_at, memory, record
        return _Draft(memory, record, exported)

    def _write(self, drafts: Sequence[_Draft]) -> None:
        keys = [(draft.memory.namespace, draft.memory.id) for draft in drafts]
        while True:
            existing = self._engine.store.known(keys)
            new = [draft for key, draft in zip(keys, drafts, strict=True) if key not in existing]
            try:
                added = len(new) if self._dry_run else self._add(new)
                break
            except InvalidArgument:
                # Another process may have written some of them meanwhile: the same import, run twice at once.
                if self._engine.store.known(keys) == existing:
                    raise
        self.counts.known += len(drafts) - added
        self.counts.imported += added

    def _add(self, new: Sequence[_Draft]) -> int:
        """Write drafts that are new, and return how many still were."""
        hidden: dict[str, list[Hidden]] = {}
        for draft in new:
            if rows := self._hidden(draft):
                hidden.setdefault(draft.memory.namespace, []).extend(rows)
        memories = [draft.memory for draft in new]

        def add() -> list[Memory]:
            if hidden or any(draft.exported for draft in new):
                return self._engine.admin.transfer.import_records(memories, hidden=hidden)
            return self._engine.remember_many(memories, verbatim=True)

        if self._batch is None or not memories:
            return len(add())
        # Embedded before the transaction, so that no other writer waits for it.
        with embedded_before(self._engine, memories), self._engine.store.together():
            added = add()
            self._engine.admin.transfer.imports.note(self._id(), self._batch, added)
        return len(added)

    def _id(self) -> str:
        self.import_id = self.import_id or self._engine.admin.transfer.imports.begin()
        return self.import_id

    def _hidden(self, draft: _Draft) -> list[Hidden]:
        """Return since when a new memory has been forgotten, and those that it supersedes superseded."""
        memory, record = draft.memory, draft.record
        hidden = [] if record.forgotten_at is None else [Hidden(memory.id, record.forgotten_at, None)]
        if memory.superseded_by is not None and record.superseded_at is not None:
            hidden.append(Hidden(memory.id, None, record.superseded_at, record.end_given, record.repeat))
        for older in memory.supersedes:
            superseded = self._superseded.get((memory.namespace, older))
            if superseded is None:
                continue
            ended, before, imported = superseded
            end_given = imported.end_given
            if end_given is None or before.valid_to is None:
                end_given = before.valid_to is None or before.valid_to == ended_by(before, memory.event_time)
            # One that was between them may have been purged since.
            if end_given or imported.repeat is not None or ended != memory.created_at:
                hidden.append(Hidden(older, None, ended, end_given, imported.repeat))
        return hidden

    def _repeats(self, winner: object, fields: Mapping[str, Any]) -> bool:
        """Return whether what supersedes a memory is older than it, as with one that repeats another.

        That one may have been superseded since, but not by this memory, nor by what this supersedes.
        """
        namespace = fields.get("namespace", self._engine.namespace)
        if not isinstance(winner, str) or not isinstance(namespace, str):
            return False
        if not self._exists(winner, namespace):
            return False
        older = fields.get("supersedes", ())
        own = (fields.get("id"), *(older if isinstance(older, list | tuple) else ()))
        visited = {id_ for id_ in own if isinstance(id_, str)}
        current: str | None = winner
        while current is not None:
            if current in visited:
                return False
            visited.add(current)
            current = self._superseded_by(current, namespace)
        return True

    def _superseded_by(self, id_: str, namespace: str) -> str | None:
        """Return what supersedes a memory, in the store or among the imported ones."""
        if (namespace, id_) in self._newer:
            return self._newer[namespace, id_]
        if not self._engine.store.known([(namespace, id_)]):
            return None
        return self._engine.get(id_, namespace=namespace).superseded_by

    def _exists(self, id_: str, namespace: str) -> bool:
        return (namespace, id_) in self._seen or bool(self._engine.store.known([(namespace, id_)]))


_RelationKey = tuple[str, str, str, str | None, datetime | None]


class DeclarationWriter:
    """Writes imported entities and relations.

    What a namespace declares is read once, so that thousands of lines cost one query. `has_memory` tells by
    id and namespace whether a memory exists or is being imported.
    """

    def __init__(
        self,
        engine: Engine,
        namespace: str | None,
        has_memory: Callable[[str, str], bool],
        *,
        dry_run: bool = False,
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._has_memory = has_memory
        self._dry_run = dry_run
        self._names: dict[str, dict[str, EntityRecord]] = {}
        self._relations: dict[str, set[_RelationKey]] = {}

    def write(self, declared: EntityRecord | Relation, namespace: str = "") -> bool:
        """Write one entity or relation, and return whether it was new; `namespace` is its own, if any."""
        path = checked_namespace("namespace", self._namespace or namespace or self._engine.namespace)
        if isinstance(declared, EntityRecord):
            return self._write_entity(declared, path)
        return self._write_relation(declared, path)

    def _write_entity(self, record: EntityRecord, namespace: str) -> bool:
        entity, names = record.entity, self._names_of(namespace)
        existing = names.get(folded(entity.name))
        # One that was only referred to so far has nothing that could be lost.
        if existing is not None and (not _is_bare(existing) or _is_bare(record)):
            return False
        if not self._dry_run:
            # Both or neither: an existing one is not written again.
            store, clean = self._engine.store, self._engine.runtime.clean_text
            with store.together():
                store.entities.describe(
                    namespace,
                    clean(entity.name),
                    type=entity.type,
                    aliases=list(map(clean, entity.aliases)),
                    description=clean(entity.description),
                    place=entity.place,
                )
                if record.merged_into is not None:
                    store.entities.merge(namespace, record.merged_into, entity.name)
        self._keep_names(names, record)
        return True

    def _write_relation(self, relation: Relation, namespace: str) -> bool:
        relation_type(relation.type)
        if relation.asserted_by is not None and not self._has_memory(relation.asserted_by, namespace):
            raise MemoryNotFound(relation.asserted_by, namespace)
        if namespace not in self._relations:
            self._relations[namespace] = {
                self._key(relation, namespace) for relation in self._engine.store.relations.list(namespace)
            }
        # One that is there may have ended since, or weigh more by now.
        key = self._key(relation, namespace)
        if key in self._relations[namespace]:
            return False
        if not self._dry_run:
            self._relate(relation, namespace)
        self._relations[namespace].add(key)
        for name in (relation.source, relation.target):
            self._keep_names(self._names_of(namespace), EntityRecord(Entity(name)))
        return True

    def _key(self, relation: Relation, namespace: str) -> _RelationKey:
        """Return the key of a relation: the same for equal ones, by whichever names."""
        names = self._names_of(namespace)
        ends = [
            folded(names[key].entity.name if (key := folded(name)) in names else name)
            for name in (relation.source, relation.target)
        ]
        return ends[0], relation.type, ends[1], relation.asserted_by, relation.valid_from

    def _relate(self, relation: Relation, namespace: str) -> None:
        clean = self._engine.runtime.clean_text
        cleaned = replace(relation, source=clean(relation.source), target=clean(relation.target))
        self._engine.store.relations.add(namespace, [cleaned], relation.created_at or self._engine.now())

    def _names_of(self, namespace: str) -> dict[str, EntityRecord]:
        """Return the entities of a namespace by their folded names."""
        if namespace not in self._names:
            names = self._names[namespace] = {}
            for record in self._engine.store.entities.list(namespace):
                self._keep_names(names, record)
        return self._names[namespace]

    def _keep_names(self, names: dict[str, EntityRecord], record: EntityRecord) -> None:
        entity = record.entity
        if not _is_bare(record) or folded(entity.name) not in names:
            names.update(dict.fromkeys(map(folded, (entity.name, *entity.aliases)), record))
        if record.merged_into is not None:
            self._keep_names(names, EntityRecord(Entity(record.merged_into)))


def _is_bare(record: EntityRecord) -> bool:
    """Return whether an entity has nothing but its name."""
    return record.entity == Entity(record.entity.name) and record.merged_into is None
