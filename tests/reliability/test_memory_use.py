"""Recalls without end, each with new words, take no more memory than the first of them."""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

import memorata

MEGABYTE = 1_000_000
SCRIPT = """
import sys, memorata
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon")) * 1_024
with memorata.open(sys.argv[1], embedder="builtin") as memory:
    memory.remember_many([f"note {number} of box {number % 50} about tea" for number in range(500)])
    for number in range(50_000):
        memory.recall(f"where is box {number % 50} of the note that is called {number}x{number}?")
        if number == 10_000:
            warm = resident()
print(resident() - warm)
"""


@pytest.mark.untraced
def test_new_words_in_queries_leave_memory_as_it_is(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder=None) as memory:
        memory.remember_many([f"box {number} has tea" for number in range(50)])

        def ask(start: int, end: int) -> int:
            for number in range(start, end):
                memory.recall(" ".join(f"tea{number}x{word}" for word in range(100)))
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            warm = ask(0, 90)
            assert ask(90, 180) - warm < 3 * MEGABYTE
        finally:
            tracemalloc.stop()


@pytest.mark.long
@pytest.mark.skipif(not os.environ.get("MEMORATA_ATTACK"), reason="takes minutes: make attack")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_50_000_distinct_queries_leave_the_resident_memory_flat(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "m.db")],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 10 * MEGABYTE
