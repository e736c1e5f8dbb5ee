"""Several processes make the same new file at the same moment, again and again; run by test_processes.py."""

import os
import sys
import traceback
from pathlib import Path

import memorata

PROCESSES = 6


def make(path: Path, number: int, starting: int) -> None:
    os.read(starting, 1)
    with memorata.open(path, embedder="lexical", config={"durable": False}) as memory:
        memory.remember(f"tea number {number}")


def main(folder: Path, rounds: int) -> None:
    for turn in range(rounds):
        path = folder / f"{turn}.db"
        waiting, starting = os.pipe()
        children = []
        for number in range(PROCESSES):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    make(path, number, waiting)
                    code = 0
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(code)
            children.append(child)
        os.write(starting, b"!" * PROCESSES)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        os.close(waiting)
        os.close(starting)
        assert codes == [0] * PROCESSES
        with memorata.open(path, embedder="lexical") as memory:
            assert len(memory.list().memories) == PROCESSES
            assert memory.admin.check() == []


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
