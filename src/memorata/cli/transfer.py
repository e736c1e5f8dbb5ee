"""Transfer: import, export and copy of memories."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import UNSOUND, Session
from memorata.cli.options import new_file, one_of
from memorata.cli.output import counted, dumps, memories, progress
from memorata.model.errors import InvalidArgument, MemorataError
from memorata.service.errors import STORE, USAGE

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.service.formats.record import Notes
    from memorata.service.transfer import Importer

_MAX_PROBLEMS: Final = 20
_LIST, _UNDO = "list", "undo"


def import_(
    session: Session,
    files: list[str] = Argument(metavar="FILE", help="Files or folders to read; - is standard input."),
    format: str | None = Option(None, help="text, markdown, jsonl, or a satellite's; otherwise detected."),
    split: str = Option("paragraphs", help="Plain text: one memory per paragraphs or lines."),
    dry_run: options.DryRun = False,
    purge: bool = Option(False, help="With undo: remove it for good, not only forget it."),
) -> None:
    """Import files and folders, those of other programs too. Run again, it adds only what is new.

    memorata import list shows what was imported; memorata import undo ID takes one of these out again.
    """
    if files[0] in (_LIST, _UNDO):
        _past(session, files, purge=purge, dry_run=dry_run)
        return
    if purge:
        raise InvalidArgument("--purge", True, "left out, or given to memorata import undo")
    from memorata.service.formats import SPLITS, check_format, read
    from memorata.service.formats.record import Notes
    from memorata.service.transfer import Importer, sources

    if format is not None:
        check_format("--format", format)
    one_of("--split", split, SPLITS)
    notes = Notes()
    opened = [source for name in files for source in sources(name, format, notes)]
    with _memory(session, dry_run=dry_run) as engine, progress(session.output) as advance:
        importer = Importer(
            engine, session.options.namespace, dry_run=dry_run, notes=notes, batch=" ".join(files)
        )
        try:
            for source in opened:
                reading = read(
                    source.data,
                    source.format,
                    name=source.label,
                    link=source.link,
                    split=split,
                    redact=session.settings.redact or session.settings.origin("redact") == "default",
                )
                for line in importer.add_file(source.name, reading.records):
                    advance(source.label, line, reading.total)
        except (KeyboardInterrupt, MemorataError):
            # A full disk, say: earlier chunks are written.
            session.output.say(
                f"{importer.counts.imported:,} imported so far; run the same again to continue.", ""
            )
            raise
    _report(session, importer, notes, len(opened), dry_run=dry_run)
    if notes.problems:
        session.leave(USAGE)


def _past(session: Session, words: list[str], *, purge: bool, dry_run: bool) -> None:
    """List the imports, or undo one."""
    output, (verb, *ids) = session.output, words
    if len(ids) != (verb == _UNDO):
        raise InvalidArgument("FILE", " ".join(words), "import list, or import undo ID; ./undo for a file")
    with session.memory() as engine:
        past = engine.admin.transfer.imports.list()
        if verb == _LIST:
            lines = [f"{run.id}\t{run.at:%Y-%m-%d %H:%M}\t{run.memories}\t{run.source}" for run in past]
            output.result({"imports": past}, *lines)
            return
        undone = engine.admin.transfer.imports.undo(ids[0], purge=purge, dry_run=dry_run)
    undone_ids = [id_ for ids_ in undone.memories.values() for id_ in ids_]
    key, done = ("purged", "Removed") if purge else ("forgotten", "Forgot")
    if dry_run:
        key, done = ("would_purge", "Would remove") if purge else ("would_forget", "Would forget")
    output.changed(key, undone_ids, done)


def export(
    session: Session,
    file: options.OutputFile = "-",
    all_namespaces: options.AllNamespaces = False,
    force: options.Force = False,
) -> None:
    """Write memories, entities and relations as JSONL, forgotten and superseded ones too."""
    from memorata.service.transfer import export_rows

    output = session.output
    with session.memory() as engine, open_target(file, force=force) as target:
        damaged: list[str] = []
        counts = Counter[str]()
        only = None if all_namespaces else engine.namespace
        for row in export_rows(engine, only, lambda error: damaged.append(str(error))):
            target.write(dumps(row, target) + "\n")
            counts["memory" if "content" in row else row["kind"]] += 1
        other_namespaces = len(engine.store.namespaces().keys() - {engine.namespace})
    entities, relations = counts["entity"], counts["relation"]
    if file != "-" and output.json:
        data = {"exported": counts["memory"], "entities": entities, "relations": relations}
        output.data({**data, "damaged": damaged, "file": file})
    else:
        parts = ", ".join([memories(counts["memory"]), *_declared(entities, relations)])
        where = "" if file == "-" else f" written to {file}"
        output.say(f"{parts}{where} · {session.settings.db}")
    if other_namespaces and not all_namespaces:
        output.say(f"{counted(other_namespaces, 'other namespace')} left out; --all-namespaces takes all")
    for problem in damaged:
        output.fail(f"left out: {problem}")
    if damaged:
        session.leave(STORE)


def _declared(entities: int, relations: int) -> list[str]:
    texts = {counted(entities, "entity", "entities"): entities, counted(relations, "relation"): relations}
    return [text for text, count in texts.items() if count]


def copy(
    session: Session,
    origin: str = Argument(metavar="FROM", help="The file or the address to copy from."),
    target: str = Argument(metavar="TO", help="The file or the address to copy to."),
) -> None:
    """Copy every memory, entity and relation into another database, and compare the two.

    The source may be in use. A copy that was interrupted continues where it was when it is started again.
    """
    from memorata.engine.factory import open_store
    from memorata.engine.settings import Settings

    output = session.output
    settings = session.settings
    if origin == target:
        raise InvalidArgument("TO", target, "another database than FROM")
    source = Settings(db=origin, namespace=settings.namespace, embedder=settings.embedder)
    with source.open(must_exist=True) as engine, closing(open_store(Settings(db=target).db)) as store:
        copied = engine.admin.transfer.copy(
            store, progress=lambda count: output.say(f"{count} memories compared")
        )
    state = "the same on both sides" if not copied.differing else f"{len(copied.differing)} differ"
    line = f"{memories(copied.memories)}, {copied.new} new, {copied.changed} changed: {state}"
    output.result(copied, line, notes=(f"differs: {id_}" for id_ in copied.differing[:_MAX_PROBLEMS]))
    if copied.differing:
        session.leave(UNSOUND)


@contextmanager
def open_target(name: str, *, force: bool) -> Iterator[TextIO]:
    """Open a file to write, which appears whole or not at all; ``-`` is standard output.

    A pipe or a device is written into and stays what it is.
    """
    import tempfile

    if name == "-":
        yield sys.stdout
        return
    path = new_file(name, force=force)
    if not path.absolute().parent.is_dir():
        raise InvalidArgument("FILE", name, "in a folder that exists")
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as target:
            yield target
        return
    path = path.resolve()
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.absolute().parent)
    except OSError as error:
        raise InvalidArgument("FILE", name, f"in a folder that can be written ({error.strerror})") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as target:
            yield target
            target.flush()
            os.fsync(target.fileno())
        Path(partial).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(partial).unlink()


@contextmanager
def _memory(session: Session, *, dry_run: bool) -> Iterator[Engine]:
    """Open the memory; for a dry run without a database, an empty one that is thrown away."""
    if dry_run and not session.settings.db.exists():
        from memorata.engine import open as open_engine

        with open_engine(":memory:", embedder=None, namespace=session.settings.namespace) as engine:
            yield engine
    else:
        with session.memory(create=not dry_run, embed=not dry_run) as engine:
            yield engine


def _report(session: Session, importer: Importer, notes: Notes, files: int, *, dry_run: bool) -> None:
    from memorata.service.formats import absent_formats

    output, counts = session.output, importer.counts
    if output.json:
        about = {"skipped": notes.skipped, "problems": notes.problems, "files": files, "dry_run": dry_run}
        output.data({**asdict(counts), **about, "import_id": importer.import_id})
        return
    for problem in notes.problems[:_MAX_PROBLEMS]:
        output.fail(f"{problem['file']}, {problem['where']}: {problem['problem']}")
    if len(notes.problems) > _MAX_PROBLEMS:
        output.fail(f"… and {len(notes.problems) - _MAX_PROBLEMS:,} more; --json lists them all")
    if notes.problems and (absent := absent_formats()):
        output.say(absent, "")
    parts = [f"{'would import' if dry_run else 'imported'} {memories(counts.imported)}"]
    parts += _declared(counts.entities, counts.relations)
    parts += [f"{counts.known:,} known already"] if counts.known else []
    known = " and ".join(_declared(counts.known_entities, counts.known_relations))
    parts += [f"{known} known already"] if known else []
    parts += [f"{len(notes.skipped):,} skipped"] if notes.skipped else []
    parts += [f"{len(notes.problems):,} could not be read"] if notes.problems else []
    output.line(", ".join(parts))
    for reason, count in Counter(skipped["reason"] for skipped in notes.skipped).most_common():
        output.say(f"skipped {count:,}: {reason}")
    if not any((*asdict(counts).values(), notes.skipped, notes.problems)):
        where = " in it" if files == 1 else ""
        output.say(f"There was nothing to remember{where}.", "")
    output.say(f"from {counted(files, 'file')} · {session.settings.db}")
    if importer.import_id:
        output.say(f"memorata import undo {importer.import_id} takes it out again")
