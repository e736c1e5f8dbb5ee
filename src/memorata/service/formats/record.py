"""Records of a file, one memory, entity or relation each, and the readers of JSON Lines and of text.

Memorata's own format, which ``memorata export`` writes, is a JSON object per line, each a record. A line that
is just a text is a memory that says that. Plain text and Markdown give a record for each paragraph or line,
list item and code block. Markdown is CommonMark as far as it matters here: headings of both kinds, fences,
list items, rules; front matter is left out. A heading that is a day, ``2026-05-07``, says when what stands
below it was true.
"""

from __future__ import annotations

import difflib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from memorata._frozen import frozen

DECLARATIONS: Final = ("entity", "relation")
"""What a record may be about instead of a memory."""
_FAMILY: Final = uuid.UUID("6d1f5b0a-6a55-5c54-9f43-2f0b6a4f7f10")


@frozen
class Record:
    """A memory, entity or relation of a file, or why it is left out.

    - `line`: where it begins, from 1: a line, or for a file that is one JSON value the number of its part.
    - `fields`: the fields of the memory, entity or relation as JSON; empty for what is left out.
    - `problem`: what is wrong with it; empty for what can be read.
    - `skipped`: why it is left out though nothing is wrong with it; empty for what is not.
    - `where`: where it stands, in words, if not simply in a line.
    """

    line: int
    fields: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    skipped: str = ""
    where: str = ""

    @property
    def place(self) -> str:
        """Where it stands, in words."""
        return self.where or f"line {self.line}"


@frozen
class Reading:
    """The records of a file, and how many lines or parts it has in all."""

    total: int
    records: Iterator[Record]


@frozen
class FileHead:
    """The beginning of a file of JSON: its first bytes, and the value of its first line, None for no JSON."""

    data: bytes
    line: Any

    @property
    def is_record(self) -> bool:
        """Whether the first line is a record of Memorata's own format."""
        line = self.line
        if not isinstance(line, dict):
            return False
        return is_declaration(line) or "content" in line or isinstance(line.get("text"), str)


@frozen
class FileFormat:
    """A format of files that a satellite adds.

    - `read`: returns the records of a file.
    - `matches`: returns whether a file that begins so has this format.
    - `redacted`: whether secrets are taken out of its records unless settings say otherwise.
    """

    read: Callable[[bytes], Reading]
    matches: Callable[[FileHead], bool]
    redacted: bool = False


@dataclass(slots=True)
class Notes:
    """What was left out and what could not be read, each with its place, and how many failed in all."""

    skipped: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)
    failed: int = 0


def stable_id(*parts: object) -> str:
    """Return an id that is the same whenever the same is read, and another for anything else."""
    return str(uuid.uuid5(_FAMILY, json.dumps(parts, sort_keys=True)))


def text_id(name: str, fields: Mapping[str, Any], number: int) -> str:
    """Return the id of a record without one: by its file's name, its fields and their count so far."""
    return str(uuid.uuid5(_FAMILY, f"{number} {json.dumps([name, fields], sort_keys=True)}"))


def is_declaration(data: Mapping[str, Any]) -> bool:
    """Return whether an object of an export is about an entity or a relation, and no memory."""
    return "content" not in data and data.get("kind") in DECLARATIONS


def parse_json(data: bytes) -> tuple[Any, Record | None]:
    """Return the value of a file, or why it cannot be read."""
    try:
        return json.loads(data.decode("utf-8-sig")), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = f"not UTF-8 at byte {error.start + 1} of the file; nothing of it was read"
        return None, Record(line, problem=problem)
    except json.JSONDecodeError as error:
        ends = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
        short = "the file may be cut short, and " if ends else ""
        problem = f"not JSON: {error.msg} at character {error.pos + 1}; {short}nothing of it was read"
        return None, Record(error.lineno, problem=problem)
    except (ValueError, RecursionError) as error:
        return None, Record(1, problem=f"not JSON that can be read: {error}; nothing of it was read")


def chat_fields(
    id_: str,
    content: str,
    source: dict[str, Any],
    created_at: object = None,
    *,
    title: str = "",
    category: str = "message",
) -> dict[str, Any]:
    """Return the fields of a message as a memory; `created_at` counts if it is a text."""
    fields: dict[str, Any] = {
        "id": id_,
        "content": content,
        "category": category,
        "tier": "episodic",
        "source": source,
    }
    if title:
        fields["metadata"] = {"title": title}
    if isinstance(created_at, str) and created_at:
        fields["created_at"] = created_at
    return fields


_TEXT_BLOCKS: Final = ("text", "input_text", "output_text")


def text_of(content: object) -> str:
    """Return the text of a message: a string, or the texts among its blocks."""
    if isinstance(content, str):
        return content.strip()
    texts = [
        block["text"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict)
        and block.get("type") in _TEXT_BLOCKS
        and isinstance(block.get("text"), str)
    ]
    return "\n".join(text for text in texts if text.strip()).strip()


def json_lines(data: bytes) -> Iterator[tuple[int, Any, str]]:
    """Yield the number of every line that is not blank, its JSON value, and what is wrong with it."""
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if raw.strip():
            yield number, *_parse_line(raw)


def jsonl_records(data: bytes) -> Iterator[Record]:
    """Yield the records of the lines; ids are those that they bring."""
    for number, value, problem in json_lines(data):
        yield _line_record(number, value, problem)


def jsonl_record(number: int, raw: bytes) -> Record:
    """Return the record of one line."""
    return _line_record(number, *_parse_line(raw))


def _parse_line(raw: bytes) -> tuple[Any, str]:
    """Return the JSON value of a line, and what is wrong with it."""
    try:
        return json.loads(raw.decode()), ""
    except UnicodeDecodeError:
        return None, "not UTF-8"
    except json.JSONDecodeError as error:
        return None, f"not JSON: {error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        return None, f"not JSON that can be read: {error}"


def _line_record(number: int, value: Any, problem: str) -> Record:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        value = {"content": value}
    if problem:
        return Record(number, problem=problem)
    if not isinstance(value, dict):
        return Record(number, problem="neither a JSON object nor a text")
    if is_declaration(value):
        return Record(number, value)
    for key, name in _OTHER_KEYS.items():
        if key in value and name not in value:
            value[name] = value.pop(key)
    if "content" in value:
        return Record(number, value)
    return Record(number, problem=f"no content{nearest_key(value)}")


_OTHER_KEYS: Final = {"text": "content", "time": "created_at"}


def nearest_key(value: dict[str, Any]) -> str:
    """Return a hint for an object that calls its content something else."""
    for key in value:
        if key in ("memory", "body", "message") or difflib.get_close_matches(key, ["content"]):
            return f"; its key {key} should be content"
    return ""


_HEADING: Final = re.compile(r"(#{1,6})\s+(.*)")
_UNDERLINE: Final = re.compile(r"(={3,}|-{3,})\s*")
_RULE: Final = re.compile(r"\s*([-*_])(\s*\1){2,}\s*")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(.*)")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def decoded(data: bytes) -> tuple[str, Record | None]:
    """Return a file's text with plain line ends, or what is wrong with it."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", Record(
            line, problem=f"not UTF-8 at byte {error.start + 1} of the file; nothing of it was read"
        )


def paragraphs(text: str, split: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line at which each paragraph (or line) begins, and the fields of its memory."""
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


def markdown_blocks(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line at which each block begins, and the fields of its memory."""
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
            trail = [*(level for level in trail if level[0] < depth), (depth, title)]
        elif heading:
            yield from ended(number)
            depth = len(heading[1])
            title = heading[2].rstrip().rstrip("#").rstrip()
            trail = [*(level for level in trail if level[0] < depth), (depth, title)]
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
