"""Kills an import at random moments, again and again, and looks at what is left; run by test_import_kill.py.

What is imported is an export in which many memories are forgotten, superseded or merged. After every kill the
file is sound, and whatever has come in is as hidden as it should be: nothing that was forgotten can be seen.
The import that is run in the end adds the rest, and the export of the copy is that of the original.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import memorata
from memorata.cli.app import app
from memorata.service.record_writer import DeclarationWriter, RecordWriter
from memorata_graph import Graph

COUNT = 1_000


def original(path: Path) -> None:
    with memorata.open(path, embedder="lexical", config={"durable": False}) as memory:
        memory.remember_many({"id": f"m{number}", "content": f"thought {number}"} for number in range(COUNT))
        memory.forget(*(f"m{number}" for number in range(0, COUNT, 3)))
        memory.remember_many(
            {"id": f"n{number}", "content": f"second thought {number}", "supersedes": (f"m{number}",)}
            for number in range(1, COUNT, 7)
        )
        for number in range(40):
            Graph(memory).entities.describe(f"Person {number}", type="person", description=f"number {number}")
            Graph(memory).entities.describe(f"Nickname {number}", aliases=[f"Nick {number}"])
            Graph(memory).entities.merge(f"Person {number}", f"Nickname {number}")
            Graph(memory).entities.relate(
                f"Person {number}", "thought", f"Thing {number}", memory=f"m{number}"
            )


def command(db: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "memorata", "--db", str(db), "--embedder", "lexical", *arguments]


def exported(db: Path) -> list[str]:
    ran = subprocess.run(command(db, "export"), check=True, capture_output=True, text=True)
    return sorted(ran.stdout.splitlines())


def child(copy: Path, file: Path, pipe: int) -> None:
    """Import as the command does, and tell of every chunk and every entity before it is written."""
    add, write = RecordWriter._add, DeclarationWriter.write

    def told_add(self: RecordWriter, new: Sequence[Any]) -> int:
        # Of what is known already there is nothing to write.
        os.write(pipe, b"m" if new else b"")
        return add(self, new)

    def told_write(self: DeclarationWriter, declared: Any, namespace: str = "") -> bool:
        os.write(pipe, b"e")
        return write(self, declared, namespace)

    RecordWriter._add = told_add  # type: ignore[method-assign]
    DeclarationWriter.write = told_write  # type: ignore[method-assign]
    app(["--db", str(copy), "--embedder", "lexical", "--quiet", "import", str(file)])


def one_run(copy: Path, file: Path, step: bytes, count: int, delay: float) -> None:
    """Run a child, and kill it some time after it has told of that many steps."""
    receiving, sending = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(receiving)
        try:
            child(copy, file, sending)
        except SystemExit:
            # It was faster than this process, which kills it all the same.
            os.close(sending)
            signal.pause()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(sending)
    said = b""
    while said.count(step) < count and (part := os.read(receiving, 1 << 16)):
        said += part
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    os.close(receiving)
    assert os.WIFSIGNALED(status), f"the import ended by itself, after {said!r}"


def is_as_it_should_be(copy: Path, wanted: dict[str, dict[str, object]], people: set[str]) -> int:
    """Check what has come in so far, and return how many memories that is."""
    with memorata.open(copy, embedder="lexical") as memory:
        assert memory.admin.check() == []
        hidden = {each.memory_id: each for each in memory.store.hidden("default")}
        there = {each.id: each for each in memory.store.export(None)}
        for id_, said in there.items():
            since = hidden.get(id_)
            forgotten = (
                None if since is None or since.forgotten_at is None else since.forgotten_at.isoformat()
            )
            assert forgotten == wanted[id_]["forgotten_at"], (id_, forgotten)
            if said.superseded_by is not None:
                assert said.superseded_by == wanted[id_]["superseded_by"]
                assert since is not None
                assert since.superseded_at is not None
                assert since.superseded_at.isoformat() == wanted[id_]["superseded_at"]
        for record in memory.store.entities.list("default"):
            if record.entity.name in people:
                # Whoever is described is merged, too: one without the other would never be made up for.
                described = record.entity.aliases != ()
                assert described == (record.merged_into is not None), record
    return len(there)


def main(folder: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    source, copy, file = folder / "original.db", folder / "copy.db", folder / "all.jsonl"
    original(source)
    before = exported(source)
    subprocess.run(command(source, "export", str(file)), check=True, capture_output=True)
    rows = [json.loads(line) for line in before]
    wanted = {row["id"]: row for row in rows if "kind" not in row}
    people = {row["name"] for row in rows if row.get("merged_into")}
    counts = []
    for number in range(kills):
        # Four kills while memories come in, the others while entities do, each run a little further on.
        step, count = (b"m", 2) if number < 4 else (b"e", 20 * (number - 3))
        one_run(copy, file, step, count, dice.random() * 0.03)
        counts.append(is_as_it_should_be(copy, wanted, people))
    subprocess.run(command(copy, "import", str(file)), check=True, capture_output=True)
    assert exported(copy) == before
    with memorata.open(copy, embedder="lexical") as memory:
        assert memory.admin.check() == []
    sys.stdout.write(json.dumps({"kills": kills, "counts": counts}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
