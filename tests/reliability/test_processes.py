import json
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.profile import chosen

import memorata

SECONDS = chosen(4, 15, 60)


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)],
        capture_output=True,
        text=True,
        # A process that has started threads should not fork.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=600,
    )


@pytest.mark.long
def test_two_writers_and_four_readers_at_once(tmp_path: Path) -> None:
    ran = run("crowd.py", tmp_path, SECONDS)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    result = json.loads(ran.stdout)
    assert result["problems"] == []
    assert result["memories"] == result["expected"]
    updates = sum(writer["updates"] for writer in result["written"])
    assert result["counted"] == result["versions"] == updates
    # Otherwise nobody stood in anybody's way, and no segment was written.
    assert all(writer["batches"] > 20 for writer in result["written"])
    assert sum(reader["looks"] for reader in result["looked"]) > 50
    assert all(max(reader["seen"]) > 3 for reader in result["looked"])


def test_many_processes_may_make_the_same_file_at_once(tmp_path: Path) -> None:
    ran = run("makers.py", tmp_path, chosen(4, 12))
    assert ran.returncode == 0, ran.stderr


@pytest.mark.untraced
def test_threads_share_an_engine(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical", config={"durable": False}) as memory:
        memory.remember_many([f"tea number {n}" for n in range(300)])
        expected = [hit.memory.content for hit in memory.recall("tea number 7", limit=5)]
        assert expected[0] == "tea number 7"
        failures: list[BaseException] = []
        explained = []
        stop = threading.Event()

        def ask() -> None:
            try:
                while not stop.is_set():
                    answer = memory.recall("tea number 7", limit=5)
                    assert answer.hits[0].memory.content == "tea number 7"
                    # Explanations are made lazily, while others write.
                    explained.append([hit.explanation.value == hit.score for hit in answer])
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        try:
            for number in range(12):
                written = memory.remember_many([f"coffee {number} {n}" for n in range(20)])
                memory.forget(written[0].id)
                memory.purge(written[1].id)
                memory.correct(written[2].id, f"decaf {number}")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert failures == []
        assert explained
        assert all(all(each) for each in explained)
        assert memory.admin.check() == []
        assert memory.store.statistics()["memories"] == 300 + 12 * 20


def test_a_look_inside_a_look_sees_the_same(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical") as memory:
        memory.remember("tea")
        store, now = memory.store, datetime.now(UTC)
        with store.view("default", now) as outer:
            with memorata.open(tmp_path / "m.db", embedder="lexical") as other:
                other.remember("more tea")
            with store.view("default", now) as inner:
                assert (outer.status.count, inner.status.count) == (1, 1)
            assert len(memory.list().memories) == 1
        with store.view("default", now) as later:
            assert later.status.count == 2
