"""How much code a warm `recall` and a warm `remember` pass, with the embedder of a plain install.

A reader who follows a call meets every file that it passes. 300 different questions are asked of one store
(people, times, places, relations, quotes, five languages), and 300 different texts written to it; each is
counted by `sys.setprofile` after the same kind of call has warmed the caches:

files, functions
    Distinct source files of the library, and functions by file and line, in which a call was made: over all
    300, and the median of one.
changes
    Changes of the package along the functions in the order of their first calls, the median of one. The
    package is the first folder under the library; a module at the top of it is one of its own.
frames
    Frames of the library on the stack when the first function of `index/` begins: the layers that a
    call passes before it searches.
transactions, statements
    What SQLite was asked in one call, the median: transactions begun, and statements besides BEGIN, COMMIT
    and ROLLBACK.

The last table counts what a new database must supply: the public members of the classes named, with the
statements among them.

    python -m benchmarks.path                      # this library
    python -m benchmarks.path --files              # and the files, by how many questions pass them
    PYTHONPATH=FOLDER python benchmarks/path.py --library NAME   # another edition, by its import name
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise, product
from pathlib import Path
from statistics import median
from types import CodeType, FrameType, ModuleType
from typing import Any, Final

QUESTIONS: Final = 300
MEMORIES: Final = 1000
WARM: Final = 20
"""Calls of the same kind before those that are counted."""
PORT: Final = {"store.database": ("Database", "Session", "Dialect", "Condition")}
"""By module, the classes that a new database must implement."""

_PEOPLE: Final = ("Anna", "Ben", "Carla", "Dmitri", "Elif", "Farid", "Grace", "Hiro")
_THINGS: Final = ("green tea", "the garden", "a train to Bern", "the piano", "an old map", "her sister Mira")
_PLACES: Final = ("Lisbon", "the ferry", "the market", "Zurich", "the station")
_TELLINGS: Final = (
    "{person} told me about {thing} at {place}.",
    "{person} moved to {place} last month.",
    "I met {person} at {place} on 12 May 2026, and we talked about {thing}.",
    "{person}'s favourite is {thing}, not coffee.",
    "{person} wohnt seit März in {place}.",
    "A {person} le gusta {thing}.",
    "My number at {place} is {number}.",
)
_ASKED: Final = (
    "What did {person} say about {thing}?",
    "where does {person} live now",
    "When did I meet {person} at {place}?",
    "What happened last week?",
    'Who said "{thing}"?',
    "Has {person} ever been to {place}, and not only once?",
    "Wo wohnt {person}?",
    "¿Qué le gusta a {person}?",
    "What does my sister like, {thing} or coffee?",
    "number at {place}",
    "How long before May 2026 did {person} move to {place}?",
    "{person} {place}",
)


def filled(patterns: Sequence[str]) -> Iterator[str]:
    """Yield the patterns with people, places and things in turns."""
    for number, (place, thing, person) in enumerate(product(_PLACES, _THINGS, _PEOPLE)):
        for pattern in patterns:
            yield pattern.format(person=person, place=place, thing=thing, number=1000 + number)


class Trace:
    """The functions of a library that one call passed, in order."""

    def __init__(self, library: ModuleType, known: dict[CodeType, str]) -> None:
        assert library.__file__ is not None
        self._root = Path(library.__file__).parent
        self._known = known
        self._depth = 0
        self.frames: int | None = None
        self.calls: dict[tuple[str, str], None] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note a call; what `sys.setprofile` runs."""
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if code not in self._known:
            file = Path(code.co_filename)
            inside = self._root in file.parents
            self._known[code] = file.relative_to(self._root).as_posix() if inside else ""
        if not (name := self._known[code]):
            return
        if event == "return":
            self._depth -= 1
            return
        if self.frames is None and name.startswith("index/"):
            self.frames = self._depth
        self._depth += 1
        self.calls[name, f"{code.co_firstlineno} {code.co_name}"] = None

    @property
    def files(self) -> set[str]:
        """The files in which a call was made."""
        return {file for file, _ in self.calls}

    @property
    def changes(self) -> int:
        """How often the package changes along the functions in the order of their first calls."""
        packages = [file.split("/")[0] for file, _ in self.calls]
        return sum(one != other for one, other in pairwise(packages))


class Statements:
    """The statements that every connection of SQLite is asked, counted."""

    def __init__(self) -> None:
        self.transactions = self.others = 0
        self._connect = sqlite3.connect
        vars(sqlite3)["connect"] = self._connected

    def _connected(self, *arguments: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401 - as given
        connection: sqlite3.Connection = self._connect(*arguments, **options)
        connection.set_trace_callback(self._asked)
        return connection

    def _asked(self, sql: str) -> None:
        word = sql.lstrip().partition(" ")[0].upper()
        if word == "BEGIN":
            self.transactions += 1
        elif word not in ("COMMIT", "ROLLBACK", "--"):
            self.others += 1

    @contextmanager
    def counted(self) -> Iterator[list[int]]:
        """Yield a list that holds the transactions and the other statements of the block at its end."""
        before, counts = (self.transactions, self.others), [0, 0]
        yield counts
        counts[:] = self.transactions - before[0], self.others - before[1]


class Calls:
    """What calls of one kind passed."""

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.counts: list[list[int]] = []

    def row(self, name: str) -> str:
        """Return the line of a table."""
        calls = {call for trace in self.traces for call in trace.calls}
        one = [
            median(len(trace.files) for trace in self.traces),
            median(len(trace.calls) for trace in self.traces),
            median(trace.changes for trace in self.traces),
            median(trace.frames or 0 for trace in self.traces),
            *(median(column) for column in zip(*self.counts, strict=True)),
        ]
        files = len({file for file, _ in calls})
        return f"| `{name}` | {files} | {len(calls)} | {' | '.join(f'{value:g}' for value in one)} |"


def passed(
    library: ModuleType, statements: Statements, call: Callable[[str], object], texts: Sequence[str]
) -> Calls:
    """Make calls, the first of them to warm up, and return what the others passed."""
    found, known = Calls(), dict[CodeType, str]()
    for text in texts[:WARM]:
        call(text)
    for text in texts[WARM:]:
        trace = Trace(library, known)
        with statements.counted() as counts:
            sys.setprofile(trace)
            try:
                call(text)
            finally:
                sys.setprofile(None)
        found.traces.append(trace)
        found.counts.append(counts)
    return found


def port(library: str) -> Iterator[tuple[str, int, int]]:
    """Yield the classes that a new database must implement, with their members and statements."""
    for home, names in PORT.items():
        module = importlib.import_module(f"{library}.{home}")
        for name in names:
            declared = getattr(module, name)
            annotations = inspect.get_annotations(declared)
            members = {member for member in {*vars(declared), *annotations} if member[0] != "_"}
            texts = {member for member in members if annotations.get(member) == "str"}
            yield name, len(members - texts), len(texts)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--library", default="memorata", help="the import name of the library")
    parser.add_argument("--files", action="store_true", help="list the files too")
    given = parser.parse_args()
    library, statements = importlib.import_module(given.library), Statements()
    with tempfile.TemporaryDirectory() as folder, library.open(str(Path(folder) / "path.db")) as memory:
        print(f"embedder: {memory.embedder.name}; SQLite {sqlite3.sqlite_version}", file=sys.stderr)
        memory.remember_many(list(islice(filled(_TELLINGS), MEMORIES)))
        asked = list(islice(filled(_ASKED), WARM + QUESTIONS))
        told = list(islice(filled(_TELLINGS), MEMORIES, MEMORIES + WARM + QUESTIONS))
        found = {
            "recall": passed(library, statements, memory.recall, asked),
            "remember": passed(library, statements, memory.remember, told),
        }
    print(
        f"| call | files, all {QUESTIONS} | functions, all | files | functions | changes | frames | ", end=""
    )
    print("transactions | statements |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, calls in found.items():
        print(calls.row(name))
    print("\n| a new database supplies | members | statements |\n|---|--:|--:|")
    rows = list(port(given.library))
    for name, members, texts in [*rows, ("all", sum(row[1] for row in rows), sum(row[2] for row in rows))]:
        print(f"| `{name}` | {members} | {texts} |")
    if given.files:
        for name, calls in found.items():
            passing = Counter(file for trace in calls.traces for file in trace.files)
            print(f"\n{name}:")
            for file, count in passing.most_common():
                print(f"  {count:4}  {file}")


if __name__ == "__main__":
    main()
