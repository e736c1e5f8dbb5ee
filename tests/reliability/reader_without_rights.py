"""Uses files that may not be written, as a person without the right to; run by test_unwritable.py.

The superuser may write everything, so this process first becomes nobody. It prints, as JSON, what came of
each attempt.
"""

import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import memorata

NOBODY = 65_534


def attempt(action: Callable[[], Any]) -> list[str]:
    try:
        return ["done", str(action())]
    except Exception as error:
        return [type(error).__name__, str(error)]


def main() -> None:
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for each in ("file", "folder"):
            (folder / each).mkdir()
            with memorata.open(folder / each / "m.db", embedder="lexical") as memory:
                memory.remember("I prefer green tea.")
            (folder / each / "m.db").chmod(0o444)
        leave_a_log(folder / "log" / "m.db", shared=True)
        leave_a_log(folder / "alone" / "m.db", shared=False)
        (folder / "file").chmod(0o777)
        (folder / "folder").chmod(0o555)
        before = (folder / "file" / "m.db").read_bytes()
        child = os.fork()
        if child == 0:
            if os.geteuid() == 0:
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            use(folder)
        os.waitpid(child, 0)
        result["unchanged"] = (folder / "file" / "m.db").read_bytes() == before
        result["made"] = sorted(path.name for path in (folder / "folder").iterdir())
        for each in ("file", "folder", "log", "alone"):
            (folder / each).chmod(stat.S_IRWXU)
    sys.stdout.write(json.dumps(result))


def leave_a_log(path: Path, *, shared: bool) -> None:
    """Leave a database as one does who is killed: with a log in which a memory waits.

    And with what those who use it share beside it, or without.
    """
    path.parent.mkdir()
    with memorata.open(path.with_name("live.db"), embedder="lexical") as memory:
        memory.remember("I prefer green tea.")
        for suffix in ("", "-wal", *(["-shm"] if shared else [])):
            shutil.copy(f"{path.with_name('live.db')}{suffix}", f"{path}{suffix}")
            Path(f"{path}{suffix}").chmod(0o444)
    path.with_name("live.db").unlink()
    path.parent.chmod(0o555)


def recalled(path: Path) -> str:
    with memorata.open(path) as memory:
        return str(memory.recall("tea").hits[0].memory.content)


def use(folder: Path) -> None:
    """Try everything, print it, and end the process."""
    result: dict[str, Any] = {}
    try:
        memory = memorata.open(folder / "file" / "m.db", embedder="lexical")
        result["recall"] = attempt(lambda: memory.recall("tea").hits[0].memory.content)
        result["check"] = attempt(memory.admin.check)
        result["remember"] = attempt(lambda: memory.remember("and milk"))
        result["again"] = attempt(lambda: len(memory.list().memories))
        memory.close()
        for each in ("folder", "log", "alone"):
            result[each] = attempt(lambda each=each: recalled(folder / each / "m.db"))  # type: ignore[misc]
        with memorata.open(folder / "folder" / "m.db") as memory:
            result["notes"] = memory.notes
            result["note"] = attempt(lambda: memory.remember("and milk"))
            result["listed"] = attempt(lambda: len(memory.list().memories))
            result["sound"] = attempt(memory.admin.check)
        result["new"] = attempt(lambda: memorata.open(folder / "folder" / "new.db", embedder="lexical"))
    finally:
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
