"""Bring memories in from files; running it twice adds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from memorata.cli.arguments import chosen
from memorata.cli.command import command
from memorata.cli.failures import USAGE
from memorata.cli.output import Output, counted
from memorata.cli.session import Session
from memorata.service.formats import FORMATS, SPLITS, read
from memorata.service.formats.record import Notes

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.service.record_writer import ImportCounts

_SHOWN: Final = 20

Files = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Files or folders to read; - is standard input.")
]
Format = Annotated[
    str | None, typer.Option("--format", help=f"{', '.join(FORMATS)}; otherwise told by what is in it.")
]
Split = Annotated[str, typer.Option("--split", help="Plain text: one memory per paragraphs or lines.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen and write nothing.")]


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
    """Remember what files and folders say, those of other programs too. Again, it adds only what is new."""
    from memorata.model.errors import MemorataError
    from memorata.service.importer import Importer, sources

    if format is not None:
        chosen("--format", format, FORMATS)
    chosen("--split", split, SPLITS)
    notes = Notes()
    found = [source for name in files for source in sources(name, format, notes)]
    with _memory(session, dry_run=dry_run) as engine, _progress(session.output) as advance:
        importer = Importer(engine, session.given.namespace, dry_run=dry_run, notes=notes)
        try:
            for source in found:
                reading = read(source.data, source.format, name=source.label, link=source.link, split=split)
                for line in importer.add_file(source.name, reading.records):
                    advance(source.label, line, reading.total)
        except (KeyboardInterrupt, MemorataError):
            # A full disk, say: what was written before that is there.
            session.output.say(
                f"{importer.counts.imported:,} imported so far; run the same again to go on.", ""
            )
            raise
    _report(session, importer.counts, notes, len(found), dry_run=dry_run)
    if notes.problems:
        session.leave(USAGE)


@contextmanager
def _memory(session: Session, *, dry_run: bool) -> Iterator[Engine]:
    """Open the memory; for a dry run, what is there and nothing else."""
    if dry_run and not session.settings.db.exists():
        from memorata.engine import open as open_engine

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


def _report(session: Session, taken: ImportCounts, notes: Notes, files: int, *, dry_run: bool) -> None:
    output = session.output
    if output.json:
        output.data(
            {
                **asdict(taken),
                "skipped": notes.skipped,
                "problems": notes.problems,
                "files": files,
                "dry_run": dry_run,
            }
        )
        return
    for problem in notes.problems[:_SHOWN]:
        output.fail(f"{problem['file']}, {problem['where']}: {problem['problem']}")
    if len(notes.problems) > _SHOWN:
        output.fail(f"… and {len(notes.problems) - _SHOWN:,} more; --json lists them all")
    said = [f"{'would import' if dry_run else 'imported'} {counted(taken.imported, 'memory', 'memories')}"]
    if taken.entities:
        said.append(counted(taken.entities, "entity", "entities"))
    if taken.relations:
        said.append(counted(taken.relations, "relation", "relations"))
    if taken.known:
        said.append(f"{taken.known:,} known already")
    if notes.skipped:
        said.append(f"{len(notes.skipped):,} skipped")
    if notes.problems:
        said.append(f"{len(notes.problems):,} could not be read")
    output.line(", ".join(said))
    for reason, count in Counter(each["reason"] for each in notes.skipped).most_common():
        output.say(f"skipped {count:,}: {reason}")
    if not any((*asdict(taken).values(), notes.skipped, notes.problems)):
        output.say(
            "There was nothing to remember in it." if files == 1 else "There was nothing to remember.", ""
        )
    output.say(f"from {counted(files, 'file')} · {session.settings.db}")
