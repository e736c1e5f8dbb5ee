"""Takes the records of files into a memory, a chunk at a time, and notes where each problem stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memorata.exchange.record import Record, is_declaration

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.exchange.taking_in import Declared, Said, Taken

_CHUNK: Final = 200
"""Memories per transaction: few enough that the progress moves, enough that batches are fast."""


@dataclass(slots=True)
class Notes:
    """What was left out of the files, and what could not be read, each with its place."""

    skipped: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)


class Importer:
    """Takes records into a memory, a chunk at a time.

    Parameters
    ----------
    engine
        The memory.
    notes
        Where to write down what does not come in.
    namespace
        Where everything goes; None for where each record says.
    dry_run
        Whether to write nothing.
    """

    def __init__(self, engine: Engine, notes: Notes, namespace: str | None, *, dry_run: bool) -> None:
        from memorata.exchange.taking_in import Intake

        self._intake = Intake(engine, namespace, dry_run=dry_run)
        self._notes = notes

    @property
    def taken(self) -> Taken:
        """How much has come in so far."""
        return self._intake.taken

    def take(self, name: str, records: Iterator[Record]) -> Iterator[int]:
        """Import the records of one file, and yield the line of it that has been reached.

        What cannot be read is written down, and the rest goes on.
        """
        from memorata.model.errors import MemorataError

        while chunk := list(islice(records, _CHUNK)):
            problems: dict[int, str] = {}
            read: dict[int, Said | Declared] = {}
            for place, record in enumerate(chunk):
                if record.skipped:
                    _note(self._notes.skipped, name, record, reason=record.skipped)
                elif record.problem:
                    problems[place] = record.problem
                else:
                    try:
                        read[place] = _read(record.fields)
                    except MemorataError as error:
                        problems[place] = str(error)
            places = list(read)
            for which, failure in self._intake.take(list(read.values())).items():
                problems[places[which]] = str(failure)
            for place in sorted(problems):
                _note(self._notes.problems, name, chunk[place], problem=problems[place])
            yield chunk[-1].line


def _read(fields: dict[str, Any]) -> Said | Declared:
    """Return what the fields of a record say, or raise."""
    from memorata.cli.entity_json import entity_from_json, relation_from_json
    from memorata.cli.memory_json import HIDDEN, from_json, hidden_from_json
    from memorata.exchange.taking_in import Declared, Said

    if is_declaration(fields):
        read = entity_from_json if fields["kind"] == "entity" else relation_from_json
        return Declared(read(fields), fields.get("namespace") or "")
    said = from_json({name: value for name, value in fields.items() if name not in HIDDEN})
    return Said(said, **hidden_from_json(fields))


def _note(notes: list[dict[str, Any]], name: str, record: Record, **said: str) -> None:
    notes.append({"file": name, "line": record.line, "where": record.place, **said})
