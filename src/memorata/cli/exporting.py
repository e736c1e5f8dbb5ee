"""Write every memory, entity and relation out as JSONL, a format that `import` reads back exactly."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from memorata.cli.arguments import file_to_write
from memorata.cli.command import command
from memorata.cli.failures import STORE
from memorata.cli.output import counted, written
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine import Engine

File = Annotated[str, typer.Argument(metavar="[FILE]", help="Where to write; - is standard output.")]
All = Annotated[bool, typer.Option("--all-namespaces", help="Every namespace, not only this one.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "export", "Files")(export)


def export(session: Session, file: File = "-", all_namespaces: All = False, force: Force = False) -> None:
    """Write memories, entities and relations as JSONL, forgotten and superseded ones too."""
    from memorata.cli.memory_json import as_json, hidden_as_json

    output = session.output
    with session.memory() as engine, target_of(file, force=force) as target:
        paths = sorted(engine.store.namespaces()) if all_namespaces else [engine.namespace]
        hidden = {(path, each.memory_id): each for path in paths for each in engine.store.hidden(path)}
        count, damaged = 0, list[str]()
        only = None if all_namespaces else engine.namespace
        for memory in engine.store.export(only, lambda error: damaged.append(str(error))):
            row = as_json(memory) | hidden_as_json(hidden.get((memory.namespace, memory.id)))
            target.write(written(row, target) + "\n")
            count += 1
        declared = {"entities": 0, "relations": 0}
        for path in paths:
            for kind, row in _declarations(engine, path):
                target.write(written(row, target) + "\n")
                declared[kind] += 1
        others = len(engine.store.namespaces().keys() - {engine.namespace})
    if file != "-" and output.json:
        output.data({"exported": count, **declared, "damaged": damaged, "file": file})
    else:
        singular = {"entities": "entity", "relations": "relation"}
        also = "".join(
            f", {counted(number, singular[kind], kind)}" for kind, number in declared.items() if number
        )
        where = "" if file == "-" else f" written to {file}"
        output.say(f"{counted(count, 'memory', 'memories')}{also}{where} · {session.settings.db}")
    if others and not all_namespaces:
        output.say(f"{counted(others, 'other namespace')} left out; --all-namespaces takes all")
    for said in damaged:
        output.fail(f"left out: {said}")
    if damaged:
        session.leave(STORE)


def _declarations(engine: Engine, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what was said about the entities of a namespace, and then their relations, ended ones too."""
    from memorata.cli.entity_json import entity_as_json, relation_as_json

    for record in engine.store.entities(path):
        yield "entities", entity_as_json(record, path)
    for relation in engine.store.relations(path):
        yield "relations", relation_as_json(relation, path)


@contextmanager
def target_of(name: str, *, force: bool) -> Iterator[TextIO]:
    """Open what to write to; a file comes into being whole or not at all.

    What is no file, such as a pipe or a device, is written into and stays what it is.
    """
    import tempfile

    from memorata.model.errors import InvalidArgument

    if name == "-":
        yield sys.stdout
        return
    path = file_to_write(name, force=force)
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
