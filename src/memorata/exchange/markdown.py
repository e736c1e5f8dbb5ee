"""Markdown as records: one for each paragraph, list item and code block, with the headings above it.

A heading that is a day, ``2026-05-07``, says when what stands below it was true. The format is CommonMark as
far as it matters here: headings of both kinds, fences, list items, rules; front matter is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_UNDERLINE: Final = re.compile(r"(={3,}|-{3,})\s*")
_RULE: Final = re.compile(r"\s*([-*_])(\s*\1){2,}\s*")
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(.*)")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def blocks(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    r"""Yield the line at which each block begins, and the fields of its memory.

    Examples
    --------
    >>> list(blocks("# Drinks\n- Tea."))
    [(2, {'content': 'Tea.', 'metadata': {'heading': 'Drinks'}})]
    """
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
