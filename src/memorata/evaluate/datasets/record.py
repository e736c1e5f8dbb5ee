"""A piece of a JSON data file that knows where it lies, so that what it lacks can be reported by its place.

The readers ask a record for a field by name and kind; a field that is missing, or of another kind, is a
:class:`~memorata.model.errors.DatasetError` such as ``locomo.json, line 1: record 3: qa[7].question must be
text, got 5``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from memorata._frozen import frozen
from memorata.model.errors import DatasetError, shown

_T = TypeVar("_T")
_NAMES = {str: "text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}


@frozen
class Record:
    """A JSON value with the way to it.

    Parameters
    ----------
    path, line
        The file, and the line on which the record begins.
    number
        Which record of the file it lies in, from 1.
    value
        The value itself.
    trail
        The keys and indices that lead from the record to it.

    Examples
    --------
    >>> record = Record(Path("a.json"), 1, 3, {"qa": [{"question": 5}]})
    >>> next(record.each("qa")).text("question")
    Traceback (most recent call last):
    ...
    memorata.model.errors.DatasetError: a.json, line 1: record 3: qa[0].question must be text, got 5
    """

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

    def each(self, key: str) -> Iterator[Record]:
        """Yield the items of the list under `key`."""
        return iter(self.child(key))

    def __iter__(self) -> Iterator[Record]:
        """Yield the items of this list."""
        for index, item in enumerate(self.a(list)):
            yield Record(self.path, self.line, self.number, item, (*self.trail, index))

    def _way(self) -> str:
        way = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.trail)
        return f"{way.removeprefix('.')} " if way else ""
