"""Coverage-guided fuzzing of the parsers: queries, filters, dates, importers, redaction and stored blobs.

Whatever comes in, a parser returns or raises an error of ours; anything else is a finding, and atheris writes
the input down. Run one target by its name for so many seconds, or all of them, one after the other:

    python -m tests.security.fuzz filters 60
    python -m tests.security.fuzz all 60

Nothing of the library is imported at the top: what is imported inside :func:`main` is instrumented.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

NOW: Final = datetime(2026, 5, 7, 12, tzinfo=UTC)
FORMATS: Final = (
    "chatgpt", "claude", "claude-code", "codex", "mcp-memory", "mem0", "jsonl", "text", "markdown",
)  # fmt: skip


def queries(data: bytes) -> None:
    """Parse a query."""
    from memorata.engine.recall.query import parse_query
    from memorata.text.analysers import analyser

    parse_query(data.decode(errors="replace"), analyser("snowball", language="detect"))


def filters(data: bytes) -> None:
    """Parse a filter, as JSON holds it."""
    from memorata.store.filters import parse

    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return
    parse(given)


def dates(data: bytes) -> None:
    """Read the times in a text."""
    from memorata.text.dates import time_expressions

    time_expressions(data.decode(errors="replace"), NOW)


def importers(data: bytes) -> None:
    """Read a file in the format that its first byte names, or in the one that it seems to have."""
    from memorata.service.formats import format_of, read

    name = FORMATS[data[0] % len(FORMATS)] if data else FORMATS[0]
    for format_ in (name, format_of(data[1:], ".json")):
        if format_ is not None:
            list(read(data[1:], format_, name="x").records)


def blobs(data: bytes) -> None:
    """Read what the index stores."""
    from memorata.index import postings, record
    from memorata.model.errors import MemorataError

    readers: tuple[Callable[[bytes], Any], ...] = (
        lambda data: record.unpacked([data]),
        lambda data: record.unpacked_run(data, 1),
        record.decoded_terms,
        postings.opened,
        lambda data: postings.found(data, "tea"),
    )
    for read in readers:
        try:
            read(data)
        except MemorataError:
            continue


def secrets(data: bytes) -> None:
    """Take secrets out, twice."""
    from memorata.text.secrets import redacted

    once = redacted(data.decode(errors="replace"))
    assert redacted(once) == once


TARGETS: Final = {each.__name__: each for each in (queries, filters, dates, importers, blobs, secrets)}


def guarded(target: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Return a target for which our own errors are an answer like any other."""
    from memorata.model.errors import MemorataError

    def run(data: bytes) -> None:
        try:
            target(data)
        except MemorataError:
            return

    return run


def main(name: str, seconds: int) -> None:
    """Fuzz one target in this process, or each in one of its own; end with an error if something is found."""
    if name == "all":
        for each in TARGETS:
            subprocess.run([sys.executable, "-m", "tests.security.fuzz", each, str(seconds)], check=True)
        return
    import atheris

    target = guarded(TARGETS[name])
    with atheris.instrument_imports(include=["memorata"]):
        # The first call imports what it needs.
        target(b"{}")
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-timeout=30", "-max_len=2000"], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
