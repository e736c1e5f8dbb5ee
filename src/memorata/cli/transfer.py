"""Transfer: import, export and copy of memories; namespaces, which are linked, moved, split and purged."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import UNSOUND, Session
from memorata.cli.options import new_file, one_of
from memorata.cli.output import counted, dumps, memories, progress
from memorata.model.errors import InvalidArgument, MemorataError, NotGiven
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
        past = engine.transfer.imports.list()
        if verb == _LIST:
            lines = [f"{run.id}\t{run.at:%Y-%m-%d %H:%M}\t{run.memories}\t{run.source}" for run in past]
            output.result({"imports": past}, *lines)
            return
        undone = engine.transfer.imports.undo(ids[0], purge=purge, dry_run=dry_run)
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
        copied = engine.transfer.copy(store, progress=lambda count: output.say(f"{count} memories compared"))
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


Linked = Annotated[str, Argument(metavar="LINKED", help="The namespace that is seen from this one.")]
Moved = Annotated[str, Argument(metavar="NAMESPACE", help="The namespace to move.")]
To = Annotated[str, Argument(metavar="TO", help="Where to.")]


def namespaces(session: Session) -> None:
    """List the namespaces and how many memories each holds."""
    output = session.output
    with session.memory() as engine:
        counts = engine.store.namespaces()
    lines = [
        f"{count:>9,}  {name}" if output.terminal else f"{name}\t{count}" for name, count in counts.items()
    ]
    total = f"{counted(len(counts), 'namespace')} · {session.settings.db}"
    output.result({"namespaces": dict(counts)}, *lines, notes=[total])


def purge_namespace(
    session: Session,
    namespace_path: str = Argument(metavar="NAMESPACE", help="A namespace; those below it stay."),
    yes: options.Yes = False,
) -> None:
    """Remove a namespace for good: memories, names, relations, logs, its own name. This cannot be undone."""
    with session.memory() as engine:
        count = engine.store.namespaces().get(namespace_path)
        if count is None:
            raise InvalidArgument("NAMESPACE", namespace_path, "one that there is (memorata namespaces)")
        question = f"Remove the namespace {namespace_path} and its {memories(count)}?"
        if not session.confirm(question, yes=yes):
            return
        removed = engine.admin.purge_namespace(namespace_path)
    session.output.result(
        {"namespace": namespace_path, "memories": removed},
        f"Removed {namespace_path} and its {memories(removed)}.",
    )


def link(session: Session, linked: Linked, filter: options.Filter = None) -> None:
    """Let this namespace inherit from another: recall --inherit sees it."""
    with session.memory(create=True) as engine:
        link_ = engine.namespaces.link(linked, filter=filter)
        text = f"{engine.namespace} sees {link_.namespace} where it is asked with --inherit."
    session.output.result({"namespace": link_.namespace, "filter": link_.filter}, text)


def unlink(session: Session, linked: Linked) -> None:
    """Take a link back."""
    with session.memory() as engine:
        engine.namespaces.unlink(linked)
    session.output.result({"unlinked": linked}, f"{linked} is no longer linked.")


def links(session: Session) -> None:
    """List what this namespace is linked to."""
    with session.memory() as engine:
        linked = engine.namespaces.links()
    rows = [{"namespace": link.namespace, "filter": link.filter} for link in linked]
    session.output.result({"links": rows}, *(link.namespace for link in linked))
    if not linked:
        session.output.say("It is linked to none.")


def move(
    session: Session,
    namespace_path: Moved,
    to: To,
    alone: bool = Option(False, help="Leave what is below it where it is."),
) -> None:
    """Give a namespace another path, with everything in it and below it, all or nothing."""
    with session.memory() as engine:
        moved = engine.namespaces.move(namespace_path, to, below=not alone)
    session.output.result({"moved": moved}, *(f"{old} → {new}" for old, new in moved.items()))


def split(session: Session, to: To, filter: options.Filter = None, dry_run: options.DryRun = False) -> None:
    """Move the memories that meet --filter from this namespace into another, all or nothing."""
    if filter is None:
        raise NotGiven("--filter", "to tell which memories go")
    with session.memory() as engine:
        moved = engine.namespaces.split(filter, to, dry_run=dry_run)
    key, verb = ("would_move", "Would move") if dry_run else ("moved", "Moved")
    session.output.changed(key, moved, verb)
