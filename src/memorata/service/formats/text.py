"""Plain text and Markdown as records: one for each paragraph or line, list item and code block.

Markdown is CommonMark as far as it matters here: headings of both kinds, fences, list items, rules; front
matter is left out. A heading that is a day, ``2026-05-07``, says when what stands below it was true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from memorata.service.formats.record import Record

_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
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
            trail = [*(level for level in trail if level[0] < depth), (depth, heading[2])]
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
