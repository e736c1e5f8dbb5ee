"""A file that is replaced or removed while it is open: nothing is acknowledged and lost, nothing is mixed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memorata
from memorata.model.errors import StoreReplaced, StoreUnavailable

PROCESSES = 6


def opened(path: Path) -> memorata.Engine:
    return memorata.open(path, embedder="lexical")


def contents(path: Path) -> list[str]:
    """Return what another process finds in the file, after a whole check."""
    code = (
        "import sys, memorata\n"
        "with memorata.open(sys.argv[1], embedder='lexical') as memory:\n"
        "    assert memory.admin.check() == [], memory.admin.check()\n"
        "    print(*sorted(found.content for found in memory.list(limit=1000).memories), sep='\\n')"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[memorata.Engine, Path, Path]]:
    """A memory in use, its file, and a backup of its first ten memories; twenty more are in its log."""
    path, backup = tmp_path / "live.db", tmp_path / "backup.db"
    memory = opened(path)
    memory.remember_many([f"Fact {n:03} is about the colour {n * 7}" for n in range(10)])
    memory.admin.backup(backup)
    for n in range(10, 30):
        memory.remember(f"Fact {n:03} is about the town {n * 11}")
    yield memory, path, backup
    memory.close()


FIRST = [f"Fact {n:03} is about the colour {n * 7}" for n in range(10)]


@pytest.mark.parametrize("how", ["replaced", "removed"])
def test_every_write_and_every_read_says_so_and_the_backup_stays_whole(
    live: tuple[memorata.Engine, Path, Path], how: str
) -> None:
    memory, path, backup = live
    assert memory.recall("Which town is fact 020 about?").hits
    if how == "removed":
        path.unlink()
    else:
        os.replace(backup, path)
    for n in range(50):
        with pytest.raises(StoreReplaced, match=rf"live\.db was {how}.*`backup`.*docs/backup"):
            memory.remember(f"Written too late, number {n}")
    with pytest.raises(StoreReplaced):
        memory.recall("Which town is fact 020 about?")
    with pytest.raises(StoreReplaced):
        memory.admin.vacuum()
    if how == "removed":
        os.replace(backup, path)
    assert contents(path) == FIRST
    memory.close()
    assert contents(path) == FIRST
    with opened(path) as again:
        again.remember("Written after the restoration")
    assert contents(path) == [*FIRST, "Written after the restoration"]


def test_the_log_of_the_file_before_is_kept_for_that_file(
    live: tuple[memorata.Engine, Path, Path], tmp_path: Path
) -> None:
    memory, path, backup = live
    path.rename(tmp_path / "before.db")
    os.replace(backup, path)
    assert contents(path) == FIRST
    memory.close()
    (log,) = tmp_path.glob("live.db.replaced-*-wal")
    log.rename(tmp_path / "before.db-wal")
    assert len(contents(tmp_path / "before.db")) == 30


def test_a_file_that_is_moved_back_is_the_one_that_was_open(
    live: tuple[memorata.Engine, Path, Path], tmp_path: Path
) -> None:
    memory, path, _ = live
    path.rename(tmp_path / "elsewhere.db")
    with pytest.raises(StoreReplaced):
        memory.remember("Not while it is elsewhere")
    (tmp_path / "elsewhere.db").rename(path)
    memory.remember("Back in its place")
    memory.close()
    assert len(contents(path)) == 31


def test_what_was_removed_can_still_be_copied(live: tuple[memorata.Engine, Path, Path]) -> None:
    memory, path, _ = live
    path.unlink()
    memory.admin.backup(path)
    memory.close()
    assert len(contents(path)) == 30


def test_a_new_file_in_the_place_of_a_removed_one_is_empty(
    live: tuple[memorata.Engine, Path, Path],
) -> None:
    memory, path, _ = live
    path.unlink()
    with opened(path) as anew:
        assert anew.list().memories == ()
        anew.remember("The first of a new file")
        with pytest.raises(StoreReplaced):
            memory.remember("Into the old one")
    assert contents(path) == ["The first of a new file"]
    memory.close()
    assert contents(path) == ["The first of a new file"]


def test_a_backup_copied_over_the_file_of_a_crashed_process_is_whole(
    live: tuple[memorata.Engine, Path, Path], tmp_path: Path
) -> None:
    _, path, backup = live
    crashed = tmp_path / "crashed.db"
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{crashed}{suffix}")
    shutil.copy(backup, crashed)
    with pytest.raises(StoreUnavailable, match="log of another file"):
        memorata.open(crashed, embedder="lexical", read_only=True)
    assert contents(crashed) == FIRST


def test_many_processes_may_open_a_restored_backup_at_once(
    live: tuple[memorata.Engine, Path, Path],
) -> None:
    _, path, backup = live
    os.replace(backup, path)
    code = (
        "import sys, memorata\n"
        "with memorata.open(sys.argv[1], embedder='lexical') as memory:\n"
        "    for n in range(5):\n"
        "        memory.remember(f'Said by {sys.argv[2]}: remark {n} of its own')"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(PROCESSES)]
    assert [writer.wait(120) for writer in writers] == [0] * PROCESSES
    assert len(contents(path)) == 10 + 5 * PROCESSES
