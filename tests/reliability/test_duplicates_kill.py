"""A run over duplicates that is killed again and again: the file is sound, and the run can be undone."""

import os
import subprocess
import sys
from pathlib import Path

import memorata

GROUPS, KILLS = 12, 5


def test_a_run_survives_being_killed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="lexical", config={"duplicates": "off"}) as memory:
        memory.remember_many([f"tea number {number % GROUPS}" for number in range(3 * GROUPS)])
        before = {each.id: each.superseded_by for each in memory.store.export(None)}
    command = [sys.executable, str(Path(__file__).with_name("killed_run.py")), str(path)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    for _ in range(KILLS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.kill()
        with memorata.open(path, embedder="lexical") as memory:
            assert memory.admin.check() == []
            (run,) = memory.admin.duplicates.runs()
            assert (run.finished_at, run.repeats % 2) == (None, 0)
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=300)
    with memorata.open(path, embedder="lexical") as memory:
        (run,) = memory.admin.duplicates.runs()
        assert run.finished_at is not None
        assert run.repeats == 2 * GROUPS
        assert len(memory.list(limit=100).memories) == GROUPS
        assert len(memory.admin.duplicates.undo().reinstated) == 2 * GROUPS
        assert {each.id: each.superseded_by for each in memory.store.export(None)} == before
        assert memory.admin.check() == []
