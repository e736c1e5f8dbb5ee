"""Fills a file until the system refuses, and looks at what is left; run by test_unwritable.py.

The limit on the size of files stands for the end of the disk: the system refuses to write, in the middle of
whatever SQLite was at.
"""

import json
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import memorata
from memorata.model.errors import StoreUnavailable


def main(path: Path, limit: int) -> None:
    # Without this the system ends the process, as a disk would not.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    memory = memorata.open(path, embedder="lexical")
    memory.remember_many([f"tea number {n}" for n in range(20)])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    acknowledged, errors = 20, []
    for size in (1, 50, 150) * 12:
        try:
            memory.remember_many([f"tea of batch {acknowledged} {n} " + "leaf " * 50 for n in range(size)])
            acknowledged += size
        except StoreUnavailable as error:
            errors.append(str(error))
    listed = len(memory.list(limit=100_000).memories)
    found = len(memory.recall("batch", limit=5, recipe="bm25"))
    problems = memory.admin.check()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    memory.remember("there is room again")
    result: dict[str, Any] = {
        "acknowledged": acknowledged,
        "listed": listed,
        "found": found,
        "problems": problems,
    }
    memory.close()
    with memorata.open(path, embedder="lexical") as memory:
        result["after"] = len(memory.list(limit=100_000).memories)
        result["problems"] += memory.admin.check()
    sys.stdout.write(json.dumps(result | {"errors": errors}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
