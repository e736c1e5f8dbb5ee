"""Takes the records of files into a memory, a chunk at a time, each in one transaction.

A chunk that was exported from a memory comes in together with what is hidden of it, so that whenever an
import is cut off, everything that is there is as it should be, and the same import run again adds the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from recollect.cli.importing_entities import EntityImporter
from recollect.exchange.record import Record, is_declaration

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.model.memory import Memory
    from recollect.store.port import Hidden

_CHUNK: Final = 200
"""Memories per transaction: few enough that the progress moves, enough that batches are fast."""
_READ: Final = ("entities", "valid_from", "valid_to", "metadata")
"""What reading a text for names and days can fill in."""


@dataclass(slots=True)
class Tally:
    """What came of an import."""

    imported: int = 0
    declared: Counter[str] = field(default_factory=Counter)
    known: int = 0
    skipped: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A memory on its way in: what it says, since when it was hidden, and whether it was exported by us."""

    memory: Memory
    since: Hidden
    exported: bool


class Importer:
    """Takes records into a memory, a chunk at a time.

    Parameters
    ----------
    engine
        The memory.
    tally
        Where to count what comes of it.
    namespace
        Where everything goes; None for where each record says.
    dry_run
        Whether to write nothing.
    """

    def __init__(self, engine: Engine, tally: Tally, namespace: str | None, *, dry_run: bool) -> None:
        self._engine = engine
        self._tally = tally
        self._namespace = namespace
        self._dry_run = dry_run
        self._seen: set[tuple[str, str]] = set()
        self._newer: dict[tuple[str, str], str] = {}
        self._superseded: dict[tuple[str, str], datetime] = {}
        self._entities = EntityImporter(engine, namespace, self._is_there, dry_run=dry_run)

    def take(self, name: str, records: Iterator[Record]) -> Iterator[int]:
        """Import the records of one file, and yield the line of it that has been reached.

        What cannot be read is written down, and the rest goes on.
        """
        from recollect.model.errors import RecollectError

        while chunk := list(islice(records, _CHUNK)):
            drafts: list[_Draft] = []
            # Relations need the memories that assert them, so these are written first.
            for declared in (False, True):
                for record in chunk:
                    if record.skipped or is_declaration(record.fields) != declared:
                        continue
                    try:
                        if declared:
                            self._declare(record)
                        else:
                            drafts.append(self._draft(record))
                    except RecollectError as error:
                        self._note(self._tally.problems, name, record, problem=str(error))
                if not declared:
                    self._write(drafts)
            for record in chunk:
                if record.skipped:
                    self._note(self._tally.skipped, name, record, reason=record.skipped)
            yield chunk[-1].line

    def _note(self, notes: list[dict[str, Any]], name: str, record: Record, **said: str) -> None:
        notes.append({"file": name, "line": record.line, "where": record.place, **said})

    def _declare(self, record: Record) -> None:
        if self._entities.take(record.fields):
            self._tally.declared[record.fields["kind"]] += 1
        else:
            self._tally.known += 1

    def _draft(self, record: Record) -> _Draft:
        """Return the memory of a record and since when it has been hidden, or raise."""
        from recollect.cli.memory_json import HIDDEN, from_json, hidden_from_json
        from recollect.model.errors import InvalidArgument, RecollectError

        if record.problem:
            raise RecollectError(record.problem)
        given = dict(record.fields)
        hidden = {name: given.pop(name, None) for name in HIDDEN}
        fields = from_json(given)
        if self._namespace is not None:
            fields["namespace"] = self._namespace
        if (winner := fields.pop("superseded_by", None)) is not None:
            if isinstance(fields.get("version"), int):
                # The store marks it again, and counts that as a change, when what supersedes it comes in.
                fields["version"] = max(1, fields["version"] - 1)
            if self._repeats(winner, fields.get("namespace", self._engine.namespace)):
                fields["superseded_by"] = winner
        memory = self._engine.draft(**fields)
        # What was exported had been read already, whatever was found in it, and comes back as it was.
        read = {name: fields[name] for name in _READ if name in fields}
        memory = replace(memory, **read)
        if not _is_unicode(memory.content):
            raise InvalidArgument("content", memory.content, "text without lone surrogates")
        key = (memory.namespace, memory.id)
        if key in self._seen:
            raise InvalidArgument("id", memory.id, "another one than that of an earlier record")
        for older in memory.supersedes:
            if not self._is_there(older, memory.namespace):
                raise InvalidArgument("supersedes", older, "a memory that is there or comes earlier")
            newer = self._replaced_by(older, memory.namespace)
            if newer not in (None, memory.id):
                raise InvalidArgument("supersedes", older, f"current, but {newer!r} has taken its place")
        since = hidden_from_json(hidden, memory.id)
        self._seen.add(key)
        self._newer |= {(memory.namespace, older): memory.id for older in memory.supersedes}
        if since.superseded_at is not None:
            self._superseded[key] = since.superseded_at
        return _Draft(memory, since, bool(fields.get("fingerprint")))

    def _write(self, drafts: list[_Draft]) -> None:
        known = self._engine.store.known([(each.memory.namespace, each.memory.id) for each in drafts])
        new = [each for each in drafts if (each.memory.namespace, each.memory.id) not in known]
        self._tally.known += len(drafts) - len(new)
        if not self._dry_run:
            self._add(new)
        self._tally.imported += len(new)

    def _add(self, new: list[_Draft]) -> None:
        hidden: dict[str, list[Hidden]] = {}
        for each in new:
            if some := self._hidden(each):
                hidden.setdefault(each.memory.namespace, []).extend(some)
        memories = [each.memory for each in new]
        if hidden or any(each.exported for each in new):
            self._engine.take_over(memories, hidden=hidden)
        else:
            self._engine.remember_many(memories, verbatim=True)

    def _hidden(self, draft: _Draft) -> list[Hidden]:
        """Return since when a new memory has been forgotten, and those that it supersedes superseded."""
        from recollect.store.port import Hidden

        memory, forgotten = draft.memory, draft.since.forgotten_at
        hidden = [] if forgotten is None else [Hidden(memory.id, forgotten, None)]
        if memory.superseded_by is not None and draft.since.superseded_at is not None:
            hidden.append(Hidden(memory.id, None, draft.since.superseded_at))
        for older in memory.supersedes:
            ended = self._superseded.pop((memory.namespace, older), memory.created_at)
            # One that was between them may have been purged since.
            if ended != memory.created_at:
                hidden.append(Hidden(older, None, ended))
        return hidden

    def _repeats(self, winner: object, namespace: object) -> bool:
        """Return whether what supersedes a memory is older than it, as with one that was said again."""
        if not isinstance(winner, str) or not isinstance(namespace, str):
            return False
        return self._is_there(winner, namespace) and self._replaced_by(winner, namespace) is None

    def _replaced_by(self, id_: str, namespace: str) -> str | None:
        """Return what has taken the place of a memory, here or among what comes in."""
        if (namespace, id_) in self._newer:
            return self._newer[namespace, id_]
        if not self._engine.store.known([(namespace, id_)]):
            return None
        return self._engine.get(id_, namespace=namespace).superseded_by

    def _is_there(self, id_: str, namespace: str) -> bool:
        return (namespace, id_) in self._seen or bool(self._engine.store.known([(namespace, id_)]))


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
