"""Several processes say the same things at the same time; run by test_same_words.py."""

import os
import sys
from pathlib import Path

import memorata

TEXTS = 20


def say(path: Path, who: int, start: int) -> None:
    # Everybody waits for the word, so that they really talk at once.
    os.read(start, 1)
    with memorata.open(path, embedder="lexical") as engine:
        for number in range(TEXTS):
            text = f"Anna likes tea number {number}" + "!" * who
            engine.remember(text) if number % 2 else engine.remember_many([text, text])


def main(folder: Path, processes: int) -> None:
    path = folder / "same.db"
    memorata.open(path, embedder="lexical").close()
    waiting, word = os.pipe()
    children = []
    for who in range(processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                say(path, who, waiting)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    os.write(word, b"g" * processes)
    sys.exit(any(os.waitpid(child, 0)[1] for child in children))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
