"""What a fresh process does for the engine's benchmark; its last line is the result as JSON.

``python -m benchmarks.engine_child cold DATABASE QUESTIONS`` opens, answers one question and says how long
each step took. With ``resident`` it answers them all and says how much memory that left it with.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

began = time.perf_counter()

import numpy as np  # noqa: E402 - the clock starts first

from benchmarks.engine_store import opened  # noqa: E402

imported = time.perf_counter()


def cold(database: Path, questions: Path) -> dict[str, float]:
    """Open and answer one question."""
    with np.load(questions) as given:
        text, vector = str(given["texts"][0]), given["vectors"][0]
    start = time.perf_counter()
    engine = opened(database)
    ready = time.perf_counter()
    hits = engine.recall(text, limit=10, vector=vector).hits
    done = time.perf_counter()
    return {
        "importing": imported - began,
        "opening": ready - start,
        "recall": done - ready,
        "hits": len(hits),
    }


def resident(database: Path, questions: Path) -> dict[str, float]:
    """Answer all questions, and return the memory the process has then, in megabytes."""
    before = _memory()
    with np.load(questions) as given:
        texts, vectors = given["texts"].tolist(), given["vectors"]
    engine = opened(database)
    for text, vector in zip(texts, vectors, strict=True):
        engine.recall(text, limit=10, vector=vector)
    now = _memory()
    return {"before": before["VmRSS"], "now": now["VmRSS"], "mapped": now["RssFile"], "peak": now["VmHWM"]}


def _memory() -> dict[str, float]:
    """Return the kernel's figures about this process, in megabytes; zeros where there is no such file."""
    # Not getrusage's largest resident size: a child begins with its parent's.
    figures = {"VmRSS": 0.0, "RssFile": 0.0, "VmHWM": 0.0}
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        name, _, value = line.partition(":")
        if name in figures:
            figures[name] = int(value.split()[0]) / 1e3
    return figures


if __name__ == "__main__":
    print(json.dumps({"cold": cold, "resident": resident}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))))
    sys.stdout.flush()
