"""Takes what was said elsewhere into a memory: memories, since when they are hidden, entities, relations.

This is the one import, whichever way the lines came and whoever read them. Some come at a time, in one
transaction together with what is hidden of them: whenever an import is cut off, everything that is there is
as it should be, and the same import run again adds the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.model import checks
from memorata.model.entity import Relation
from memorata.model.errors import AlreadySuperseded, InvalidArgument, MemorataError
from memorata.model.memory import Memory
from memorata.service.declarations import DeclarationWriter
from memorata.store.entities import EntityRecord
from memorata.store.port import Hidden
from memorata.store.repeats import KINDS
from memorata.store.succession import ended_by

_READ: Final = ("entities", "valid_from", "valid_to", "metadata")
"""What reading a text for names and days can fill in."""


@frozen
class ImportedMemory:
    """A memory as it was written down elsewhere: the fields that are given, and since when it is hidden.

    `end_given` tells whether its end was given by what superseded it, `repeat` how it repeats that; None
    where nobody says.
    """

    fields: Mapping[str, Any]
    forgotten_at: datetime | None = None
    superseded_at: datetime | None = None
    end_given: bool | None = None
    repeat: str | None = None


@frozen
class ImportedDeclaration:
    """An entity or a relation as it was declared elsewhere, and in which namespace, if that is said."""

    what: EntityRecord | Relation
    namespace: str = ""


@dataclass(slots=True)
class ImportCounts:
    """How much has come in; what was there already is `known`."""

    imported: int = 0
    entities: int = 0
    relations: int = 0
    known: int = 0


@frozen
class _Draft:
    """A memory on its way in, what was said of it, and whether it was exported from a memory."""

    memory: Memory
    said: ImportedMemory
    exported: bool


class RecordWriter:
    """Takes things into a memory, some at a time.

    Parameters
    ----------
    engine
        The memory.
    namespace
        Where everything goes; None for where each thing says.
    dry_run
        Whether to write nothing.

    Examples
    --------
    >>> import memorata
    >>> with memorata.open(":memory:", embedder=None) as memory:
    ...     writer = RecordWriter(memory, "acme")
    ...     problems = writer.write([ImportedMemory({"content": each}) for each in ("Anna likes tea", " ")])
    ...     writer.counts.imported, str(problems[1])
    (1, "content must be text that is not blank, got ' '")
    """

    def __init__(self, engine: Engine, namespace: str | None = None, *, dry_run: bool = False) -> None:
        self.counts = ImportCounts()
        self._engine = engine
        self._namespace = namespace
        self._dry_run = dry_run
        self._seen: dict[tuple[str, str], int] = {}
        self._newer: dict[tuple[str, str], str] = {}
        self._superseded: dict[tuple[str, str], tuple[datetime, Memory, ImportedMemory]] = {}
        self._entities = DeclarationWriter(engine, namespace, self._is_there, dry_run=dry_run)

    def write(self, things: Sequence[ImportedMemory | ImportedDeclaration]) -> dict[int, MemorataError]:
        """Take things in, the memories in one transaction, and return why some could not be, by their places.

        What cannot be taken in stops nothing else.
        """
        problems: dict[int, MemorataError] = {}
        drafts: list[_Draft] = []
        for place, thing in enumerate(things):
            if isinstance(thing, ImportedMemory):
                try:
                    draft = self._draft(thing)
                    if draft is None:
                        self.counts.known += 1
                    else:
                        drafts.append(draft)
                except MemorataError as error:
                    problems[place] = error
        self._write(drafts)
        # Relations need the memories that assert them, so these come after.
        for place, thing in enumerate(things):
            if isinstance(thing, ImportedDeclaration):
                try:
                    self._declare(thing)
                except MemorataError as error:
                    problems[place] = error
        return dict(sorted(problems.items()))

    def _declare(self, declared: ImportedDeclaration) -> None:
        if not self._entities.write(declared.what, declared.namespace):
            self.counts.known += 1
        elif isinstance(declared.what, EntityRecord):
            self.counts.entities += 1
        else:
            self.counts.relations += 1

    def _draft(self, said: ImportedMemory) -> _Draft | None:
        """Return a memory that can come in, or None for what an earlier record has said already."""
        fields = dict(said.fields)
        if "content" not in fields:
            raise InvalidArgument("fields", list(fields), "such that content is among them")
        if self._namespace is not None:
            fields["namespace"] = self._namespace
        if said.repeat is not None:
            checks.one_of("repeat", said.repeat, KINDS)
        if (winner := fields.pop("superseded_by", None)) is not None:
            if isinstance(fields.get("version"), int):
                # The store marks it again, and counts that as a change, when what supersedes it comes in.
                fields["version"] = max(1, fields["version"] - 1)
            if self._repeats(winner, fields):
                fields["superseded_by"] = winner
        memory = self._engine.draft(**fields)
        # What was exported had been read already, whatever was found in it, and comes back as it was.
        memory = replace(memory, **{name: fields[name] for name in _READ if name in fields})
        key = (memory.namespace, memory.id)
        if key in self._seen:
            # Two files of one name that say the same, or two exports that both hold it.
            if self._seen[key] == hash(memory.content):
                return None
            raise InvalidArgument("id", memory.id, "another one than that of an earlier record")
        exported = bool(fields.get("fingerprint"))
        lost = [older for older in memory.supersedes if not self._is_there(older, memory.namespace)]
        if lost and not exported:
            raise InvalidArgument("supersedes", lost[0], "a memory that is there or comes earlier")
        if lost:
            # An export of all about somebody leaves out what is about others; a damaged file has lost some.
            kept = tuple(each for each in memory.supersedes if each not in lost)
            memory = replace(memory, supersedes=kept)
        for older in memory.supersedes:
            newer = self._replaced_by(older, memory.namespace)
            if newer is not None and newer != memory.id:
                raise AlreadySuperseded(older, newer)
        self._seen[key] = hash(memory.content)
        self._newer |= {(memory.namespace, older): memory.id for older in memory.supersedes}
        if memory.superseded_by is not None:
            self._newer[key] = memory.superseded_by
        if said.superseded_at is not None:
            self._superseded[key] = said.superseded_at, memory, said
        return _Draft(memory, said, exported)

    def _write(self, drafts: Sequence[_Draft]) -> None:
        keys = [(each.memory.namespace, each.memory.id) for each in drafts]
        while True:
            known = self._engine.store.known(keys)
            new = [each for key, each in zip(keys, drafts, strict=True) if key not in known]
            try:
                added = len(new) if self._dry_run else self._add(new)
                break
            except InvalidArgument:
                # Somebody else may have taken some of them in meanwhile: the same import, run twice at once.
                if self._engine.store.known(keys) == known:
                    raise
        self.counts.known += len(drafts) - added
        self.counts.imported += added

    def _add(self, new: Sequence[_Draft]) -> int:
        """Write drafts that are new, and return how many still were."""
        hidden: dict[str, list[Hidden]] = {}
        for each in new:
            if some := self._hidden(each):
                hidden.setdefault(each.memory.namespace, []).extend(some)
        memories = [each.memory for each in new]
        if hidden or any(each.exported for each in new):
            return len(self._engine.transfer.import_records(memories, hidden=hidden))
        return len(self._engine.remember_many(memories, verbatim=True))

    def _hidden(self, draft: _Draft) -> list[Hidden]:
        """Return since when a new memory has been forgotten, and those that it supersedes superseded."""
        memory, said = draft.memory, draft.said
        hidden = [] if said.forgotten_at is None else [Hidden(memory.id, said.forgotten_at, None)]
        if memory.superseded_by is not None and said.superseded_at is not None:
            hidden.append(Hidden(memory.id, None, said.superseded_at, said.end_given, said.repeat))
        for older in memory.supersedes:
            told = self._superseded.get((memory.namespace, older))
            if told is None:
                continue
            ended, before, elsewhere = told
            given = elsewhere.end_given
            if given is None or before.valid_to is None:
                given = before.valid_to is None or before.valid_to == ended_by(before, memory.event_time)
            # One that was between them may have been purged since.
            if given or elsewhere.repeat is not None or ended != memory.created_at:
                hidden.append(Hidden(older, None, ended, given, elsewhere.repeat))
        return hidden

    def _repeats(self, winner: object, fields: Mapping[str, Any]) -> bool:
        """Return whether what supersedes a memory is older than it, as with one that was said again.

        That may have been superseded since, but not by this memory, nor by what that supersedes.
        """
        namespace = fields.get("namespace", self._engine.namespace)
        if not isinstance(winner, str) or not isinstance(namespace, str):
            return False
        if not self._is_there(winner, namespace):
            return False
        given = fields.get("supersedes", ())
        own = (fields.get("id"), *(given if isinstance(given, list | tuple) else ()))
        way = {each for each in own if isinstance(each, str)}
        at: str | None = winner
        while at is not None:
            if at in way:
                return False
            way.add(at)
            at = self._replaced_by(at, namespace)
        return True

    def _replaced_by(self, id_: str, namespace: str) -> str | None:
        """Return what has taken the place of a memory, here or among what comes in."""
        if (namespace, id_) in self._newer:
            return self._newer[namespace, id_]
        if not self._engine.store.known([(namespace, id_)]):
            return None
        return self._engine.get(id_, namespace=namespace).superseded_by

    def _is_there(self, id_: str, namespace: str) -> bool:
        return (namespace, id_) in self._seen or bool(self._engine.store.known([(namespace, id_)]))
