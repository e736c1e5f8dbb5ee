"""Two writers and four readers at once on one file, each a process; run by test_processes.py.

Writers add batches and count up the same memories by optimistic updates. Readers look again and again: a
batch is there whole or not at all, in every leg, and what was seen once is there ever after.
"""

import json
import os
import random
import sys
import time
import traceback
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import memorata
from memorata.index.lexical import LexicalQuery
from memorata.model.errors import VersionConflict
from memorata.store.filters import parse

WRITERS, READERS, COUNTERS = 2, 4, 5


def mark(writer: int, number: int) -> str:
    """Return the word of a batch."""
    return "zq" + "".join("bcdfghjklm"[int(digit)] for digit in f"{writer}{number}") + "x"


def size(writer: int, number: int) -> int:
    """Return how many memories a batch has: mostly few, now and then enough for a segment."""
    return 300 if number % 20 == 19 else 1 + (number * 7 + writer) % 13


def write(path: Path, writer: int, seconds: float) -> dict[str, Any]:
    engine = memorata.open(path, embedder="lexical")
    dice = random.Random(writer)
    updates, conflicts, number, end = 0, 0, 0, time.monotonic() + seconds
    # On a busy machine it takes longer to write as much as the readers have to see, and a segment.
    while time.monotonic() < end or number <= 20:
        word = mark(writer, number)
        batch = [{"content": f"{word} zqallx part {n}", "metadata": {"batch": word}} for n in
                 range(size(writer, number))]  # fmt: skip
        engine.remember_many(batch)
        number += 1
        for _ in range(3):
            counter = engine.get(f"counter{dice.randrange(COUNTERS)}")
            following = replace(counter, metadata={"count": counter.metadata["count"] + 1})
            try:
                engine.store.update(following, counter.version)
                updates += 1
            except VersionConflict:
                conflicts += 1
    engine.close()
    return {"batches": number, "updates": updates, "conflicts": conflicts}


def read(path: Path, reader: int, seconds: float) -> dict[str, Any]:
    engine = memorata.open(path, embedder="lexical")
    embedder = engine.embedder
    assert embedder is not None
    dice = random.Random(reader)
    seen = [0] * WRITERS
    looks, end, most = 0, time.monotonic() + seconds, 0
    while time.monotonic() < end or looks < 20 or max(seen) <= 3:
        writer = dice.randrange(WRITERS)
        number = dice.randrange(seen[writer] + 3)
        word, whole = mark(writer, number), size(writer, number)
        chosen = parse({"metadata.batch": word})
        with engine.store.view("default", datetime.now(UTC), filter=chosen) as view:
            listed = view.status.count
            by_words = view.search(LexicalQuery({word: 1.0}, {"content": 1.0}), 1_000).slots
            by_meaning = view.search(embedder.embed_query(f"{word} zqallx"), 1_000).slots
            memories = view.memories(by_words)
            count, frequencies = view.document_frequencies(["zqallx", word])
        assert listed in (0, whole), (word, listed, whole)
        assert len(by_words) == len(by_meaning) == listed, (word, len(by_words), len(by_meaning), listed)
        assert np.array_equal(np.sort(by_words), np.sort(by_meaning))
        assert {memory.metadata["batch"] for memory in memories} <= {word}
        assert frequencies[word] == listed
        assert frequencies["zqallx"] == count - COUNTERS, (frequencies, count)
        assert count >= most, "a memory that was there is gone"
        assert listed or number >= seen[writer], f"batch {word} was there and is gone"
        if listed:
            seen[writer] = max(seen[writer], number + 1)
        most = count
        looks += 1
        hits = engine.recall(word, limit=1_000, recipe={"base": "bm25", "deduplicate": False})
        assert not hits.degraded
    engine.close()
    return {"looks": looks, "seen": seen}


def apart(work: Any, path: Path, number: int, seconds: float) -> int:
    """Return a pipe on which a process of its own will say what came of its work."""
    receiving, sending = os.pipe()
    if os.fork() == 0:
        code = 1
        try:
            os.write(sending, json.dumps(work(path, number, seconds)).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(sending)
    return receiving


def told(pipe: int) -> Any:
    with os.fdopen(pipe) as stream:
        return json.loads(stream.read() or "null")


def main(folder: Path, seconds: float) -> None:
    # It is on time and not on work done that they stop: other tests need not wait for them meanwhile.
    os.nice(10)
    path = folder / "crowd.db"
    with memorata.open(path, embedder="lexical") as engine:
        engine.remember_many(
            [
                {"id": f"counter{n}", "content": f"counter {n}", "metadata": {"count": 0}}
                for n in range(COUNTERS)
            ]
        )
    writers = [apart(write, path, number, seconds) for number in range(WRITERS)]
    readers = [apart(read, path, number, seconds) for number in range(READERS)]
    written, looked = [told(pipe) for pipe in writers], [told(pipe) for pipe in readers]
    assert all(written), written
    assert all(looked), looked
    with memorata.open(path, embedder="lexical") as engine:
        memories = list(engine.store.export(None))
        problems = engine.admin.check()
        counters = [engine.get(f"counter{n}") for n in range(COUNTERS)]
    expected = sum(size(writer, n) for writer, one in enumerate(written) for n in range(one["batches"]))
    result = {
        "written": written,
        "looked": looked,
        "memories": len(memories) - COUNTERS,
        "expected": expected,
        "problems": problems,
        "counted": sum(counter.metadata["count"] for counter in counters),
        "versions": sum(counter.version - 1 for counter in counters),
    }
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
