"""Lines of an export, taken in: memories, since when they are hidden, entities and relations.

The lines are those that `recollect export` and ``GET /v1/export`` write. All of them go to one namespace,
whatever they say. What is there already is left as it is, so an import that broke off can be sent again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from pydantic import Field, ValidationError

from recollect.engine import Engine
from recollect.engine.entity_verbs import relation_type
from recollect.http.shapes import Given, Id, MemoryGiven, Number, Time, Whole, Word, Words
from recollect.model.entity import Entity, Relation
from recollect.model.errors import InvalidArgument, MemoryNotFound, RecollectError
from recollect.model.memory import Memory
from recollect.store.naming import EntityRecord
from recollect.store.port import Hidden
from recollect.text.folding import folded

_LISTED: Final = 100
_READ: Final = ("entities", "valid_from", "valid_to", "metadata")
"""What reading a text for names and days can fill in; what was exported had been read already."""
_AROUND: Final = ("namespace", "forgotten_at", "superseded_at", "superseded_by")


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
class Tally:
    """What came of an import; `problems` lists the first of those that `failed`."""

    imported: int = 0
    entities: int = 0
    relations: int = 0
    known: int = 0
    failed: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)

    @property
    def taken(self) -> int:
        """How many lines could be read."""
        return self.imported + self.entities + self.relations + self.known


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
        self.tally = Tally()
        self._engine = engine
        self._namespace = namespace
        self._seen: set[str] = set()
        self._newer: dict[str, str] = {}
        self._superseded: dict[str, datetime] = {}

    def take(self, lines: Sequence[tuple[int, bytes]]) -> None:
        """Take in numbered lines. What cannot be read is written down, and the rest goes on."""
        memories: list[tuple[Memory, MemoryLine]] = []
        declared: list[tuple[int, dict[str, Any]]] = []
        for number, line in lines:
            try:
                data = _object(line)
                if "content" not in data and data.get("kind") in ("entity", "relation"):
                    declared.append((number, data))
                else:
                    memories.append(self._memory(data))
            except (RecollectError, ValidationError) as error:
                self._fail(number, error)
        self._write(memories)
        # Relations need the memories that assert them, so these come after.
        for number, data in declared:
            try:
                self._declare(data)
            except (RecollectError, ValidationError) as error:
                self._fail(number, error)

    def _fail(self, number: int, error: RecollectError | ValidationError) -> None:
        self.tally.failed += 1
        if len(self.tally.problems) < _LISTED:
            said = _said(error) if isinstance(error, ValidationError) else str(error)
            self.tally.problems.append({"line": number, "problem": said})

    def _memory(self, data: dict[str, Any]) -> tuple[Memory, MemoryLine]:
        line = MemoryLine.model_validate(data)
        given = {name: value for name, value in line.given().items() if name not in _AROUND}
        if line.superseded_by is not None:
            # The store marks it again, and counts that as a change, when what supersedes it comes in.
            given["version"] = max(1, line.version - 1)
            if self._repeats(line.superseded_by):
                given["superseded_by"] = line.superseded_by
        memory = self._engine.draft(given.pop("content"), namespace=self._namespace, **given)
        read = {name: getattr(memory, name) for name in _READ if name in given}
        for name in ("valid_from", "valid_to", "metadata"):
            if name in read:
                read[name] = given[name]
        if "entities" in read:
            read["entities"] = tuple(given["entities"])
        memory = replace(memory, **read)
        if memory.id in self._seen:
            raise InvalidArgument("id", memory.id, "another one than that of an earlier line")
        for older in memory.supersedes:
            if older not in self._seen and not self._is_known(older):
                raise InvalidArgument("supersedes", older, "a memory that is there or comes earlier")
            newer = self._replaced_by(older)
            if newer not in (None, memory.id):
                raise InvalidArgument("supersedes", older, f"current, but {newer!r} has taken its place")
        self._seen.add(memory.id)
        self._newer |= dict.fromkeys(memory.supersedes, memory.id)
        if line.superseded_at is not None:
            self._superseded[memory.id] = line.superseded_at
        return memory, line

    def _repeats(self, winner: str) -> bool:
        """Return whether what supersedes a memory is older than it, as with one that was said again."""
        there = winner in self._seen or self._is_known(winner)
        return there and self._replaced_by(winner) is None

    def _replaced_by(self, id_: str) -> str | None:
        """Return what has taken the place of a memory, here or among what comes in."""
        if id_ in self._newer:
            return self._newer[id_]
        if not self._is_known(id_):
            return None
        return self._engine.get(id_, namespace=self._namespace).superseded_by

    def _write(self, memories: Sequence[tuple[Memory, MemoryLine]]) -> None:
        new = [(memory, line) for memory, line in memories if not self._is_known(memory.id)]
        self.tally.known += len(memories) - len(new)
        hidden: list[Hidden] = []
        for memory, line in new:
            if line.forgotten_at is not None:
                hidden.append(Hidden(memory.id, line.forgotten_at, None))
            if memory.superseded_by is not None and line.superseded_at is not None:
                hidden.append(Hidden(memory.id, None, line.superseded_at))
            for older in memory.supersedes:
                ended = self._superseded.pop(older, memory.created_at)
                # One that was between them may have been purged since.
                if ended != memory.created_at:
                    hidden.append(Hidden(older, None, ended))
        # In one transaction, so that what was hidden is not seen even for a moment.
        self._engine.take_over([memory for memory, _ in new], hidden={self._namespace: hidden})
        self.tally.imported += len(new)

    def _declare(self, data: dict[str, Any]) -> None:
        if data["kind"] == "entity":
            new = self._entity(EntityLine.model_validate(data))
            self.tally.entities += new
        else:
            new = self._relation(RelationLine.model_validate(data))
            self.tally.relations += new
        self.tally.known += not new

    def _entity(self, line: EntityLine) -> bool:
        wanted = folded(line.name)
        said = Entity(line.name, line.type, tuple(line.aliases), line.description)
        given = EntityRecord(said, line.merged_into)
        for record in self._engine.store.entities(self._namespace):
            names = {folded(name) for name in (record.entity.name, *record.entity.aliases)}
            # One that somebody only referred to so far has nothing that could be lost.
            if wanted in names and (not _is_bare(record) or _is_bare(given)):
                return False
        self._engine.describe_entity(
            line.name,
            type=line.type,
            aliases=line.aliases,
            description=line.description,
            namespace=self._namespace,
        )
        if line.merged_into is not None:
            self._engine.store.merge_entities(self._namespace, line.merged_into, line.name)
        return True

    def _relation(self, line: RelationLine) -> bool:
        relation_type(line.type)
        if line.asserted_by is not None and not self._is_known(line.asserted_by):
            raise MemoryNotFound(line.asserted_by, self._namespace)
        said = {name: value for name, value in line.given().items() if name not in ("kind", "namespace")}
        relation = Relation(**said)
        ends = [folded(relation.source), folded(relation.target)]
        if relation in self._engine.store.relations(self._namespace, names=ends):
            return False
        if relation.created_at is not None:
            self._engine.store.relate(self._namespace, [relation], relation.created_at)
        else:
            self._engine.relate(
                relation.source,
                relation.type,
                relation.target,
                weight=relation.weight,
                memory=relation.asserted_by,
                valid_from=relation.valid_from,
                valid_to=relation.valid_to,
                namespace=self._namespace,
            )
        return True

    def _is_known(self, id_: str) -> bool:
        return bool(self._engine.store.known([(self._namespace, id_)]))


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
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _is_bare(record: EntityRecord) -> bool:
    """Return whether nothing was said about an entity but its name."""
    return record.entity == Entity(record.entity.name) and record.merged_into is None
