"""Files as memories: plain text by the paragraph or line, Markdown by paragraph and list item, JSONL by line.

Every record has an id that depends on the file's name and on what it says, not on where in the file it
stands; so a file can be imported again after an interruption, or after something was added to it, and
nothing comes in twice. The second of two equal records in one file counts as a second one.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from recollect.cli.arguments import nearest

FORMATS: Final = ("text", "markdown", "jsonl")
SPLITS: Final = ("paragraphs", "lines")
DECLARATIONS: Final = ("entity", "relation")
"""What a line of JSONL may be about instead of a memory."""
SUFFIXES: Final = {
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_FAMILY: Final = uuid.UUID("6d1f5b0a-6a55-5c54-9f43-2f0b6a4f7f10")
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_UNDERLINE: Final = re.compile(r"(={3,}|-{3,})\s*")
_RULE: Final = re.compile(r"\s*([-*_])(\s*\1){2,}\s*")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(.*)")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Record:
    """Something a file says, or why it cannot be read.

    Attributes
    ----------
    line
        Where it begins, from 1.
    fields
        The fields of the memory as JSON; empty for what cannot be read.
    problem
        What is wrong with it; empty for what can be read.
    """

    line: int
    fields: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


def read(data: bytes, form: str, *, name: str, link: str = "", split: str = "paragraphs") -> Iterator[Record]:
    r"""Yield what a file says.

    Parameters
    ----------
    data
        The file, in UTF-8.
    form
        One of `FORMATS`.
    name
        The file's name: the session of what it says, and a part of the ids.
    link
        Where it can be read again.
    split
        Whether plain text is cut at blank lines or at every line.

    Examples
    --------
    >>> [record.fields["content"] for record in read(b"Tea.\n\nMilk.\n", "text", name="notes.txt")]
    ['Tea.', 'Milk.']
    >>> next(read(b'{"content": "Tea."', "jsonl", name="x.jsonl")).problem
    "not JSON: Expecting ',' delimiter at character 19"
    """
    if form == "jsonl":
        found = _jsonl(data)
    else:
        text, problem = _decoded(data)
        if problem is not None:
            yield problem
            return
        blocks = _markdown(text) if form == "markdown" else _text(text, split)
        found = _placed(blocks, name, link)
    seen: Counter[str] = Counter()
    for record in found:
        if record.problem or "id" in record.fields or is_declaration(record.fields):
            yield record
            continue
        said = {key: value for key, value in record.fields.items() if key != "source"}
        if form == "jsonl":
            said = record.fields
        key = json.dumps([name, said], sort_keys=True)
        seen[key] += 1
        yield Record(record.line, {**record.fields, "id": str(uuid.uuid5(_FAMILY, f"{seen[key]} {key}"))})


def format_of(suffix: str) -> str | None:
    """Return the format that a file's suffix stands for.

    Examples
    --------
    >>> format_of(".MD"), format_of(".pdf")
    ('markdown', None)
    """
    return SUFFIXES.get(suffix.lower())


def is_declaration(data: Mapping[str, Any]) -> bool:
    """Return whether an object of an export is about an entity or a relation, and no memory.

    Examples
    --------
    >>> is_declaration({"kind": "entity", "name": "Anna"}), is_declaration({"content": "Tea."})
    (True, False)
    """
    return "content" not in data and data.get("kind") in DECLARATIONS


def _decoded(data: bytes) -> tuple[str, Record | None]:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", Record(
            line, problem=f"not UTF-8 at byte {error.start + 1} of the file; nothing of it was read"
        )


def _jsonl(data: bytes) -> Iterator[Record]:
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw.decode())
        except UnicodeDecodeError:
            yield Record(number, problem="not UTF-8")
        except json.JSONDecodeError as error:
            yield Record(number, problem=f"not JSON: {error.msg} at character {error.pos + 1}")
        except (ValueError, RecursionError) as error:
            yield Record(number, problem=f"not JSON that can be read: {error}")
        else:
            if isinstance(value, str):
                value = {"content": value}
            if not isinstance(value, dict):
                yield Record(number, problem="neither a JSON object nor a text")
            elif is_declaration(value):
                yield Record(number, value)
            elif "content" not in value:
                yield Record(number, problem=f"no content{nearest_key(value)}")
            else:
                yield Record(number, value)


def nearest_key(value: dict[str, Any]) -> str:
    """Return a hint for an object that calls its content something else.

    Examples
    --------
    >>> nearest_key({"contents": "Tea."})
    '; its key contents should be content'
    """
    for key in value:
        if key in ("text", "memory", "body", "message") or nearest(key, ["content"]):
            return f"; its key {key} should be content"
    return ""


def _placed(blocks: Iterator[tuple[int, dict[str, Any]]], name: str, link: str) -> Iterator[Record]:
    for position, (line, fields) in enumerate(blocks):
        yield Record(line, {**fields, "source": {"session": name, "position": position, "link": link}})


def _text(text: str, split: str) -> Iterator[tuple[int, dict[str, Any]]]:
    lines: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if split == "lines" or not line.strip():
            if lines:
                yield number - len(lines), {"content": "\n".join(lines).strip()}
            lines = []
            if line.strip():
                yield number, {"content": line.strip()}
        else:
            lines.append(line)


def _markdown(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    trail: list[tuple[int, str]] = []
    block: list[str] = []
    fence, item = "", False

    def ended(number: int) -> Iterator[tuple[int, dict[str, Any]]]:
        content = "\n".join(block).strip()
        if content:
            fields: dict[str, Any] = {"content": content}
            titles = [title for _, title in trail]
            if titles:
                fields["metadata"] = {"heading": " › ".join(titles)}
                days = [title for title in titles if _DAY.fullmatch(title)]
                if days:
                    fields["valid_from"] = days[-1]
            yield number - len(block), fields
        block.clear()

    for number, line in enumerate([*_after_front_matter(text), ""], 1):
        opened = _FENCE.match(line)
        if fence:
            block.append(line)
            if opened and opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                yield from ended(number + 1)
                fence, item = "", False
            continue
        if opened:
            fence = opened[1]
            block.append(line)
            continue
        heading, begun = _HEADING.fullmatch(line), _ITEM.match(line)
        if len(block) == 1 and not item and (under := _UNDERLINE.fullmatch(line)):
            depth, title = 1 if under[1][0] == "=" else 2, block.pop().strip()
            trail = [*(each for each in trail if each[0] < depth), (depth, title)]
        elif heading:
            yield from ended(number)
            depth = len(heading[1])
            trail = [*(each for each in trail if each[0] < depth), (depth, heading[2])]
            item = False
        elif not line.strip() or _RULE.fullmatch(line):
            yield from ended(number)
            item = False
        elif begun:
            yield from ended(number)
            block.append(begun[1])
            item = True
        else:
            block.append(line)
    yield from ended(number + 1)


def _after_front_matter(text: str) -> list[str]:
    """Return the lines, those of a block of settings at the top made blank, so that numbers stay right."""
    lines = text.split("\n")
    if lines[0].strip() == "---" and "---" in (rest := [line.strip() for line in lines[1:]]):
        end = rest.index("---") + 2
        return [""] * end + lines[end:]
    return lines
