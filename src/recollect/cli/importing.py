"""Bring memories in from files; running it twice adds nothing."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from recollect.cli.arguments import chosen
from recollect.cli.command import command
from recollect.cli.failures import USAGE
from recollect.cli.importing_entities import EntityImporter
from recollect.cli.output import Output, counted
from recollect.cli.reading import FORMATS, SPLITS, SUFFIXES, Record, format_of, is_declaration, read
from recollect.cli.session import Session

if TYPE_CHECKING:
    from recollect.engine import Engine
    from recollect.model.memory import Memory
    from recollect.store.port import Hidden

_CHUNK: Final = 200
"""Memories per transaction: few enough that the progress moves, enough that batches are fast."""
_SHOWN: Final = 20
_READ: Final = ("entities", "valid_from", "valid_to", "metadata")
"""What reading a text for names and days can fill in."""

Files = Annotated[list[str], typer.Argument(metavar="FILE", help="Files to read; - is standard input.")]
Format = Annotated[str | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; otherwise by suffix.")]
Split = Annotated[str, typer.Option("--split", help="Plain text: one memory per paragraphs or lines.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen and write nothing.")]


@dataclass(slots=True)
class Tally:
    """What came of an import."""

    imported: int = 0
    declared: Counter[str] = field(default_factory=Counter)
    known: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "import", "Files")(import_)


def import_(
    session: Session,
    files: Files,
    format: Format = None,
    split: Split = "paragraphs",
    dry_run: DryRun = False,
) -> None:
    """Remember what files say: plain text, Markdown or JSONL. Running it again adds only what is new."""
    if format is not None:
        chosen("--format", format, FORMATS)
    chosen("--split", split, SPLITS)
    sources = [(_form(name, format), name, _bytes(name)) for name in files]
    tally = Tally()
    with _memory(session, dry_run=dry_run) as engine, _progress(session.output) as advance:
        importer = _Importer(engine, tally, session.given.namespace, dry_run=dry_run)
        try:
            for form, name, data in sources:
                label = "stdin" if name == "-" else Path(name).name
                records = read(data, form, name=label, link="" if name == "-" else name, split=split)
                lines = data.count(b"\n") + 1
                for line in importer.take(name, records):
                    advance(label, line, lines)
        except KeyboardInterrupt:
            session.output.say(f"{tally.imported:,} imported so far; run the same again to go on.", "")
            raise
    _report(session, tally, len(files), dry_run=dry_run)
    if tally.problems:
        session.leave(USAGE)


class _Importer:
    """Takes records into a memory, a chunk at a time."""

    def __init__(self, engine: Engine, tally: Tally, namespace: str | None, *, dry_run: bool) -> None:
        self._engine = engine
        self._tally = tally
        self._namespace = namespace
        self._dry_run = dry_run
        self._seen: set[tuple[str, str]] = set()
        self._superseded: dict[tuple[str, str], datetime] = {}
        self._entities = EntityImporter(engine, namespace, self._is_there, dry_run=dry_run)

    def take(self, name: str, records: Iterator[Record]) -> Iterator[int]:
        """Import the records of one file, and yield the line of it that has been reached.

        What cannot be read is written down, and the rest goes on.
        """
        from recollect.model.errors import RecollectError

        while chunk := list(islice(records, _CHUNK)):
            drafts: list[tuple[Memory, Hidden]] = []
            # Relations need the memories that assert them, so these are written first.
            for declared in (False, True):
                for record in chunk:
                    if is_declaration(record.fields) != declared:
                        continue
                    try:
                        if declared:
                            self._declare(record)
                        else:
                            drafts.append(self._draft(record))
                    except RecollectError as error:
                        problem = {"file": name, "line": record.line, "problem": str(error)}
                        self._tally.problems.append(problem)
                if not declared:
                    self._write(drafts)
            yield chunk[-1].line

    def _declare(self, record: Record) -> None:
        if self._entities.take(record.fields):
            self._tally.declared[record.fields["kind"]] += 1
        else:
            self._tally.known += 1

    def _draft(self, record: Record) -> tuple[Memory, Hidden]:
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
        if fields.pop("superseded_by", None) is not None and isinstance(fields.get("version"), int):
            # The store marks it again, and counts that as a change, when what supersedes it comes in.
            fields["version"] = max(1, fields["version"] - 1)
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
        since = hidden_from_json(hidden, memory.id)
        self._seen.add(key)
        if since.superseded_at is not None:
            self._superseded[key] = since.superseded_at
        return memory, since

    def _write(self, drafts: list[tuple[Memory, Hidden]]) -> None:
        new = [(memory, since) for memory, since in drafts if not self._known(memory.id, memory.namespace)]
        self._tally.known += len(drafts) - len(new)
        if not self._dry_run:
            self._engine.remember_many([memory for memory, _ in new], verbatim=True)
            for memory, since in new:
                self._hide(memory, since)
        self._tally.imported += len(new)

    def _hide(self, memory: Memory, since: Hidden) -> None:
        """Say since when a memory just written has been forgotten, and those it supersedes superseded."""
        from recollect.store.port import Hidden

        hidden = [] if since.forgotten_at is None else [Hidden(memory.id, since.forgotten_at, None)]
        for older in memory.supersedes:
            ended = self._superseded.pop((memory.namespace, older), memory.created_at)
            # One that was between them may have been purged since.
            if ended != memory.created_at:
                hidden.append(Hidden(older, None, ended))
        if hidden:
            self._engine.store.hide(memory.namespace, hidden)

    def _is_there(self, id_: str, namespace: str) -> bool:
        return (namespace, id_) in self._seen or self._known(id_, namespace)

    def _known(self, id_: str, namespace: str) -> bool:
        from recollect.model.errors import MemoryNotFound

        try:
            self._engine.get(id_, namespace=namespace)
        except MemoryNotFound:
            return False
        return True


def _form(name: str, given: str | None) -> str:
    from recollect.model.errors import InvalidArgument

    form = given or ("text" if name == "-" else format_of(Path(name).suffix))
    if form is None:
        known = ", ".join(SUFFIXES)
        raise InvalidArgument("FILE", name, f"one whose suffix is known ({known}), or --format given")
    return form


def _bytes(name: str) -> bytes:
    from recollect.model.errors import InvalidArgument

    if name == "-":
        return sys.stdin.buffer.read()
    path = Path(name)
    if path.is_dir():
        raise InvalidArgument(
            "FILE", name, f"a file, but it is a folder; name the files, such as {path}/*.md"
        )
    if not path.exists():
        raise InvalidArgument("FILE", name, "a file that exists")
    return path.read_bytes()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def _memory(session: Session, *, dry_run: bool) -> Iterator[Engine]:
    """Open the memory; for a dry run, what is there and nothing else."""
    if dry_run and not session.settings.db.exists():
        from recollect.engine import open as open_engine

        with open_engine(":memory:", embedder=None, namespace=session.settings.namespace) as engine:
            yield engine
    else:
        with session.memory(create=not dry_run, embed=not dry_run) as engine:
            yield engine


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[str, int, int], None]]:
    """Give a function that shows how far a file is, on standard error and only to people."""
    from rich.progress import Progress, TextColumn, TimeRemainingColumn

    shown = output.errors.is_terminal and not output.quiet and not output.json
    columns = (
        *Progress.get_default_columns()[:3],
        TextColumn("{task.completed:,.0f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=output.errors, transient=True, disable=not shown) as progress:
        tasks: dict[str, Any] = {}

        def advance(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = progress.add_task(label, total=total)
            progress.update(tasks[label], completed=done, total=total)

        yield advance


def _report(session: Session, tally: Tally, files: int, *, dry_run: bool) -> None:
    output = session.output
    if output.json:
        output.data(
            {
                "imported": tally.imported,
                "entities": tally.declared["entity"],
                "relations": tally.declared["relation"],
                "known": tally.known,
                "problems": tally.problems,
                "files": files,
                "dry_run": dry_run,
            }
        )
        return
    for problem in tally.problems[:_SHOWN]:
        output.fail(f"{problem['file']}, line {problem['line']}: {problem['problem']}")
    if len(tally.problems) > _SHOWN:
        output.fail(f"… and {len(tally.problems) - _SHOWN:,} more; --json lists them all")
    said = [f"{'would import' if dry_run else 'imported'} {counted(tally.imported, 'memory', 'memories')}"]
    for kind, plural in (("entity", "entities"), ("relation", "relations")):
        if tally.declared[kind]:
            said.append(counted(tally.declared[kind], kind, plural))
    if tally.known:
        said.append(f"{tally.known:,} known already")
    if tally.problems:
        said.append(f"{len(tally.problems):,} could not be read")
    output.line(", ".join(said))
    output.say(f"from {counted(files, 'file')} · {session.settings.db}")
