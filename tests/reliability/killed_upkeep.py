"""Kills long work on a whole file in its middle, and looks at what is left; run by test_upkeep_kill.py.

The work runs in a fork of this process, so nothing is lost to the start of Python. The kill comes after the
work was seen to have begun (a file in the folder has changed), after a random part of the time that it takes.
Meanwhile this process writes to the same file where others may. After each kill the file is sound and has
everything that was acknowledged; work that is begun again and again ends as if there had been no kill.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import memorata
from memorata.embed import LexicalEmbedder
from memorata.engine.factory import open_store
from memorata.store.sqlite.encryption import convert

OLD, NEW = LexicalEmbedder(dimension=32), LexicalEmbedder(dimension=48)
KEY = "correct horse battery staple"
MEMORIES = 1_500
PURGED = 300
THINGS = ("tea", "milk", "garden", "letter", "train")
TRACE = b"zebra"

Contents = dict[str, str]


def reembed(folder: Path) -> None:
    with memorata.open(folder / "work.db", embedder=NEW) as memory:
        memory.admin.reembed(batch=64)


def copy(folder: Path) -> None:
    with (
        memorata.open(folder / "work.db", embedder=OLD) as memory,
        closing(open_store(folder / "new.db")) as new,
    ):
        assert not memory.admin.transfer.copy(new).differing


def encrypt(folder: Path) -> None:
    convert(folder / "work.db", folder / "new.db", KEY, encrypt=True)


def decrypt(folder: Path) -> None:
    convert(folder / "secret.db", folder / "new.db", KEY, encrypt=False)


def vacuum(folder: Path) -> None:
    with memorata.open(folder / "work.db", embedder=None) as memory:
        memory.store.vacuum()


def purge(folder: Path) -> None:
    with memorata.open(folder / "work.db", embedder=None) as memory:
        if "m0" in {record.id for record in memory.store.export(None)}:
            memory.purge(*(f"m{number}" for number in range(PURGED)))
        else:
            # The kill came while its bytes were erased.
            memory.store.vacuum()


def contents(path: Path, key: str | None = None) -> Contents:
    """Return the text of every memory of a sound file, by its id; each can be recalled."""
    with memorata.open(path, embedder=OLD, config={"encryption_key": key}) as memory:
        assert memory.admin.check() == [], memory.admin.check()
        found = {record.id: record.content for record in memory.store.export(None)}
        for id_ in random.Random(len(found)).sample(sorted(found), min(2, len(found))):
            hits = memory.recall(found[id_], limit=3, min_confidence=0).hits
            assert id_ in [hit.id for hit in hits], found[id_]
        return found


def no_trace(folder: Path) -> bool:
    return not any(TRACE in file.read_bytes() for file in folder.iterdir())


@dataclass
class Verb:
    """Long work, what must hold after it was killed, and after it ended."""

    run: Callable[[Path], None]
    killed: Callable[[Path, Contents], None]
    ended: Callable[[Path, Contents], None]
    shared: bool = True
    """Whether others may write meanwhile."""


@dataclass
class Counts:
    """What came of the rounds: kills inside the work, runs that ended first, writes beside it."""

    inside: int = 0
    ended: int = 0
    written: int = 0
    parts: list[float] = field(default_factory=list)


def same(folder: Path, expected: Contents) -> None:
    assert contents(folder / "work.db") == expected


def reembedded(folder: Path, expected: Contents) -> None:
    same(folder, expected)
    with memorata.open(folder / "work.db", embedder=NEW) as memory:
        if len(expected) > MEMORIES:
            # What was written by the old embedder meanwhile waits.
            memory.admin.reembed()
        assert memory.store.count_waiting() == 0
        assert not memory.store.other_vectors()
        assert memory.admin.check() == []


def partly_copied(folder: Path, expected: Contents) -> None:
    same(folder, expected)
    if (folder / "new.db").exists():
        assert contents(folder / "new.db").items() <= expected.items()


def copied(folder: Path, expected: Contents) -> None:
    assert contents(folder / "new.db") == expected


def not_there(folder: Path, expected: Contents) -> None:
    """The file that was to appear is whole, or is not there."""
    same(folder, expected)
    new = folder / "new.db"
    if new.exists():
        assert contents(new, None if new.read_bytes().startswith(b"SQLite format 3") else KEY) == expected
        new.unlink()


def encrypted(folder: Path, expected: Contents) -> None:
    assert contents(folder / "new.db", KEY) == expected
    # What kills left behind is removed by the next run.
    assert not list(folder.glob("*.partial*"))


def decrypted(folder: Path, expected: Contents) -> None:
    assert contents(folder / "new.db") == expected
    assert not list(folder.glob("*.partial*"))


def partly_purged(folder: Path, expected: Contents) -> None:
    found = contents(folder / "work.db")
    gone = {f"m{number}" for number in range(PURGED)}
    assert found in (expected, {id_: text for id_, text in expected.items() if id_ not in gone})


def purged(folder: Path, expected: Contents) -> None:
    partly_purged(folder, expected)
    with memorata.open(folder / "work.db", embedder=None) as memory:
        assert "m0" not in {record.id for record in memory.store.export(None)}
    assert no_trace(folder)


VERBS = {
    "reembed": Verb(reembed, same, reembedded),
    "copy": Verb(copy, partly_copied, copied, shared=False),
    "encrypt": Verb(encrypt, not_there, encrypted, shared=False),
    "decrypt": Verb(decrypt, not_there, decrypted, shared=False),
    "vacuum": Verb(vacuum, same, same),
    "purge": Verb(purge, partly_purged, purged),
}


def state(folder: Path) -> dict[str, tuple[int, int]]:
    found = {}
    for file in folder.iterdir():
        try:
            found[file.name] = (file.stat().st_size, file.stat().st_mtime_ns)
        except FileNotFoundError:
            continue
    return found


def fork(verb: Verb, folder: Path) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        verb.run(folder)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def begun(verb: Verb, folder: Path) -> int:
    """Start the work, and return its process when it has changed a file that is not empty, or has ended."""
    before = state(folder)
    process = fork(verb, folder)
    while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        now = state(folder)
        if any(now[name] != before.get(name) for name in now if now[name][0] and not name.endswith("-shm")):
            break
        time.sleep(0.0005)
    return process


def time_of(verb: Verb, folder: Path) -> float:
    """Return how long the work takes from there to its end."""
    process, began = begun(verb, folder), time.monotonic()
    assert os.waitpid(process, 0)[1] == 0
    return time.monotonic() - began


def written(path: Path, process: int, number: Iterator[int]) -> Contents:
    """Write memories until the process is gone; return those that were acknowledged."""
    acknowledged = {}
    with memorata.open(path, embedder=OLD) as memory:
        while os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            stored = memory.remember(f"meanwhile {next(number)} a {THINGS[0]}")
            acknowledged[stored.id] = stored.content
            time.sleep(0.005)
    return acknowledged


def fill(folder: Path) -> None:
    with memorata.open(folder / "full.db", embedder=OLD, config={"durable": False}) as memory:
        memory.remember_many(
            [
                {"id": f"m{number}", "content": f"zebra {number} about {THINGS[number % 5]}"}
                for number in range(PURGED)
            ]
        )
        memory.remember_many(
            [
                {"id": f"m{number}", "content": f"thought {number} about {THINGS[number % 5]}"}
                for number in range(PURGED, MEMORIES)
            ]
        )
    convert(folder / "full.db", folder / "full.secret", KEY, encrypt=True)


def fresh(folder: Path) -> Contents:
    """Begin anew: the file with everything in it, and nothing beside it."""
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    shutil.copy(folder / "full.db", work / "work.db")
    shutil.copy(folder / "full.secret", work / "secret.db")
    return contents(work / "work.db")


def main(folder: Path, name: str, kills: int, seed: int) -> None:
    verb, dice, counts, work = VERBS[name], random.Random(seed), Counts(), folder / "work"
    if not (folder / "full.secret").exists():
        fill(folder)
    expected = fresh(folder)
    whole = time_of(verb, work)
    verb.ended(work, expected)
    expected = fresh(folder)
    numbers = iter(range(1_000_000))
    while counts.inside < kills:
        process = begun(verb, work)
        began = time.monotonic()
        delay = dice.uniform(0, whole)
        timer = threading.Timer(delay, os.kill, (process, signal.SIGKILL))
        timer.start()
        if verb.shared:
            acknowledged = written(work / "work.db", process, numbers)
            expected |= acknowledged
            counts.written += len(acknowledged)
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        timer.cancel()
        timer.join()
        _, status = os.waitpid(process, 0)
        if os.WIFSIGNALED(status):
            counts.inside += 1
            counts.parts.append(round(delay / whole, 2))
            verb.killed(work, expected)
            continue
        assert os.waitstatus_to_exitcode(status) == 0
        counts.ended += 1
        whole = min(whole, time.monotonic() - began)
        verb.ended(work, expected)
        expected = fresh(folder)
    process = fork(verb, work)
    assert os.waitpid(process, 0)[1] == 0, "it could not be ended after a kill"
    verb.ended(work, expected)
    sys.stdout.write(json.dumps(vars(counts)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
