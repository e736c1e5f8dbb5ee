"""Maintenance and the purge of a namespace, killed again and again: the file is sound, the next run ends."""

import os
import random
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.profile import chosen

import memorata

SCRIPT = Path(__file__).with_name("killed_keeper.py")
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
KILLS = chosen(4, 10)
WORDS = ("tea", "kettle", "knee", "marathon", "queue", "jobs", "cello", "lesson", "ferry", "harbour")


def opened(path: Path) -> memorata.Engine:
    return memorata.open(path, embedder="lexical", clock=lambda: NOW, config={"duplicates": "off"})


def filled(path: Path, namespace: str) -> None:
    dice = random.Random(5)
    items = []
    for number in range(600):
        tier = ("working", "episodic", "semantic")[number % 3]
        items.append(
            {
                "id": f"m{number}",
                "content": f"{' '.join(dice.choices(WORDS, k=5))} zebra{number}",
                "tier": tier,
                "created_at": NOW - timedelta(days=300),
                "access_count": number % 7,
                "importance": (number % 10) / 10,
            }
        )
    with opened(path) as memory:
        memory.remember_many(items, namespace=namespace)


def killed(path: Path, verb: str, namespace: str, after: float) -> bool:
    """Run a verb in a process of its own, kill it after some seconds, and return whether it had ended."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    arguments = [sys.executable, str(SCRIPT), str(path), verb, namespace]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, env=environment) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begin\n"
        time.sleep(after)
        child.kill()
        return "end" in child.stdout.read()


def settled(memory: memorata.Engine) -> None:
    """Keep in order until there is nothing left to do: a memory rises one tier a run."""
    while any((report := memory.admin.lifecycle.maintain()).promoted + report.demoted) or report.expired:
        pass


def state(memory: memorata.Engine) -> dict[str, tuple[str, bool]]:
    """Return the tier of each memory that was filled in, and whether it can be seen."""
    shown = {each.id for each in memory.list(limit=2_000).memories}
    found = memory.list(limit=2_000, hidden=True).memories
    return {each.id: (each.tier.value, each.id in shown) for each in found if each.category != "summary"}


@pytest.mark.long
def test_upkeep_killed_again_and_again_ends_where_one_run_does(tmp_path: Path) -> None:
    for name in ("once.db", "often.db"):
        filled(tmp_path / name, "default")
    with opened(tmp_path / "once.db") as memory:
        started = time.perf_counter()
        settled(memory)
        expected, whole = state(memory), time.perf_counter() - started
    dice = random.Random(7)
    ended = 0
    for _ in range(KILLS):
        ended += killed(tmp_path / "often.db", "maintain", "default", dice.uniform(0, whole / 2))
        with opened(tmp_path / "often.db") as memory:
            assert memory.admin.check() == []
    assert ended < KILLS, "otherwise nothing was interrupted"
    with opened(tmp_path / "often.db") as memory:
        settled(memory)
        assert state(memory) == expected
        assert memory.admin.check() == []


@pytest.mark.long
def test_the_purge_of_a_namespace_killed_again_and_again_is_done_or_not_at_all(tmp_path: Path) -> None:
    path, dice, interrupted = tmp_path / "m.db", random.Random(3), 0
    filled(path, "zoo")
    with opened(path) as memory:
        memory.remember("Anna stays.", id="stays")
        started = time.perf_counter()
        memory.admin.namespaces.purge("zoo")
        whole = time.perf_counter() - started
    for _ in range(KILLS):
        with opened(path) as memory:
            there = "zoo" in memory.store.namespaces()
        if not there:
            filled(path, "zoo")
        interrupted += not killed(path, "purge", "zoo", dice.uniform(0, whole))
        with opened(path) as memory:
            assert memory.admin.check() == []
            assert memory.store.namespaces().get("zoo") in (None, 600)
            assert [each.id for each in memory.list().memories] == ["stays"]
    assert interrupted, "otherwise nothing was killed"
    with opened(path) as memory:
        if "zoo" in memory.store.namespaces():
            memory.admin.namespaces.purge("zoo")
        memory.store.vacuum()
        assert memory.store.namespaces() == {"default": 1}
    assert b"zebra" not in b"".join(each.read_bytes() for each in tmp_path.iterdir())
