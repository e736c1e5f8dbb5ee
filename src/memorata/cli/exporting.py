"""Write every memory, entity and relation out as JSONL, a format that `import` reads back exactly."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TextIO

import typer

from memorata.cli.arguments import file_to_write
from memorata.cli.command import command
from memorata.cli.failures import STORE
from memorata.cli.output import counted, written
from memorata.cli.session import Session

File = Annotated[str, typer.Argument(metavar="[FILE]", help="Where to write; - is standard output.")]
All = Annotated[bool, typer.Option("--all-namespaces", help="Every namespace, not only this one.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "export", "Files")(export)


def export(session: Session, file: File = "-", all_namespaces: All = False, force: Force = False) -> None:
    """Write memories, entities and relations as JSONL, forgotten and superseded ones too."""
    from memorata.service.export import export_rows

    output = session.output
    with session.memory() as engine, target_of(file, force=force) as target:
        damaged: list[str] = []
        counts = Counter[str]()
        only = None if all_namespaces else engine.namespace
        for row in export_rows(engine, only, lambda error: damaged.append(str(error))):
            target.write(written(row, target) + "\n")
            counts["memory" if "content" in row else row["kind"]] += 1
        count, declared = counts["memory"], {"entities": counts["entity"], "relations": counts["relation"]}
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
