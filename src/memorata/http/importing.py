"""Lines of an export as requests bring them: checked one by one, taken in, and what is wrong with some told.

The lines are those that `memorata export` and ``GET /v1/export`` write. All of them go to one namespace,
whatever they say. What is there already is left as it is, so an import that broke off can be sent again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field, ValidationError

from memorata.engine import Engine
from memorata.exchange.record import is_declaration
from memorata.exchange.taking_in import Declared, Intake, Said, Taken
from memorata.http.shapes import Given, Id, MemoryGiven, Number, Time, Whole, Word, Words
from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument, MemorataError
from memorata.store.naming import EntityRecord

_LISTED: Final = 100
_AROUND: Final = ("namespace", "forgotten_at", "superseded_at", "end_given", "repeat")
_BESIDE: Final = ("kind", "namespace")


class MemoryLine(MemoryGiven):
    """A memory, as an export writes it; a line of one's own needs no more than its content."""

    namespace: Word = ""
    superseded_by: Id | None = None
    mentions: Whole = 1
    supported_at: Time | None = None
    access_count: Whole = 0
    last_accessed_at: Time | None = None
    version: Whole = 1
    fingerprint: Word = ""
    embedder: Word = ""
    forgotten_at: Time | None = None
    superseded_at: Time | None = None
    end_given: bool | None = None
    repeat: Word | None = None


class EntityLine(Given):
    """What was said about an entity."""

    kind: str
    namespace: Word = ""
    name: Word
    type: Word = "thing"
    aliases: Words = Field(default=[])
    description: Word = ""
    merged_into: Word | None = None


class RelationLine(Given):
    """What was said to hold between two entities."""

    kind: str
    namespace: Word = ""
    source: Word
    type: Word
    target: Word
    weight: Number = 1.0
    asserted_by: Id | None = None
    valid_from: Time | None = None
    valid_to: Time | None = None
    created_at: Time | None = None


@dataclass(slots=True)
class Problems:
    """How many lines failed, and what is wrong with the first of them."""

    failed: int = 0
    listed: list[dict[str, Any]] = field(default_factory=list)


class Importer:
    """Takes lines into one namespace of a memory, some at a time.

    Parameters
    ----------
    engine
        The memory.
    namespace
        Where everything goes.
    """

    def __init__(self, engine: Engine, namespace: str) -> None:
        self._intake = Intake(engine, namespace)
        self.problems = Problems()

    @property
    def taken(self) -> Taken:
        """How much has come in so far."""
        return self._intake.taken

    def take(self, lines: Sequence[tuple[int, bytes]]) -> None:
        """Take in numbered lines. What cannot be read is written down, and the rest goes on."""
        problems: dict[int, str] = {}
        read: dict[int, Said | Declared] = {}
        for number, line in lines:
            try:
                read[number] = _read(_object(line))
            except ValidationError as error:
                problems[number] = _said(error)
            except MemorataError as error:
                problems[number] = str(error)
        numbers = list(read)
        for place, failure in self._intake.take(list(read.values())).items():
            problems[numbers[place]] = str(failure)
        self.problems.failed += len(problems)
        for number in sorted(problems)[: _LISTED - len(self.problems.listed)]:
            self.problems.listed.append({"line": number, "problem": problems[number]})


def _read(data: dict[str, Any]) -> Said | Declared:
    """Return what a line says, or raise."""
    if not is_declaration(data):
        line = MemoryLine.model_validate(data)
        fields = {name: value for name, value in line.given().items() if name not in _AROUND}
        return Said(fields, line.forgotten_at, line.superseded_at, line.end_given, line.repeat)
    if data["kind"] == "entity":
        said = EntityLine.model_validate(data)
        entity = Entity(said.name, said.type, tuple(said.aliases), said.description)
        return Declared(EntityRecord(entity, said.merged_into))
    given = RelationLine.model_validate(data).given()
    return Declared(Relation(**{name: value for name, value in given.items() if name not in _BESIDE}))


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise InvalidArgument("the line", line[:80], "a JSON object in UTF-8") from error
    if not isinstance(found, dict):
        raise InvalidArgument("the line", found, "a JSON object")
    return found


def _said(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    said = "there is no such field" if first["type"] == "extra_forbidden" else first["msg"]
    return f"{'.'.join(map(str, first['loc']))}: {said}"
