"""Files of data sets, runs and labels as they lie on disk: opened, read by line or JSON record, and hashed.

A file may be compressed with gzip or not; its first two bytes say which, not its name. Whatever is wrong with
it (missing, cut short, not UTF-8) becomes a :class:`~memorata.model.errors.DatasetError` that names it.
LongMemEval-M is an array of 2.7 GB, so arrays are not read whole: a window slides over the text, and holds
little more than the record that is being parsed.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from memorata.extend import frozen
from memorata.extend.errors import DatasetError, shown

_GZIP = b"\x1f\x8b"
_BLOCK_BYTES = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its bytes, uncompressed if need be; what goes wrong names the file."""
    try:
        with path.open("rb") as raw:
            compressed = raw.read(2) == _GZIP
            raw.seek(0)
            if not compressed:
                yield raw
                return
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast("BinaryIO", unpacked)
    except EOFError as error:
        raise DatasetError(path, None, "the gzip file is cut short: fetch it again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DatasetError(path, None, f"the gzip file is damaged ({error}): fetch it again") from error
    except OSError as error:
        raise DatasetError(path, None, f"cannot be read ({error.strerror or error})") from error


def numbered_lines(path: str | PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield every line that is not blank with its number from 1, without its end.

    Only a line feed (after a carriage return or not) ends a line; the other separators of Unicode may occur
    in texts.
    """
    with opened(Path(path)) as stream:
        for number, line in enumerate(stream, 1):
            try:
                text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode()
            except UnicodeDecodeError as error:
                reason = f"not UTF-8 text: {error.reason} at byte {error.start}"
                raise DatasetError(path, number, reason) from error
            if text.strip():
                yield number, text.rstrip("\r\n")


def sha256_of(files: Mapping[str, Path]) -> str:
    r"""Return the hash of the one file, or of a list of the hashes of several.

    The list has a line ``HASH  NAME\n`` for each file, sorted by name, as ``sha256sum`` would print it.
    """
    hashes = {name: _sha256(path) for name, path in files.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    listing = "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))
    return hashlib.sha256(listing.encode()).hexdigest()


def _sha256(path: Path) -> str:
    """Return the hash of a file's bytes, still compressed if it is."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as raw:
            while block := raw.read(_BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise DatasetError(path, None, f"cannot be read ({error.strerror or error})") from error
    return digest.hexdigest()


_BLOCK_CHARACTERS = 1 << 22
_SPACE = re.compile(r"[ \t\r\n]*")
_LONGEST_TOKEN = 16
"""No token but a string is longer than this, so an error farther from the end is not due to the cut."""


def json_records(path: Path) -> Iterator[Record]:
    """Yield the records of an array or of JSON Lines, whichever the first character says the file is."""
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
        character = self.peek()
        if character != mark:
            actual = repr(character) if character else "the end of the file"
            raise self.error(f"expected {expected}, got {actual}")
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
        unread = self._text[self._at :]
        raw = self._stream.read(max(_BLOCK_CHARACTERS, len(unread)))
        try:
            self._text = unread + self._decode(raw, not raw)
        except UnicodeDecodeError as error:
            sound = unread + raw[: error.start].decode(errors="replace")
            reason = f"not UTF-8 text ({error.reason})"
            raise DatasetError(self._path, self._line + sound.count("\n"), reason) from error
        self._at = 0
        self._ended = not raw


_T = TypeVar("_T")
_NAMES = {str: "text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}


@frozen
class Record:
    """A JSON value with the way to it: file, line and number of its record, then keys and indices."""

    path: Path
    line: int | None
    number: int
    value: Any
    trail: tuple[str | int, ...] = ()

    def error(self, reason: str) -> DatasetError:
        """Return the error that says what is wrong with this piece."""
        return DatasetError(self.path, self.line, f"record {self.number}: {self._way()}{reason}")

    def child(self, key: str) -> Record:
        """Return the value under `key`, which must be there."""
        if not isinstance(self.value, dict):
            raise self.error(f"must be an object with {key!r}, got {shown(self.value)}")
        if key not in self.value:
            raise self.error(f"has no {key!r}; it has {shown(sorted(self.value))}")
        return Record(self.path, self.line, self.number, self.value[key], (*self.trail, key))

    def has(self, key: str) -> bool:
        """Return whether there is a value under `key`; null counts as none."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def at(self, index: int) -> Record:
        """Return the item of a list at `index`, which must be there."""
        items = self.a(list)
        if index >= len(items):
            raise self.error(f"must have at least {index + 1} items, got {len(items)}")
        return Record(self.path, self.line, self.number, items[index], (*self.trail, index))

    def a(self, kind: type[_T]) -> _T:
        """Return the value itself, which must be of this kind."""
        # A flag is an int to Python, but not to a reader of the file.
        if not isinstance(self.value, kind) or (isinstance(self.value, bool) and kind is not bool):
            raise self.error(f"must be {_NAMES[kind]}, got {shown(self.value)}")
        return self.value

    def words(self) -> str:
        """Return the value as text that can be written down again."""
        text = self.a(str)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self.error(f"must be text without half surrogate pairs, got {shown(text)}") from error
        return text

    def name(self) -> str:
        """Return the value as an identifier: text that is not blank, or a whole number."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        text = self.words()
        if not text.strip():
            raise self.error(f"must be an identifier, got {shown(text)}")
        return text

    def moment(self) -> datetime:
        """Return the value as an instant: ISO 8601, read as UTC where it names no zone."""
        text = self.a(str)
        try:
            when = datetime.fromisoformat(text)
        except ValueError as error:
            raise self.error(f"must be a date as in '2023-05-08T13:56:00+00:00', got {text!r}") from error
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text under `key`, or the default if there is one and the key is not there."""
        return default if default is not None and not self.has(key) else self.child(key).words()

    def flag(self, key: str, default: bool) -> bool:
        """Return the flag under `key`, or the default if it is not there."""
        return self.child(key).a(bool) if self.has(key) else default

    def items_of(self, key: str) -> Iterator[Record]:
        """Yield the items of the list under `key`."""
        return iter(self.child(key))

    def __iter__(self) -> Iterator[Record]:
        """Yield the items of this list."""
        for index, item in enumerate(self.a(list)):
            yield Record(self.path, self.line, self.number, item, (*self.trail, index))

    def _way(self) -> str:
        way = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.trail)
        return f"{way.removeprefix('.')} " if way else ""
