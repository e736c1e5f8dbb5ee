"""Plain text as records: one for each paragraph, or for each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memorata.exchange.record import Record


def decoded(data: bytes) -> tuple[str, Record | None]:
    r"""Return a file's text with plain line ends, or what is wrong with it.

    Examples
    --------
    >>> decoded(b"tea\r\n")
    ('tea\n', None)
    >>> decoded(b"caf\xe9")[1].problem
    'not UTF-8 at byte 4 of the file; nothing of it was read'
    """
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"), None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return "", Record(
            line, problem=f"not UTF-8 at byte {error.start + 1} of the file; nothing of it was read"
        )


def blocks(text: str, split: str) -> Iterator[tuple[int, dict[str, Any]]]:
    r"""Yield the line at which each paragraph (or line) begins, and the fields of its memory.

    Examples
    --------
    >>> list(blocks("Tea.\n\nMilk.", "paragraphs"))
    [(1, {'content': 'Tea.'}), (3, {'content': 'Milk.'})]
    """
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
