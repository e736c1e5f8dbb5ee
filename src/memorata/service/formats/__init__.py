"""The formats of files: which one a file has, and its records in any of them.

The core reads JSON Lines, plain text and Markdown. A satellite adds a format by an entry point
``memorata.importers`` of the format's name, a `FileFormat`.

Every record has an id of its own: one derived from the id that it has in its source, or else from the name of
the file and from its fields, not from where in the file it stands. So a file can be imported again after an
interruption, or after something was added to it, and nothing comes in twice. The second of two equal records
in one file counts as a second one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from memorata import _satellites
from memorata.engine.write.drafts import cleaned
from memorata.model import checks
from memorata.service.formats.record import (
    FileFormat,
    FileHead,
    Reading,
    Record,
    decoded,
    is_declaration,
    jsonl_records,
    markdown_blocks,
    paragraphs,
    text_id,
)

FORMATS: Final = ("text", "markdown", "jsonl")
"""The formats that the core reads."""
SPLITS: Final = ("paragraphs", "lines")
SUFFIXES: Final = {
    ".txt": "text", ".text": "text", ".log": "text", ".md": "markdown", ".markdown": "markdown",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip
_PROSE: Final = ("text", "markdown")
_HEAD_BYTES: Final = 65_536


def formats() -> tuple[str, ...]:
    """Return the names of all formats: those of the core, and those of installed satellites."""
    return (*FORMATS, *sorted(_satellites.declared("importers")))


def absent_formats() -> str:
    """Return the formats of satellites that are not installed and the line that installs them, or nothing."""
    absent = sorted(_satellites.IMPORTERS.keys() - set(formats()))
    lines = " ".join(f"packages/{name}" for name in sorted({_satellites.IMPORTERS[name] for name in absent}))
    return f"the formats {', '.join(absent)} need: pip install {lines}" if absent else ""


def check_format(argument: str, name: str) -> str:
    """Return the name of a format that can be read; raise for another, or for one that is not installed."""
    if name not in (installed := formats()) and name in _satellites.IMPORTERS:
        raise _satellites.missing(f"the format {name!r}", _satellites.IMPORTERS[name])
    return checks.one_of(argument, name, installed)


def read(
    data: bytes, format: str, *, name: str, link: str = "", split: str = "paragraphs", redact: bool = True
) -> Reading:
    r"""Return the records of a file in UTF-8.

    `name`, of the file, is the session of what a text says and a part of ids, `link` where it can be read
    again. Plain text is cut at blank lines or at every line (`split`). Secrets are taken out of the logs of
    coding agents, as they are when hooks capture them, unless `redact` says no.
    """
    if check_format("format", format) not in FORMATS:
        added: FileFormat = _satellites.declared("importers")[format].load()
        reading = added.read(data)
        if redact and added.redacted:
            clean = (replace(record, fields=cleaned(record.fields)) for record in reading.records)
            reading = Reading(reading.total, clean)
        return reading
    records = jsonl_records(data) if format == "jsonl" else _prose(data, format, name, link, split)
    return Reading(data.count(b"\n") + 1, _with_ids(records, format, name))


def format_of(data: bytes, suffix: str) -> str | None:
    r"""Return the format of a file, by its content and its suffix; None if it is unknown.

    A file that is called text or Markdown is that, whatever its content.
    """
    by_suffix = SUFFIXES.get(suffix.lower())
    if by_suffix in _PROSE:
        return by_suffix
    beginning = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    if beginning[:1] not in (b"{", b"["):
        return by_suffix
    head = FileHead(beginning, _first_line(data))
    # The satellites' first: lines of the logs of agents may have a content, too.
    for name, point in sorted(_satellites.declared("importers").items()):
        added: FileFormat = point.load()
        if added.matches(head):
            return name
    return "jsonl" if head.is_record else by_suffix


def _first_line(data: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of the first line that is not blank, if it is one."""
    raw = next((line for line in data.split(b"\n", 100) if line.strip()), b"")
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _prose(data: bytes, format: str, name: str, link: str, split: str) -> Iterator[Record]:
    content, problem = decoded(data)
    if problem is not None:
        yield problem
        return
    blocks = markdown_blocks(content) if format == "markdown" else paragraphs(content, split)
    for position, (line, fields) in enumerate(blocks):
        yield Record(line, {**fields, "source": {"session": name, "position": position, "link": link}})


def _with_ids(records: Iterator[Record], format: str, name: str) -> Iterator[Record]:
    """Give the records that bring no id one of their own."""
    seen: Counter[str] = Counter()
    for record in records:
        if record.problem or "id" in record.fields or is_declaration(record.fields):
            yield record
            continue
        fields = record.fields
        if format != "jsonl":
            fields = {key: value for key, value in fields.items() if key != "source"}
        key = json.dumps(fields, sort_keys=True)
        seen[key] += 1
        yield replace(record, fields={**record.fields, "id": text_id(name, fields, seen[key])})
