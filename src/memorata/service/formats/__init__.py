"""Which format a file has, and what it says in any of them.

Every record has an id of its own: one derived from the id that it has in its source, or else from the name of
the file and from what it says, not from where in the file it stands. So a file can be imported again after an
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

from memorata.service.formats import chatgpt, jsonl, mcp_memory, mem0, text
from memorata.service.formats.record import Reading, Record, is_declaration, text_id

FORMATS: Final = ("text", "markdown", "jsonl", "chatgpt", "mcp-memory", "mem0")
SPLITS: Final = ("paragraphs", "lines")
SUFFIXES: Final = {
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_WRITTEN: Final = ("text", "markdown")
_PEEK: Final = 65_536
_CHATGPT: Final = re.compile(rb'"mapping"\s*:\s*\{')
_MEM0: Final = re.compile(rb'"memory"\s*:\s*"')
_NO_MEMORIES: Final = re.compile(rb'\{\s*"results"\s*:\s*\[')


def read(data: bytes, form: str, *, name: str, link: str = "", split: str = "paragraphs") -> Reading:
    r"""Return what a file says.

    Parameters
    ----------
    data
        The file, in UTF-8.
    form
        One of `FORMATS`.
    name
        The file's name: the session of what a text says, and a part of the ids.
    link
        Where it can be read again.
    split
        Whether plain text is cut at blank lines or at every line.

    Examples
    --------
    >>> [record.fields["content"] for record in read(b"Tea.\n\nMilk.\n", "text", name="notes.txt").records]
    ['Tea.', 'Milk.']
    >>> next(read(b'{"content": "Tea."', "jsonl", name="x.jsonl").records).problem
    "not JSON: Expecting ',' delimiter at character 19"
    """
    if form == "chatgpt":
        return chatgpt.records(data)
    if form == "mcp-memory":
        return mcp_memory.records(data)
    if form == "mem0":
        return mem0.records(data)
    found = jsonl.records(data) if form == "jsonl" else _written(data, form, name, link, split)
    return Reading(data.count(b"\n") + 1, _named(found, form, name))


def format_of(data: bytes, suffix: str) -> str | None:
    r"""Return the format of a file, by what it says and by its suffix; None if it cannot be told.

    A file that is called text or Markdown is that, whatever it says.

    Examples
    --------
    >>> format_of(b"# Tea", ".MD"), format_of(b"%PDF", ".pdf")
    ('markdown', None)
    >>> format_of(b'{"type": "entity", "name": "Anna", "observations": []}\n', ".json")
    'mcp-memory'
    """
    by_suffix = SUFFIXES.get(suffix.lower())
    if by_suffix in _WRITTEN:
        return by_suffix
    head = data[:_PEEK].removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] not in (b"{", b"["):
        return by_suffix
    line = _first_line(data)
    if isinstance(line, dict):
        if line.get("type") in ("entity", "relation") and not {"content", "kind"} & line.keys():
            return "mcp-memory"
        if is_declaration(line) or "content" in line:
            return "jsonl"
    for pattern, form in ((_CHATGPT, "chatgpt"), (_MEM0, "mem0"), (_NO_MEMORIES, "mem0")):
        if pattern.search(head):
            return form
    return by_suffix


def _first_line(data: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of the first line that is not blank, if it is one."""
    raw = next((line for line in data.split(b"\n", 100) if line.strip()), b"")
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


def _written(data: bytes, form: str, name: str, link: str, split: str) -> Iterator[Record]:
    content, problem = text.decoded(data)
    if problem is not None:
        yield problem
        return
    blocks = text.markdown_blocks(content) if form == "markdown" else text.paragraphs(content, split)
    for position, (line, fields) in enumerate(blocks):
        yield Record(line, {**fields, "source": {"session": name, "position": position, "link": link}})


def _named(found: Iterator[Record], form: str, name: str) -> Iterator[Record]:
    """Give the records that bring no id one of their own."""
    seen: Counter[str] = Counter()
    for record in found:
        if record.problem or "id" in record.fields or is_declaration(record.fields):
            yield record
            continue
        said = record.fields
        if form != "jsonl":
            said = {key: value for key, value in said.items() if key != "source"}
        key = json.dumps(said, sort_keys=True)
        seen[key] += 1
        yield replace(record, fields={**record.fields, "id": text_id(name, said, seen[key])})
