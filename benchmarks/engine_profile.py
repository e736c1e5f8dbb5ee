"""Where the time goes inside a recall and a batch of writes.

Run ``python -m benchmarks.engine_profile --size 10000``. A profiler makes small functions look slower than
they are: read it for what is called how often, and the benchmark for how long it takes.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
from pathlib import Path

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded
from benchmarks.engine_data import FixedVectors, batches, mixed
from benchmarks.engine_recall import recalling
from benchmarks.engine_store import built, opened
from memorata.engine import open as open_engine


def main() -> None:
    """Profile both at one size."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine_profile", description=__doc__)
    parser.add_argument("--size", type=int, default=10_000, help="how many memories")
    parser.add_argument("--lines", type=int, default=30, help="how many functions to show")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memorata-profile-") as folder:
        made = built(Path(folder), options.size)
        with opened(made.path) as engine:
            run = recalling(engine)
            for question in mixed(options.size, 60, seed=2):
                run(question)
            profile = cProfile.Profile()
            questions = mixed(options.size, 200)
            profile.enable()
            for question in questions:
                run(question)
            profile.disable()
        _shown(f"200 recalls among {options.size:,}", profile, options.lines)
        embedder = FixedVectors()
        profile = cProfile.Profile()
        with open_engine(Path(folder) / "written.db", embedder=embedder) as engine:
            for batch in batches(10_000):
                items = batch.items()
                embedder.give(batch.texts, batch.vectors)
                profile.enable()
                engine.remember_many(items)
                profile.disable()
        _shown("remember_many, ten batches of 1,000", profile, options.lines)


def _shown(title: str, profile: cProfile.Profile, lines: int) -> None:
    print(f"\n## {title}")
    statistics = pstats.Stats(profile).strip_dirs()
    statistics.sort_stats("tottime").print_stats(lines)
    statistics.sort_stats("cumtime").print_stats(lines)


if __name__ == "__main__":
    main()
