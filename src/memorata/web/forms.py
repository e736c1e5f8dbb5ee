"""The fields of an address or a form, read strictly, and the filter that they describe.

A field that is empty counts as absent, because a form sends every field it has.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.model.errors import EntityNotFound, InvalidArgument
from memorata.model.memory import Tier

MAX_FIELDS: Final = 2_000
_MAX_READ: Final = 500
_MAX_CHOICES: Final = 60
_CHOICE_FIELDS: Final = ("category", "speaker", "session", "tag", "place")
_BETWEEN: Final = re.compile(r"(?<!\\),")


def joined(parts: Iterable[str]) -> str:
    r"""Return parts as a field holds them, with commas between."""
    return ", ".join(part.replace(",", "\\,") for part in parts)


class Values(Mapping[str, Sequence[str]]):
    """The fields by name, each with its values in the order they were sent."""

    def __init__(self, fields: Mapping[str, Sequence[str]]) -> None:
        self._fields = {name: tuple(values) for name, values in fields.items()}

    @classmethod
    def of(cls, written: str | bytes) -> Values:
        """Read fields as addresses and forms write them."""
        try:
            text = written.decode("ascii") if isinstance(written, bytes) else written
            pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
        except ValueError as error:
            raise InvalidArgument(
                "form", written[:40], "at most 2,000 fields of well-formed UTF-8"
            ) from error
        fields: dict[str, list[str]] = {}
        for name, value in pairs:
            # Browsers end lines with two characters; a memory keeps the text as it was typed.
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
        """Return the parts of a field between commas; one behind a backslash is part of a part."""
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
        """Return a number; one that is not finite is left to the caller to refuse."""
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
        """Return a moment; without a zone it is in UTC, and a day is its midnight, or with `end` the next."""
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


FIELDS: Final = (
    "text", "category", "tier", "speaker", "session", "tag", "entity", "since", "until", "filter",
)  # fmt: skip
Spelt: TypeAlias = Callable[[str], Sequence[str]]
TIERS: Final = tuple(tier.value for tier in Tier)


def filter_of(
    values: Values, spelt: Spelt = lambda name: (name,), *, times: bool = True
) -> dict[str, Any] | None:
    """Return the filter that a form describes, None if it is empty; `spelt` returns spellings of a name.

    Without `times`, since and until are left to the caller.
    """
    equal = ("category", "tier", "speaker", "session")
    conditions: list[dict[str, Any]] = [{name: values.text(name)} for name in equal if values.text(name)]
    if values.text("text"):
        conditions.append({"content": {"contains": values.text("text")}})
    if values.listed("tag"):
        conditions.append({"tags": {"all": list(values.listed("tag"))}})
    conditions += [{"entities": {"any": list(spelt(name))}} for name in values.listed("entity")]
    since, until = values.instant("since"), values.instant("until", end=True)
    if times and since is not None:
        conditions.append({"created_at": {">=": since.isoformat()}})
    if times and until is not None:
        conditions.append({"created_at": {"<": until.isoformat()}})
    if values.text("filter"):
        conditions.append(_read(values.text("filter")))
    return {"and": conditions} if conditions else None


def spellings(engine: Engine, namespace: str) -> Spelt:
    """Return what returns every way to write a name in a namespace: its own, and those read as it.

    A memory keeps names as they were said, so that one merged or called by an alias is found by no other.
    """

    def spelt(name: str) -> Sequence[str]:
        try:
            record = engine.entities.get(name, namespace=namespace)
        except EntityNotFound:
            return (name,)
        return tuple(dict.fromkeys((name, record.entity.name, *record.entity.aliases, *record.merged)))

    return spelt


@frozen
class Choices:
    """The values that a field can be narrowed down to, most frequent first; `all`: there are no others."""

    values: tuple[str, ...]
    all: bool


def choices(engine: Engine, namespace: str) -> dict[str, Choices]:
    """Return for each field of a filter what the newest memories of a namespace have in it."""
    page = engine.list(namespace=namespace, limit=_MAX_READ)
    counts: dict[str, Counter[str]] = {name: Counter() for name in _CHOICE_FIELDS}
    for memory in page.memories:
        counts["category"][memory.category] += 1
        counts["speaker"][memory.source.speaker] += 1
        counts["session"][memory.source.session] += 1
        counts["tag"].update(memory.tags)
        # "Graça, Lisbon" is in Graça and in Lisbon.
        counts["place"].update(() if memory.place is None else map(str.strip, memory.place.name.split(",")))
    by_field = {
        name: Choices(
            tuple(value for value, _ in count.most_common(_MAX_CHOICES) if value), page.cursor is None
        )
        for name, count in counts.items()
    }
    return by_field | {"entity": Choices(entity_names(engine, namespace), False)}


def entity_names(engine: Engine, namespace: str) -> tuple[str, ...]:
    """Return the names that most memories of a namespace mention."""
    names = engine.entities.list(limit=_MAX_CHOICES, namespace=namespace)
    return tuple(name.entity.name for name in names)


def filter_fields(values: Values) -> dict[str, str]:
    """Return the fields that narrow down, to be carried to the next page."""
    return {name: values.text(name) for name in FIELDS if values.text(name)}


def filled(values: Values) -> dict[str, str]:
    """Return every field that narrows down, as it was filled in; empty if it was not."""
    return {name: values.text(name) for name in FIELDS}


def _read(text: str) -> dict[str, Any]:
    expected = 'a filter as JSON, such as {"confidence": {">=": 0.5}}'
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument("filter", text, expected) from error
    if not isinstance(data, dict):
        raise InvalidArgument("filter", text, expected)
    return data
