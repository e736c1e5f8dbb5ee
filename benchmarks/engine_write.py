"""How fast memories are written: in batches with their vectors given, and one durable write at a time."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.engine_data import FixedVectors, Floats, batches
from benchmarks.engine_report import Figure
from benchmarks.engine_store import Built
from benchmarks.latency import asked, milliseconds
from memorata.engine import open as open_engine

_RATE = 8_000
_SHARE = 0.8
_WRITES = 1_000


class _Write(NamedTuple):
    text: str
    vector: Floats


def batch_figure(made: Built) -> Figure:
    """Return how many memories a second were written when the database was made."""
    wanted = made.size >= 10_000
    return Figure(
        "remember in batches of 1,000, vectors given",
        made.size,
        f"{made.rate:,.0f}/s, {made.megabytes * 1e3 / made.size:.1f} kB each on the disk",
        f"≥ {_RATE:,}/s" if wanted else "",
        made.rate >= _RATE if wanted else None,
    )


def durable_figures(work: Path, made: Built) -> Iterator[Figure]:
    """Yield single writes, each on the disk when it returns, against one bare insert per transaction.

    Both go on from a database of the same memories. The bare one has one table of texts and vectors, and the
    same journal and synchronisation. It looks for nothing; so what a write costs without the look for what
    was said before, in other words and at all, is told beside it.
    """
    path = Path(shutil.copyfile(made.path, work / "durable.db"))
    bare = sqlite3.connect(work / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE memories (number INTEGER PRIMARY KEY, text TEXT, vector BLOB)")
    add = "INSERT INTO memories (text, vector) VALUES (?, ?)"
    everything = [
        _Write(*write)
        for batch in batches(made.size + 2 * _WRITES)
        for write in zip(batch.texts, batch.vectors, strict=True)
    ]
    old, all_new = everything[: made.size], everything[made.size :]
    new, without = all_new[:_WRITES], all_new[_WRITES:]
    bare.execute("BEGIN")
    bare.executemany(add, [(write.text, write.vector.tobytes()) for write in old])
    bare.execute("COMMIT")
    embedder = FixedVectors()
    embedder.give([write.text for write in all_new], np.stack([write.vector for write in all_new]))
    with open_engine(path, embedder=embedder) as engine:
        runs: dict[str, Callable[[_Write], object]] = {
            "ours": lambda write: engine.remember(write.text),
            "bare": lambda write: bare.execute(add, (write.text, write.vector.tobytes())),
        }
        asked(runs, new[:20])
        times = asked(runs, new[20:])
        half = len(without) // 2
        exact = asked(
            runs | {"ours": lambda write: engine.remember(write.text, duplicates="exact")}, without[:half]
        )
        off = asked(
            runs | {"ours": lambda write: engine.remember(write.text, duplicates="off")}, without[half:]
        )
    bare.close()
    ours, theirs = times["ours"], times["bare"]
    total = sum(theirs.wall) / sum(ours.wall)
    yield Figure(
        "single durable writes against bare SQLite",
        made.size,
        f"{total:.2f}× the rate ({len(ours.wall) / sum(ours.wall):,.0f}/s against "
        f"{len(theirs.wall) / sum(theirs.wall):,.0f}/s)",
        f"≥ {_SHARE}×",
        total >= _SHARE,
    )
    yield Figure(
        "… medians and 99th percentiles",
        made.size,
        f"{milliseconds(ours.median)}, {milliseconds(ours.p99)} against {milliseconds(theirs.median)}, "
        f"{milliseconds(theirs.p99)}; processor {milliseconds(ours.processor_median)} against "
        f"{milliseconds(theirs.processor_median)}",
    )
    for words, found in (("looking for the same words alone", exact), ("looking for nothing", off)):
        share = sum(found["bare"].wall) / sum(found["ours"].wall)
        yield Figure(
            f"… {words}",
            made.size,
            f"{share:.2f}× the rate; medians {milliseconds(found['ours'].median)} against "
            f"{milliseconds(found['bare'].median)}; processor {milliseconds(found['ours'].processor_median)} "
            f"against {milliseconds(found['bare'].processor_median)}",
        )
