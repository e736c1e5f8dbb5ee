"""The import of files and folders into a memory, a chunk of records at a time.

Unreadable records are noted with their position, and the rest goes on. Existing memories stay as they are, so
an interrupted import can be run again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memorata._frozen import frozen
from memorata.model.errors import InvalidArgument, MemorataError
from memorata.model.memory import IMPORT, Memory
from memorata.service.codec import memory_arguments
from memorata.service.export import read_row
from memorata.service.formats import SUFFIXES, format_of
from memorata.service.formats.record import Notes, Record
from memorata.service.record_writer import ImportCounts, ImportedDeclaration, ImportedMemory, RecordWriter

if TYPE_CHECKING:
    from memorata.engine import Engine


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
            raise InvalidArgument("FILE", name, expected)
        yield Source(name, path.name, detected, data, name)
        return
    root = path.resolve()
    for label, file in files_of(path, lambda error: _unreadable(notes, error, path)):
        # To read a pipe may block for ever.
        reason = "" if file.is_file() else "no file: a link that leads nowhere, a pipe or a device"
        if not reason and not file.resolve().is_relative_to(root):
            reason = "a link to a file outside of the folder"
        if reason:
            notes.skipped.append({"file": str(file), "line": 1, "where": "the file", "reason": reason})
            continue
        try:
            data = file.read_bytes()
        except OSError as error:
            _unreadable(notes, error, file)
            continue
        detected = format or format_of(data, file.suffix)
        if detected is None:
            reason = "a file of no known format"
            notes.skipped.append({"file": str(file), "line": 1, "where": "the file", "reason": reason})
        else:
            yield Source(str(file), label, detected, data, str(file))


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
