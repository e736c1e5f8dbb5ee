"""Coverage-guided fuzzing of the parsers: queries, filters, dates, importers, redaction and stored blobs.

Whatever comes in, a parser returns or raises an error of ours; anything else is a finding, and atheris writes
the input down. Each target begins with inputs that are right (:data:`SEEDS`), for
chance alone writes no JSON; and checksums are mended, for what they guard is to be reached. Run one target by
its name for so many seconds, or all of them, one after the other:

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
from pathlib import Path
from tempfile import TemporaryDirectory
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
    """Read what the index stores: as it comes, and with the version and checksum that it should have."""
    from zlib import crc32

    from memorata.index import postings, record
    from memorata.model.errors import MemorataError

    sealed = [bytes([version, 0, 0, 0]) + crc32(data).to_bytes(4, "little") + data for version in (1, 4)]
    body = data[: record.RECORD.itemsize - 4].ljust(record.RECORD.itemsize - 4, b"\0")
    readers: tuple[Callable[[bytes], Any], ...] = (
        lambda data: record.unpacked([data]),
        lambda data: record.unpacked_run(data, 1),
        record.decoded_terms,
        lambda data: [*map(postings.parts_of, postings.SegmentLists.decoded(data).keys())],
    )
    record.unpacked([body + crc32(body).to_bytes(4, "little")])
    for blob in (data, *sealed):
        for read in readers:
            try:
                read(blob)
            except MemorataError:
                continue


def secrets(data: bytes) -> None:
    """Take secrets out, twice."""
    from memorata.text.secrets import redacted

    once = redacted(data.decode(errors="replace"))
    assert redacted(once) == once


def rules(data: bytes) -> None:
    """Compare two texts, and read what they mean: no rule may fail a write."""

    from memorata.dedupe import contradiction, same_statement
    from memorata.dedupe.claims import claims
    from memorata.dedupe.wording import statement_key
    from memorata.service.conversation import category_of, message_text
    from memorata.text import RuleExtractor

    older, _, newer = data.decode(errors="replace").partition("\0")
    contradiction(older, newer)
    same_statement(older, newer)
    for text in (older, newer):
        claims(text)
        statement_key(text)
        RuleExtractor().mentions(text)
        category_of("user", message_text(text))


TARGETS: Final = {each.__name__: each for each in (queries, filters, dates, importers, blobs, secrets, rules)}


SEEDS: Final[dict[str, tuple[bytes, ...]]] = {
    "queries": (b'"green tea" -coffee what did Anna say in May?',),
    "filters": (
        b'{"tags": {"any": ["a", "b"]}, "metadata.n": {">=": 2, "<": 5}}',
        b'{"all": [{"category": "fact"}, {"not": {"speaker": {"in": ["Anna"]}}}]}',
        b'{"any": [{"created_at": {">": "2026-05-07T18:30:00Z"}}, {"metadata.a.b": {"exists": true}}]}',
        b'{"near": {"lat": 48.1, "lon": 11.6, "km": 5}}',
    ),
    "dates": ("on 7 May 2026 at 18:30, last week, 昨天, vor drei Tagen, il y a deux ans".encode(),),
    "importers": (
        b'\0[{"id": "c", "title": "t", "mapping": {"n": {"id": "n", "parent": null, "children": [], '
        b'"message": {"id": "m", "author": {"role": "user"}, "create_time": 1.5, '
        b'"content": {"parts": ["tea"]}}}}}]',
        b'\1[{"uuid": "c", "name": "t", "chat_messages": [{"uuid": "m", "sender": "human", "text": "tea", '
        b'"created_at": "2026-05-07T18:30:00Z"}]}]',
        b'\2{"type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2026-05-07T18:30:00Z", "message": '
        b'{"role": "user", "content": [{"type": "text", "text": "tea"}]}}\n',
        b'\3{"type": "response_item", "timestamp": "2026-05-07T18:30:00Z", "payload": {"type": "message", '
        b'"role": "user", "content": [{"type": "input_text", "text": "tea"}]}}\n',
        b'\4{"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes tea"]}\n',
        b'\5{"results": [{"id": "m", "memory": "tea", "created_at": "2026-05-07", "metadata": {}}]}',
        b'\6{"content": "tea", "tags": ["a"], "source": {"speaker": "Anna"}}\n',
        b"\10# Title\n\n- tea\n- milk\n",
    ),
    "blobs": (
        b'{"content": {"tea": 2}}',
        b"\x01\x00\x00\x00\x08\x00\x00\x00\x02\x00\x00\x00tags\xfetea\x03\x00\x09\x00\x01\x00\x02\x00",
    ),
    "rules": (
        b"`ALL SYSTEMS: OK`\0`ALL SYSTEMS: DOWN`",
        b"I live in Leipzig.\0From now on I live in Valencia, not in Leipzig.",
        b"<bash-stdout>Always use tabs.</bash-stdout>\0| a | b |",
    ),
    "secrets": (b"my password is hunter2, card 4111 1111 1111 1111, sk-ant-api03-AAAA, Basic dTpw",),
}
"""What each target begins with."""


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
    with TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS[name]):
            (Path(corpus) / str(number)).write_bytes(seed)
        options = [f"-max_total_time={seconds}", "-timeout=30", "-max_len=2000"]
        atheris.Setup([sys.argv[0], *options, corpus], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
