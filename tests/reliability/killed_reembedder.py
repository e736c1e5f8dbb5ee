"""Kills a process that re-embeds a store, ten times, and looks at what is left; run by test_reembed_kill.py.

A child says on a pipe how far it is; the parent lets it get a little further than the one before and kills it
with SIGKILL, at times in the middle of a batch and at the end while old vectors are removed. After every kill
the file is sound, answers by both embedders, and has no vector that a fresh store would not have.
"""

import json
import os
import random
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import cast

import memorata
from memorata.embed import LexicalEmbedder
from memorata.engine import admin as reembedding
from memorata.index import segments
from memorata.store.dialects import SqliteStore
from memorata.store.memory import memories as writing

OLD, NEW = LexicalEmbedder(dimension=32), LexicalEmbedder(dimension=48)
COUNT = 1_500
BATCH = 20
KILLS = 10
THINGS = ("tea", "milk", "garden", "letter", "train")
TEXTS = [f"thought {number} about {THINGS[number % 5]}" for number in range(COUNT)]


def vectors(path: Path) -> dict[str, dict[tuple[str, int], str]]:
    """Return every vector of a file: by embedder, and then by namespace and slot."""
    with memorata.open(path, embedder=None) as memory:
        rows = (
            cast("SqliteStore", memory.store)
            ._connection.execute(
                "SELECT e.name, n.path, v.slot, hex(v.vectors) FROM vectors v "
                "JOIN embedders e ON e.number = v.embedder JOIN namespaces n ON n.number = v.namespace"
            )
            .fetchall()
        )
    found: dict[str, dict[tuple[str, int], str]] = {OLD.name: {}, NEW.name: {}}
    for name, namespace, slot, blob in rows:
        found[name][namespace, slot] = blob
    return found


def codes(path: Path) -> list[tuple[str, int, int, str]]:
    """Return the codes of every run of slots, and whose they are."""
    with memorata.open(path, embedder=None) as memory:
        return (
            cast("SqliteStore", memory.store)
            ._connection.execute(
                "SELECT e.name, c.first, c.slots, hex(c.codes) FROM vector_codes c "
                "LEFT JOIN embedders e ON e.number = c.embedder ORDER BY c.namespace, c.first"
            )
            .fetchall()
        )


def filled(path: Path, embedder: LexicalEmbedder) -> Path:
    with memorata.open(path, embedder=embedder, config={"durable": False}) as memory:
        memory.remember_many(TEXTS[: COUNT - 100])
        memory.remember_many(TEXTS[COUNT - 100 :], namespace="acme")
    return path


def child(path: Path, pipe: int) -> None:
    with memorata.open(path, embedder=NEW) as memory:
        drop = memory.store.drop_vectors

        def told(limit: int) -> int:
            dropped = drop(limit)
            os.write(pipe, b"d")
            return dropped

        def embedded(done: int, total: int) -> None:
            os.write(pipe, b"b")

        memory.store.drop_vectors = told  # type: ignore[method-assign]
        memory.admin.reembed(batch=BATCH, progress=embedded)
        os.write(pipe, b".")
        # The end must not come before the kill.
        time.sleep(60)


def one_run(path: Path, step: bytes, count: int, delay: float) -> tuple[str, bool]:
    """Run a child, kill it some time after it has told of that many steps; return what it told."""
    receiving, sending = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(receiving)
        code = 1
        try:
            child(path, sending)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(sending)
    said = b""
    while said.count(step) < count and (part := os.read(receiving, 1 << 16)):
        said += part
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    while select.select([receiving], [], [], 0)[0] and (part := os.read(receiving, 1 << 16)):
        said += part
    os.close(receiving)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return said.decode(), os.WIFSIGNALED(status)


def main(folder: Path, seed: int) -> None:
    for module in (writing, segments):
        vars(module)["TAIL"] = 64
    reembedding._VECTORS_PER_DROP = 200  # type: ignore[misc]
    dice = random.Random(seed)
    fresh = vectors(filled(folder / "fresh.db", NEW))[NEW.name]
    path = filled(folder / "killed.db", OLD)
    before = vectors(path)[OLD.name]
    kills, done = 0, []
    while kills < KILLS:
        # Six kills while it embeds, and then while it removes what is old.
        step, count = (b"b", COUNT // BATCH // 7) if kills < 6 else (b"d", 1)
        said, killed = one_run(path, step, count, dice.random() * 0.01)
        assert killed, said
        kills += 1
        found = vectors(path)
        done.append((len(found[NEW.name]), len(found[OLD.name])))
        assert found[NEW.name].items() <= fresh.items(), "a vector that is no other's"
        assert found[OLD.name].items() <= before.items()
        assert len(found[OLD.name]) == COUNT or len(found[NEW.name]) == COUNT, "old vectors went too early"
        for embedder in (NEW, OLD):
            with memorata.open(path, embedder=embedder) as memory:
                assert memory.admin.check() == [], memory.admin.check()
                number = dice.randrange(COUNT - 100)
                assert memory.recall(TEXTS[number], limit=1).hits[0].memory.content == TEXTS[number]
    with memorata.open(path, embedder=NEW) as memory:
        memory.admin.reembed(batch=BATCH)
        assert memory.admin.check() == []
        assert memory.recall(TEXTS[7]).degraded == ()
    found = vectors(path)
    assert found[NEW.name] == fresh
    assert found[OLD.name] == {}
    assert codes(path) == codes(folder / "fresh.db")
    sys.stdout.write(json.dumps({"kills": kills, "done": done}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
