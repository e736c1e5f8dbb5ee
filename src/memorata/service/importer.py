"""The one import: takes the records of files or requests into a memory, a chunk at a time.

What cannot be read is noted with its place, and the rest goes on. What is there already is left as it is, so
an import that broke off can be run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memorata.model.errors import InvalidArgument, MemorataError
from memorata.service.export import read_row
from memorata.service.formats.record import Notes, Record
from memorata.service.record_writer import ImportCounts, ImportedDeclaration, ImportedMemory, RecordWriter

if TYPE_CHECKING:
    from memorata.engine import Engine

CHUNK: Final = 200
"""Records per transaction: few enough that the progress moves, enough that batches are fast."""


class Importer:
    """Takes records into a memory.

    Parameters
    ----------
    engine
        The memory.
    namespace
        Where everything goes; None for where each record says.
    dry_run
        Whether to write nothing.
    max_content
        The most characters that the content of a memory may have; None for any number.
    max_problems
        How many problems are noted; None for all. Every one is counted.
    notes
        Where to note what does not come in; None for notes of its own.
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
    ) -> None:
        self.notes = Notes() if notes is None else notes
        self._writer = RecordWriter(engine, namespace, dry_run=dry_run)
        self._max_content = max_content
        self._max_problems = max_problems

    @property
    def counts(self) -> ImportCounts:
        """How much has come in so far."""
        return self._writer.counts

    def take_file(self, name: str, records: Iterator[Record]) -> Iterator[int]:
        """Import the records of one file, and yield the line of it that has been reached."""
        while chunk := list(islice(records, CHUNK)):
            self.take(chunk, name)
            yield chunk[-1].line

    def take(self, records: Sequence[Record], name: str = "") -> None:
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
