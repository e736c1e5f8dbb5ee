"""What a browser sent: the fields of an address or a form, read strictly.

A field that is empty counts as not given, as a form sends every field it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import parse_qsl

from memorata.model.errors import InvalidArgument

MOST_FIELDS: Final = 2_000
_BETWEEN: Final = re.compile(r"(?<!\\),")


def joined(parts: Iterable[str]) -> str:
    r"""Return parts as a field holds them, with commas between.

    Examples
    --------
    >>> print(joined(["Keller, Anna", "Bob"]))
    Keller\, Anna, Bob
    """
    return ", ".join(part.replace(",", "\\,") for part in parts)


class Values(Mapping[str, Sequence[str]]):
    """The fields by name, each with its values in the order they were sent.

    Examples
    --------
    >>> values = Values.of("q=green+tea&tag=a&tag=b&speaker=")
    >>> values.text("q"), values.texts("tag"), values.text("speaker", "anybody")
    ('green tea', ('a', 'b'), 'anybody')
    """

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = {name: tuple(values) for name, values in fields.items()}

    @classmethod
    def of(cls, written: str | bytes) -> Values:
        """Read fields as addresses and forms write them."""
        try:
            text = written.decode("ascii") if isinstance(written, bytes) else written
            pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
        except ValueError as error:
            raise InvalidArgument(
                "form", written[:40], "at most 2,000 fields of well-formed UTF-8"
            ) from error
        fields: dict[str, list[str]] = {}
        for name, value in pairs:
            # Browsers end lines with two characters; a memory says what was said.
            fields.setdefault(name, []).append(value.replace("\r\n", "\n"))
        return cls(fields)

    def __getitem__(self, name: str) -> Sequence[str]:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def text(self, name: str, default: str = "") -> str:
        """Return the last value of a field, without space around it; `default` if there is none."""
        values = self._fields.get(name, ())
        return (values[-1].strip() if values else "") or default

    def texts(self, name: str) -> tuple[str, ...]:
        """Return every value of a field that is not blank."""
        return tuple(value for value in self._fields.get(name, ()) if value.strip())

    def listed(self, name: str) -> tuple[str, ...]:
        """Return the parts of a field between commas; one behind a backslash is part of a part.

        Examples
        --------
        >>> Values({"tags": ["tea, green,"]}).listed("tags")
        ('tea', 'green')
        >>> Values({"entities": [joined(["Keller, Anna", "Bob"])]}).listed("entities")
        ('Keller, Anna', 'Bob')
        """
        parts = (part.replace("\\,", ",").strip() for part in _BETWEEN.split(self.text(name)))
        return tuple(part for part in parts if part)

    def whole(self, name: str, default: int, low: int = 0, high: int = 1_000_000) -> int:
        """Return a whole number in a range."""
        text = self.text(name)
        if not text:
            return default
        expected = f"a whole number from {low} to {high}"
        try:
            number = int(text)
        except ValueError as error:
            raise InvalidArgument(name, text, expected) from error
        if not low <= number <= high:
            raise InvalidArgument(name, text, expected)
        return number

    def number(self, name: str, default: float | None = None) -> float | None:
        """Return a number; what is not finite is left to those who use it, who refuse it."""
        text = self.text(name)
        if not text:
            return default
        try:
            return float(text)
        except ValueError as error:
            raise InvalidArgument(name, text, "a number") from error

    def flag(self, name: str) -> bool:
        """Return whether a box is ticked."""
        return self.text(name) in ("true", "on", "1")

    def instant(self, name: str, *, end: bool = False) -> datetime | None:
        """Return a moment; without a zone it is in UTC, and a day is its midnight, or with `end` the next.

        Examples
        --------
        >>> Values.of("since=2026-05-07").instant("since").isoformat()
        '2026-05-07T00:00:00+00:00'
        """
        text = self.text(name)
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
            if end and "T" not in text and " " not in text:
                moment += timedelta(days=1)
        except (ValueError, OverflowError) as error:
            raise InvalidArgument(name, text, "a day such as 2026-05-07, or a time of ISO 8601") from error
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
