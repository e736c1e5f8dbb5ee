"""The formats of files: which one a file has, and its records in any of them.

Every record has an id of its own: one derived from the id that it has in its source, or else from the name of
the file and from its fields, not from where in the file it stands. So a file can be imported again after an
interruption, or after something was added to it, and nothing comes in twice. The second of two equal records
in one file counts as a second one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from memorata.engine.write.drafts import cleaned
from memorata.service.formats.readers import chatgpt, claude, claude_code, codex, mcp_memory, mem0
from memorata.service.formats.record import (
    Reading,
    Record,
    decoded,
    is_declaration,
    jsonl_records,
    markdown_blocks,
    paragraphs,
    text_id,
)

FORMATS: Final = (
    "text", "markdown", "jsonl", "chatgpt", "claude", "claude-code", "codex", "mcp-memory", "mem0",
)  # fmt: skip
SPLITS: Final = ("paragraphs", "lines")
SUFFIXES: Final = {
    ".txt": "text", ".text": "text", ".log": "text", ".md": "markdown", ".markdown": "markdown",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip
_PROSE: Final = ("text", "markdown")
_HEAD_BYTES: Final = 65_536
_CLAUDE_CODE: Final = re.compile(rb'"parentUuid"\s*:.*"sessionId"\s*:|"sessionId"\s*:.*"parentUuid"\s*:')
_CODEX: Final = re.compile(rb'"type"\s*:\s*"session_meta"')
_CODEX_2024: Final = {"id", "timestamp", "instructions"}
_WHOLE_FILES: Final = (
    (re.compile(rb'"mapping"\s*:\s*\{'), "chatgpt"),
    (re.compile(rb'"chat_messages"\s*:\s*\['), "claude"),
    (re.compile(rb'"memory"\s*:\s*"'), "mem0"),
    (re.compile(rb'\{\s*"results"\s*:\s*\['), "mem0"),
)
_READERS: Final = {
    "chatgpt": chatgpt,
    "claude": claude,
    "claude-code": claude_code,
    "codex": codex,
    "mcp-memory": mcp_memory,
    "mem0": mem0,
}
_AGENT_LOGS: Final = ("claude-code", "codex")


def read(
    data: bytes, format: str, *, name: str, link: str = "", split: str = "paragraphs", redact: bool = True
) -> Reading:
    r"""Return the records of a file in UTF-8.

    `name`, of the file, is the session of what a text says and a part of ids, `link` where it can be read
    again. Plain text is cut at blank lines or at every line (`split`). Secrets are taken out of the logs of
    coding agents, as they are when hooks capture them, unless `redact` says no.
    """
    if format in _READERS:
        reading = _READERS[format](data)
        if redact and format in _AGENT_LOGS:
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
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] not in (b"{", b"["):
        return by_suffix
    line = _first_line(data)
    # The logs of agents first: their lines may have a content, too.
    if _CODEX.search(head) or (isinstance(line, dict) and line.keys() >= _CODEX_2024):
        return "codex"
    if _CLAUDE_CODE.search(head):
        return "claude-code"
    if isinstance(line, dict):
        if line.get("type") in ("entity", "relation") and not {"content", "kind"} & line.keys():
            return "mcp-memory"
        if is_declaration(line) or "content" in line or isinstance(line.get("text"), str):
            return "jsonl"
    return next((format for pattern, format in _WHOLE_FILES if pattern.search(head)), by_suffix)


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
