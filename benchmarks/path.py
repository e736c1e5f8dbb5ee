"""How many files, functions and packages one warm `recall` and one `remember` pass.

A reader who follows a call meets as many files as it passes and has to change the package as often as the
call does. Both are counted by `sys.setprofile` while one call runs, after a few of the same kind have warmed
every cache and nothing is left to catch up with:

files
    Distinct source files of the library in which at least one function was called.
functions
    Distinct functions called, by file and line.
changes
    How often the package changes from one function to the next, each function counted where it is first
    called: a reader who follows the call reads it once. The package is the first folder under the library
    (`engine`, `store`, …); a module at the top of it counts as one of its own.
all changes
    The same over all calls in their order, those in loops as often as they are made.

Generated code (constructors of dataclasses) and other libraries do not count. The embedder is the lexical
one, so that what is counted is the engine and not a model. No memory contradicts another: where
contradictions are noted, a recall reads the notes on its hits as well, and passes one file more.

    python -m benchmarks.path                      # this library
    python -m benchmarks.path --files              # and the files, in the order in which they are reached
    PYTHONPATH=FOLDER python benchmarks/path.py --library NAME   # another edition, by its import name
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Final

WARM: Final = 5
"""Calls of the same kind before the one that is counted."""
MEMORIES: Final = 200
_TOPICS: Final = ("green tea", "the garden", "a train to Bern", "the piano", "her sister Mira", "old maps")
_PLACES: Final = ("bridge", "tower", "ferry", "market", "station")


class Trace:
    """The functions of a library that were called, in order."""

    def __init__(self, library: ModuleType) -> None:
        assert library.__file__ is not None
        self._root = Path(library.__file__).parent
        self._known: dict[CodeType, str] = {}
        self.calls: list[tuple[str, str]] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call; what `sys.setprofile` runs."""
        if event != "call":
            return
        code = frame.f_code
        if code not in self._known:
            file = Path(code.co_filename)
            inside = self._root in file.parents
            self._known[code] = file.relative_to(self._root).as_posix() if inside else ""
        if self._known[code]:
            self.calls.append((self._known[code], f"{code.co_firstlineno} {code.co_name}"))

    def of(self, action: Callable[[], object]) -> Trace:
        """Run something under the profiler, and return this."""
        sys.setprofile(self)
        try:
            action()
        finally:
            sys.setprofile(None)
        return self

    @property
    def files(self) -> list[str]:
        """The files in the order in which they were reached."""
        return list(dict.fromkeys(file for file, _ in self.calls))

    @property
    def functions(self) -> int:
        """How many distinct functions were called."""
        return len(set(self.calls))

    @property
    def changes(self) -> int:
        """How often the package changes along the functions in the order of their first calls."""
        return _changes(list(dict.fromkeys(self.calls)))

    @property
    def all_changes(self) -> int:
        """How often a call was in another package than the call before it."""
        return _changes(self.calls)


def _changes(calls: Sequence[tuple[str, str]]) -> int:
    packages = [file.split("/")[0] for file, _ in calls]
    return sum(one != other for one, other in pairwise(packages))


def traces(library: ModuleType, path: Path) -> dict[str, Trace]:
    """Return the traces of one warm recall and one warm remember on a file."""
    with library.open(str(path), embedder="lexical") as memory:
        memory.remember_many(
            [f"Anna told me on day {day} about {_TOPICS[day % len(_TOPICS)]}." for day in range(MEMORIES)]
        )
        for number in range(WARM):
            memory.recall(f"what did Anna say about tea, part {number}?")
            memory.remember(f"Ben saw {_TOPICS[number]} from the {_PLACES[number]}.")
        # The log of recalls is written now and then, in its own transaction.
        memory.recall_log.flush()
        memory.recall("what did Ben write?")
        memory.recall_log.flush()
        recall = Trace(library).of(lambda: memory.recall("what did Anna say about tea?"))
        remember = Trace(library).of(lambda: memory.remember("Carla paints the harbour of Lisbon."))
    return {"recall": recall, "remember": remember}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--library", default="memorata", help="the import name of the library")
    parser.add_argument("--files", action="store_true", help="list the files too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = traces(importlib.import_module(given.library), Path(folder) / "memories.db")
    print("| call | files | functions | calls | changes of package | all changes |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, trace in found.items():
        counts = len(trace.files), trace.functions, len(trace.calls), trace.changes, trace.all_changes
        print(f"| `{name}` | {' | '.join(map(str, counts))} |")
    if given.files:
        for name, trace in found.items():
            print(f"\n{name}:")
            for file in trace.files:
                own = [call for called, call in trace.calls if called == file]
                print(f"  {file}  ({len(set(own))} functions, {len(own)} calls)")


if __name__ == "__main__":
    main()
