"""Opens files for which no more can be written; run by test_unwritable.py.

A limit on the size of files stands for the end of the disk, as in full_disk.py.
"""

import json
import resource
import shutil
import signal
import sys
from pathlib import Path

import memorata
from memorata.model.errors import StoreReadOnly


def main(folder: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    closed, crashed = folder / "closed.db", folder / "crashed.db"
    with memorata.open(closed, embedder="lexical") as memory:
        memory.remember("I prefer green tea.")
        for suffix in ("", "-wal"):
            shutil.copy(f"{closed}{suffix}", f"{crashed}{suffix}")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
    told: dict[str, list[object]] = {}
    for file in (closed, crashed):
        with memorata.open(file, embedder="lexical") as memory:
            contents = [hit.memory.content for hit in memory.recall("tea")]
            try:
                memory.remember("And coffee.")
            except StoreReadOnly as error:
                told[file.name] = [contents, list(memory.notes), str(error)]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for file in (closed, crashed):
        with memorata.open(file, embedder="lexical") as memory:
            memory.remember("There is room again.")
            told[file.name] += [len(memory.list().memories), memory.admin.check()]
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
