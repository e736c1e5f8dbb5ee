"""What encryption at rest costs: the same work on a plain and on an encrypted file, in turns, in one process.

Processor time of each step, the median of all rounds, and the ratio of the two; the passphrase is measured by
opening alone, for that is where it is stretched.

    python -m benchmarks.encryption
    python -m benchmarks.encryption --memories 20000 --rounds 5
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

import memorata

KEY: Final = "5f" * 32
PASSPHRASE: Final = "correct horse battery staple"
NAMES: Final = ("Anna", "Bert", "Clara", "Dora", "Emil", "Frida", "Gustav", "Hanna")
TOPICS: Final = ("tea", "the garden", "Paris", "a train", "music", "the harbour", "bread", "mathematics")
SINGLES: Final = 30
RECALLS: Final = 50


def sentences(count: int, seed: int) -> list[str]:
    """Return made-up memories."""
    choice = random.Random(seed).choice
    return [f"{choice(NAMES)} told {choice(NAMES)} about {choice(TOPICS)}, number {n}" for n in range(count)]


def timed(times: dict[str, list[float]], name: str, work: Callable[[], object], count: int = 1) -> None:
    """Note the processor time of some work, in milliseconds for each of `count`."""
    started = process_time()
    work()
    times[name].append((process_time() - started) * 1_000 / count)


def measured(path: Path, key: str | None, memories: int, seed: int, times: dict[str, list[float]]) -> None:
    """Fill a file, use it, and open it again."""
    memory = memorata.open(path, embedder="lexical", config={"encryption_key": key})
    for first in range(0, memories, 1_000):
        batch = sentences(1_000, seed + first)
        timed(times, "batch of 1,000", lambda batch=batch: memory.remember_many(batch))  # type: ignore[misc]
    texts = sentences(SINGLES, -seed - 1)
    timed(times, "remember", lambda: [memory.remember(f"{text} once") for text in texts], SINGLES)
    asked = sentences(RECALLS, seed + 7)
    timed(times, "recall, warm", lambda: [memory.recall(text) for text in asked], RECALLS)
    timed(times, "backup", lambda: memory.store.backup(path.with_suffix(".copy")))
    timed(times, "purge", lambda: memory.purge(memory.list(limit=1).memories[0].id))
    timed(times, "check", memory.admin.check)
    memory.close()

    def start() -> None:
        with memorata.open(path, embedder="lexical", config={"encryption_key": key}) as again:
            again.recall("who was told about tea?")

    timed(times, "open and first recall", start)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--memories", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    plain: dict[str, list[float]] = defaultdict(list)
    encrypted: dict[str, list[float]] = defaultdict(list)
    stretched: dict[str, list[float]] = defaultdict(list)
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.rounds):
            for name, key, times in (("plain", None, plain), ("encrypted", KEY, encrypted)):
                path = Path(folder) / f"{name}{number}.db"
                measured(path, key, given.memories, number, times)
                sizes[name] = path.stat().st_size
            path = Path(folder) / f"passphrase{number}.db"
            for name, times in ((PASSPHRASE, stretched), (KEY, encrypted)):
                file = path.with_suffix(f".{len(name)}")
                memorata.open(file, embedder=None, config={"encryption_key": name}).close()
                timed(
                    times,
                    "open",
                    lambda file=file, name=name: memorata.open(  # type: ignore[misc]
                        file, embedder=None, config={"encryption_key": name}
                    ).close(),
                )
    print("| step, ms of processor | plain | encrypted | ratio |\n|---|--:|--:|--:|")
    for step, values in plain.items():
        one, other = median(values), median(encrypted[step])
        print(f"| {step} | {one:.2f} | {other:.2f} | {other / one:.2f} |")
    print(f"| bytes of the file | {sizes['plain']:,} | {sizes['encrypted']:,} | ", end="")
    print(f"{sizes['encrypted'] / sizes['plain']:.2f} |")
    print(f"\nopening with 64 hexadecimal digits {median(encrypted['open']):.0f} ms, ", end="")
    print(f"with a passphrase {median(stretched['open']):.0f} ms")


if __name__ == "__main__":
    main()
