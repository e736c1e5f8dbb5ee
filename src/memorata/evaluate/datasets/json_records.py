"""The records of a JSON file, one at a time: the items of an array, or the lines of JSON Lines.

LongMemEval-M is an array of 2.7 GB, so arrays are not read whole: a window slides over the text, and holds
little more than the record that is being parsed.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from memorata.evaluate.datasets.record import Record
from memorata.evaluate.datasets.source import numbered_lines, opened
from memorata.model.errors import DatasetError, shown

_BLOCK = 1 << 22
_SPACE = re.compile(r"[ \t\r\n]*")
_LONGEST_TOKEN = 16
"""No token but a string is longer than this, so an error farther from the end is not due to the cut."""


def json_records(path: Path) -> Iterator[Record]:
    r"""Yield the records of an array or of JSON Lines, whichever the first character says the file is.

    Raises
    ------
    DatasetError
        If there are no records, or where the text is not JSON, with the line.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "set.json"
    >>> _ = path.write_text('[{"id": 1},\n {"id": 2}]')
    >>> [(record.number, record.line, record.value) for record in json_records(path)]
    [(1, 1, {'id': 1}), (2, 2, {'id': 2})]
    """
    with opened(path) as stream:
        start = stream.read(_LONGEST_TOKEN)
    records = _array(path) if start.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[") else _lines(path)
    empty = True
    for record in records:
        empty = False
        yield record
    if empty:
        raise DatasetError(path, None, "holds no records")


def _lines(path: Path) -> Iterator[Record]:
    """Yield the record of every line."""
    for count, (number, line) in enumerate(numbered_lines(path), 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = f"expected a JSON record, got {shown(line)} ({error})"
            raise DatasetError(path, number, reason) from error
        yield Record(path, number, count, value)


def _array(path: Path) -> Iterator[Record]:
    """Yield the items of the array that is the whole file."""
    with opened(path) as stream:
        window = _Window(path, stream)
        window.skip("[", "the start of a list")
        number = 0
        closed = window.peek() == "]"
        while not closed:
            number += 1
            yield window.record(number)
            closed = window.peek() == "]"
            if not closed:
                window.skip(",", f"a comma or the end of the list after record {number}")
        window.skip("]", "the end of the list")
        if after := window.peek():
            raise window.error(f"expected nothing after the list, got {after!r}")


class _Window:
    """The stretch of a text that is being parsed, read on as far as the parser needs."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._parse = json.JSONDecoder().raw_decode
        self._text = ""
        self._at = 0
        self._line = 1
        self._ended = False

    def error(self, reason: str, at: int | None = None) -> DatasetError:
        """Return the error at a place of the window, by default where the parser stands."""
        line = self._line + self._text.count("\n", self._at, self._at if at is None else at)
        return DatasetError(self._path, line, reason)

    def peek(self) -> str:
        """Return the next character that is not space, or nothing at the end of the file."""
        while True:
            self._advance(_SPACE.match(self._text, self._at).end())  # type: ignore[union-attr]
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read_on()

    def skip(self, mark: str, expected: str) -> None:
        """Pass over a mark that must come next."""
        found = self.peek()
        if found != mark:
            raise self.error(f"expected {expected}, got {repr(found) if found else 'the end of the file'}")
        self._advance(self._at + 1)

    def record(self, number: int) -> Record:
        """Parse the next value."""
        self.peek()
        while True:
            try:
                value, end = self._parse(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos >= len(self._text) - _LONGEST_TOKEN
                if self._ended or not cut:
                    reason = f"record {number} is not JSON: {error.msg}, got {self._near(error.pos)}"
                    raise self.error(reason, error.pos) from error
                self._read_on()
            except (ValueError, RecursionError) as error:
                raise self.error(f"record {number} is not JSON that can be read ({error})") from error
            else:
                record = Record(self._path, self._line, number, value)
                self._advance(end)
                return record

    def _advance(self, to: int) -> None:
        self._line += self._text.count("\n", self._at, to)
        self._at = to

    def _near(self, at: int) -> str:
        return shown(self._text[at : at + 40]) if at < len(self._text) else "the end of the file"

    def _read_on(self) -> None:
        """Let go of what has been parsed, and read at least as much as is left: long records, few reads."""
        rest = self._text[self._at :]
        raw = self._stream.read(max(_BLOCK, len(rest)))
        try:
            self._text = rest + self._decode(raw, not raw)
        except UnicodeDecodeError as error:
            sound = rest + raw[: error.start].decode(errors="replace")
            reason = f"not UTF-8 text ({error.reason})"
            raise DatasetError(self._path, self._line + sound.count("\n"), reason) from error
        self._at = 0
        self._ended = not raw
