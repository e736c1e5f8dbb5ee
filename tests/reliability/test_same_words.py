"""Of several processes that say the same at the same time, one is first and the others repeat it."""

import os
import subprocess
import sys
from pathlib import Path

import memorata

PROCESSES, TEXTS = 4, 20


def test_one_is_first_and_the_others_repeat_it(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("same_words.py")), str(tmp_path), str(PROCESSES)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    with memorata.open(tmp_path / "same.db", embedder="lexical") as memory:
        current = memory.list(limit=1_000).memories
        assert len(current) == TEXTS
        # Every other text was said twice by each of them.
        assert sorted(each.mentions for each in current) == [PROCESSES] * 10 + [2 * PROCESSES] * 10
        for each in current:
            chain = memory.history(each.id)
            assert len(chain) == each.mentions
            assert {older.superseded_by for older in chain[:-1]} == {each.id}
            assert len(memory.admin.duplicates.repeats(each.id)) == each.mentions - 1
        assert memory.admin.check() == []
