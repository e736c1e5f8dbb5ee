"""The pure core's fast paths against the libraries people would pick, and against plain Python.

Run ``python -m benchmarks.core``, or ``make bench``. It checks that all contenders agree, times them in
turns, prints the ratios, and writes nothing unless told to by ``--markdown FILE``.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import benchmarks.one_thread  # noqa: F401 - before numpy is loaded
from benchmarks import diversity, fusion, lexical, scoring
from benchmarks.timing import Comparison, Subject, as_markdown, compared, shown, written

SIZES = (100, 1_000, 10_000)

REPORTS: Mapping[str, Callable[[int], Iterator[Subject]]] = {
    "fusion": fusion.subjects,
    "diversity": diversity.subjects,
    "lexical": lexical.subjects,
    "scoring": scoring.subjects,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the reports asked for, and say where a library was faster."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core", description=__doc__)
    parser.add_argument("--only", choices=REPORTS, help="one report instead of all")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables to FILE")
    options = parser.parse_args(arguments)
    # Said by numba while it compiles ranx, once; it is about ranx's ranks, which stay small.
    warnings.filterwarnings("ignore", message="unsafe cast from uint64 to int64")
    pages, against_libraries = [], []
    for name in [options.only] if options.only else REPORTS:
        lines = list(report(name))
        shown(f"{name}: how many times as long the others take", lines)
        pages.append(as_markdown(name, lines))
        against_libraries += [line for line in lines if line.is_library]
    slower = sum(line.ratio < 1 for line in against_libraries)
    print(f"{len(against_libraries)} comparisons with libraries, {slower} of them faster than ours.")
    if options.markdown:
        written(options.markdown, pages)
    return 0


def report(name: str) -> Iterator[Comparison]:
    """Yield the comparisons of one report, subject after subject, each at every size."""
    by_size = [list(REPORTS[name](size)) for size in SIZES]
    for subject_name in [subject.name for subject in by_size[0]]:
        for size, subjects in zip(SIZES, by_size, strict=True):
            for subject in subjects:
                if subject.name == subject_name:
                    yield from compared(subject, size)


if __name__ == "__main__":
    sys.exit(main())
