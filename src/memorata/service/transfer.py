"""Import of files and folders, a chunk of records at a time, and the rows of an export, read back exactly.

A row of a memory is its JSON form, with the time since which it is hidden, which is not a field of the
memory. A row that has a `kind`, ``entity`` or ``relation``, and no `content` declares one of these. Memories
come first, then entities, then relations.

On import unreadable records are noted with their position, and the rest goes on. Existing memories stay as
they are, so an interrupted import can be run again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.engine.write.drafts import built_place
from memorata.model.checks import nearest
from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument, MemorataError
from memorata.model.memory import IMPORT, Memory
from memorata.service.codec import Json, memory_arguments, memory_json, plain, time_from_json, time_json
from memorata.service.formats import SUFFIXES, absent_formats, format_of
from memorata.service.formats.record import Notes, Record, is_declaration
from memorata.service.record_writer import ImportCounts, ImportedDeclaration, ImportedMemory, RecordWriter
from memorata.store.entities import EntityRecord
from memorata.store.entries import Hidden, all_pages

if TYPE_CHECKING:
    from memorata.engine import Engine


PAGE_SIZE: Final = 1_000
_SINCE: Final = ("forgotten_at", "superseded_at")
_HIDDEN: Final = (*_SINCE, "end_given", "repeat")
_ROW_FIELDS: Final = ("kind", "namespace")
_ENTITY: Final = tuple(field.name for field in fields(Entity))
_RELATION: Final = tuple(field.name for field in fields(Relation))
_RELATION_TIMES: Final = ("valid_from", "valid_to", "created_at")


def export_rows(
    engine: Engine, namespace: str | None, damaged: Callable[[Exception], None] | None = None
) -> Iterator[Json]:
    """Yield everything in a namespace, or in all, hidden memories too; `damaged` gets what is unreadable."""
    store = engine.store
    namespaces = sorted(store.namespaces()) if namespace is None else [namespace]
    hidden = {(path, entry.memory_id): entry for path in namespaces for entry in store.hidden(path)}
    for memory in store.export(namespace, damaged):
        yield memory_json(memory) | hidden_json(hidden.get((memory.namespace, memory.id)))
    for path in namespaces:
        yield from (entity_row(record, path) for record in store.entities.list(path))
        yield from (relation_row(relation, path) for relation in store.relations.list(path))


def listed(
    engine: Engine,
    filter: Mapping[str, Any] | None = None,
    *,
    namespace: str | None = None,
    page: int = PAGE_SIZE,
    **order: bool,
) -> Iterator[Memory]:
    """Yield all memories that pass a filter, newest first unless `order` says otherwise, a page at a time."""
    return all_pages(
        lambda cursor: engine.list(namespace=namespace, filter=filter, limit=page, cursor=cursor, **order)
    )


def hidden_json(hidden: Hidden | None) -> Json:
    """Return since when a memory is forgotten or superseded, and how, or nulls."""
    since = {name: None if hidden is None else time_json(getattr(hidden, name)) for name in _SINCE}
    return since | {name: getattr(hidden, name, None) for name in ("end_given", "repeat")}


def entity_row(record: EntityRecord, namespace: str) -> Json:
    """Return the row of a declared entity."""
    extra = {"kind": "entity", "namespace": namespace}
    return {**extra, **plain(record.entity), "merged_into": record.merged_into}


def relation_row(relation: Relation, namespace: str) -> Json:
    """Return the row of a relation."""
    return {"kind": "relation", "namespace": namespace, **plain(relation)}


def read_row(row: Mapping[str, Any]) -> ImportedMemory | ImportedDeclaration:
    """Return the memory or declaration of a row, or raise."""
    if is_declaration(row):
        read = read_entity if row["kind"] == "entity" else read_relation
        return ImportedDeclaration(read(row), row.get("namespace") or "")
    arguments = memory_arguments({name: value for name, value in row.items() if name not in _HIDDEN})
    return ImportedMemory(arguments, **_read_hidden(row))


def read_entity(row: Mapping[str, Any]) -> EntityRecord:
    """Return the entity that a row describes, or raise."""
    _check_keys(row, (*_ROW_FIELDS, *_ENTITY, "merged_into"), "name")
    merged_into = row.get("merged_into")
    if merged_into is not None and not isinstance(merged_into, str):
        raise InvalidArgument("merged_into", merged_into, "a name or null")
    values = {name: row[name] for name in _ENTITY if name in row}
    if isinstance(values.get("place"), Mapping):
        values["place"] = built_place(values["place"])
    return EntityRecord(Entity(**values), merged_into)


def read_relation(row: Mapping[str, Any]) -> Relation:
    """Return the relation that a row describes, or raise."""
    _check_keys(row, (*_ROW_FIELDS, *_RELATION), "source", "type", "target")
    arguments = {name: row[name] for name in _RELATION if name in row}
    for name in _RELATION_TIMES:
        if arguments.get(name) is not None:
            arguments[name] = time_from_json(name, arguments[name])
    return Relation(**arguments)


def _read_hidden(row: Mapping[str, Any]) -> dict[str, Any]:
    end_given = row.get("end_given")
    if end_given is not None and not isinstance(end_given, bool):
        raise InvalidArgument("end_given", end_given, "true, false or null")
    since: dict[str, datetime | None] = {
        name: None if row.get(name) is None else time_from_json(name, row[name]) for name in _SINCE
    }
    return {**since, "end_given": end_given, "repeat": row.get("repeat")}


def _check_keys(row: Mapping[str, Any], names: tuple[str, ...], *needed: str) -> None:
    for name in row:
        if name not in names:
            raise InvalidArgument("field", name, f"one that an {row['kind']} has{nearest(name, names)}")
    for name in needed:
        if name not in row:
            raise InvalidArgument("field", list(row), f"such that {name} is among them")


CHUNK: Final = 200
"""Records per transaction: few enough that the progress moves, enough that batches are fast."""


class Importer:
    """Imports records into one namespace, or with None into those that the records name.

    `max_content` bounds the characters of a memory, `max_problems` how many problems are noted; all are
    counted. `notes` collects what is not imported; `via` is the interface. With a `batch`, the name of the
    source, all is noted as one import, `import_id`, which can be undone.
    """

    def __init__(
        self,
        engine: Engine,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        max_content: int | None = None,
        max_problems: int | None = None,
        notes: Notes | None = None,
        via: str = IMPORT,
        batch: str | None = None,
    ) -> None:
        self.notes = Notes() if notes is None else notes
        self._writer = RecordWriter(engine, namespace, dry_run=dry_run, via=via, batch=batch)
        self._max_content = max_content
        self._max_problems = max_problems

    @property
    def import_id(self) -> str:
        """The id of this import in `transfer.imports`; empty if nothing was imported, or without a batch."""
        return self._writer.import_id

    @property
    def counts(self) -> ImportCounts:
        """How much is imported so far."""
        return self._writer.counts

    def add_file(self, name: str, records: Iterator[Record]) -> Iterator[int]:
        """Import the records of one file, and yield the line of it that has been reached."""
        while chunk := list(islice(records, CHUNK)):
            self.add(chunk, name)
            yield chunk[-1].line

    def add(self, records: Sequence[Record], name: str = "") -> None:
        """Import records, the memories among them in one transaction."""
        problems: dict[int, str] = {}
        readable: dict[int, ImportedMemory | ImportedDeclaration] = {}
        for position, record in enumerate(records):
            if record.skipped:
                self.notes.skipped.append(_note(name, record, reason=record.skipped))
            elif record.problem:
                problems[position] = record.problem
            else:
                try:
                    readable[position] = self._read(record.fields)
                except MemorataError as error:
                    problems[position] = str(error)
        positions = list(readable)
        for index, failure in self._writer.write(list(readable.values())).items():
            problems[positions[index]] = str(failure)
        self.notes.failed += len(problems)
        for position in sorted(problems):
            if self._max_problems is None or len(self.notes.problems) < self._max_problems:
                self.notes.problems.append(_note(name, records[position], problem=problems[position]))

    def _read(self, fields: dict[str, Any]) -> ImportedMemory | ImportedDeclaration:
        content = fields.get("content")
        if self._max_content is not None and isinstance(content, str) and len(content) > self._max_content:
            raise InvalidArgument("content", content, f"at most {self._max_content:,} characters")
        return read_row(fields)


def _note(name: str, record: Record, **reason: str) -> dict[str, Any]:
    return {"file": name, "line": record.line, "where": record.place, **reason}


@frozen
class Source:
    """A file to read: its path, the name that ids are made from, its format, its bytes and its link."""

    name: str
    label: str
    format: str
    data: bytes
    link: str


def sources(name: str, format: str | None, notes: Notes) -> Iterator[Source]:
    """Yield the files of a path; other things in a folder are skipped."""
    if name == "-":
        data = sys.stdin.buffer.read()
        yield Source(name, "stdin", format or format_of(data, "") or "text", data, "")
        return
    path = Path(name)
    if not path.exists():
        raise InvalidArgument("FILE", name, "a file or folder that exists")
    if not path.is_dir():
        data = path.read_bytes()
        detected = format or format_of(data, path.suffix)
        if detected is None:
            suffixes = ", ".join(SUFFIXES)
            expected = f"one whose suffix ({suffixes}) or content is known, or --format given"
            raise InvalidArgument("FILE", name, "; ".join(filter(None, (expected, absent_formats()))))
        yield Source(name, path.name, detected, data, name)
        return
    root = path.resolve()
    for label, file in files_of(path, lambda error: _unreadable(notes, error, path)):
        reason = "a file of no known format"
        if not file.is_file():  # to read a pipe may block for ever
            reason = "no file: a link that leads nowhere, a pipe or a device"
        elif not file.resolve().is_relative_to(root):
            reason = "a link to a file outside of the folder"
        else:
            try:
                data = file.read_bytes()
            except OSError as error:
                _unreadable(notes, error, file)
                continue
            if detected := format or format_of(data, file.suffix):
                yield Source(str(file), label, detected, data, str(file))
                continue
        notes.skipped.append({"file": str(file), "line": 1, "where": "the file", "reason": reason})


def _unreadable(notes: Notes, error: OSError, path: Path) -> None:
    """Note a file or folder that cannot be read."""
    name = path if error.filename is None else error.filename
    problem = error.strerror or str(error)
    notes.problems.append({"file": str(name), "line": 1, "where": "all of it", "problem": problem})


def files_of(
    folder: Path, unreadable: Callable[[OSError], None] = lambda error: None
) -> Iterator[tuple[str, Path]]:
    """Yield the files in a folder and in the folders in it, hidden ones left out, sorted by their names.

    The name is the path within the folder, with slashes, so that it is the same on every machine. Links to
    folders are not followed: they may be circular. Pipes and broken links are among the files. `unreadable`
    gets the error of every folder that cannot be listed.
    """
    paths = []
    for path, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [Path(path) / name for name in names if not name.startswith(".")]
    yield from sorted((path.relative_to(folder).as_posix(), path) for path in paths)


CONVERSATION: Final = "demo_conversation.jsonl"
ASKED: Final = datetime(2026, 11, 15, 9, tzinfo=UTC)
"""The time of the queries of the demo: two days after the conversation ends."""


def conversation() -> tuple[Memory, ...]:
    """Return the memories of the demo, oldest first."""
    lines = files("memorata.service").joinpath(CONVERSATION).read_text(encoding="utf-8").splitlines()
    return tuple(Memory(**memory_arguments(json.loads(line))) for line in lines)
