"""The fields of an address or a form, read strictly, the filter that they describe, and controls of recipes.

A field that is empty counts as absent, because a form sends every field it has. A parameter that is added to
a recipe appears among the controls without a change here, in the group that its declaration names.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl

from memorata import Engine, Recipe
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import Parameter, Tier
from memorata.extend.recall import GROUPS, PARAMETERS

MAX_FIELDS: Final = 2_000
_MAX_READ: Final = 500
_MAX_CHOICES: Final = 60
_CHOICE_FIELDS: Final = ("category", "speaker", "session", "tag", "place", "entity")
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


def spellings(engine: Engine) -> Spelt:
    """Return what returns every way to write a name in a namespace: its own, and those read as it.

    A memory keeps names as they were said, so that one merged or called by an alias is found by no other.
    """
    names = engine.runtime.names.of(engine.namespace)

    def spelt(name: str) -> Sequence[str]:
        key = names.key(name)
        entity = names.entity(key, name)
        return tuple(dict.fromkeys((name, entity.name, *entity.aliases, *names.merged(key))))

    return spelt


@frozen
class Choices:
    """The values that a field can be narrowed down to, most frequent first; `all`: there are no others."""

    values: tuple[str, ...]
    all: bool


def choices(engine: Engine) -> dict[str, Choices]:
    """Return for each field of a filter what the newest memories of a namespace have in it."""
    page = engine.list(limit=_MAX_READ)
    counts: dict[str, Counter[str]] = {name: Counter() for name in _CHOICE_FIELDS}
    for memory in page.memories:
        counts["category"][memory.category] += 1
        counts["speaker"][memory.source.speaker] += 1
        counts["session"][memory.source.session] += 1
        counts["tag"].update(memory.tags)
        counts["entity"].update(memory.entities)
        # "Graça, Lisbon" is in Graça and in Lisbon.
        counts["place"].update(() if memory.place is None else map(str.strip, memory.place.name.split(",")))
    return {
        name: Choices(
            tuple(value for value, _ in count.most_common(_MAX_CHOICES) if value), page.cursor is None
        )
        for name, count in counts.items()
    }


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


_STEPS: Final = 100
_TOLERANCE: Final = 1e-6
_FIRST_PARAMETERS: Final = ("vector_weight", "least_match")
"""What most people turn, shown beside the recipe; the rest waits behind "Tune"."""


@frozen
class Control:
    """One parameter as a ``"range"``, a ``"switch"`` or a ``"choice"``; values are as a form sends them."""

    name: str
    label: str
    doc: str
    kind: str
    value: str
    default: str
    low: str = ""
    high: str = ""
    step: str = ""
    choices: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether it is set to something else than the recipe says."""
        return self.value != self.default


@frozen
class Group:
    """Controls that belong together."""

    title: str
    controls: tuple[Control, ...]

    @property
    def changed(self) -> int:
        """How many of them are set to something else than the recipe says."""
        return sum(control.changed for control in self.controls)


def controls(recipe: Recipe, changes: Mapping[str, Any]) -> tuple[Group, ...]:
    """Return every control for a recipe of which some parameters are changed, in groups."""
    parameters = {parameter.name: parameter for parameter in PARAMETERS}
    groups: dict[str, Sequence[str]] = {"": _FIRST_PARAMETERS} | {
        group: [
            name
            for name, parameter in parameters.items()
            if parameter.group == group and name not in _FIRST_PARAMETERS
        ]
        for group in GROUPS
    }
    shown = [
        Group(title, tuple(_control(parameters[name], recipe, changes) for name in names))
        for title, names in groups.items()
    ]
    return tuple(group for group in shown if group.controls)


def read_changes(recipe: Recipe, fields: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the parameters that a form sets to something else than the recipe says.

    A switch that is off is not sent by a browser, so a form says with a hidden field of the same name and
    the text ``false`` that it has one; the last of two values counts.
    """
    changes: dict[str, Any] = {}
    for parameter in PARAMETERS:
        texts = fields.get(parameter.name)
        if texts:
            value = _value(parameter, texts[-1])
            # As a form writes it: 3/7 does not become a change by having been on a page.
            if written(value) != written(getattr(recipe, parameter.name)):
                changes[parameter.name] = value
    # The recipe refuses what cannot be, in its own words.
    recipe.changed(changes)
    return changes


def written(value: object) -> str:
    """Return a parameter's value as a form sends it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _control(parameter: Parameter, recipe: Recipe, changes: Mapping[str, Any]) -> Control:
    default = getattr(recipe, parameter.name)
    value = changes.get(parameter.name, default)
    label = parameter.name.replace("_", " ").capitalize()
    texts = (parameter.name, label, parameter.doc)
    if parameter.choices:
        return Control(*texts, "choice", written(value), written(default), choices=parameter.choices)
    if parameter.type is bool:
        return Control(*texts, "switch", written(value), written(default))
    low, high = parameter.low or 0, parameter.high or 0
    return Control(
        *texts,
        "range",
        written(value),
        written(default),
        written(float(low)),
        written(float(high)),
        _step(parameter, float(low), float(high), float(value)),
    )


def _step(parameter: Parameter, low: float, high: float, value: float) -> str:
    if parameter.type is int:
        return "1"
    step = (high - low) / _STEPS
    along = (value - low) / step
    # A slider snaps to its steps, which would change a recipe's 3/7 before it is moved.
    return written(step) if abs(along - round(along)) < _TOLERANCE else "any"


def _value(parameter: Parameter, text: str) -> object:
    if parameter.choices:
        return text
    if parameter.type is bool:
        if text not in ("true", "false"):
            raise InvalidArgument(parameter.name, text, "true or false")
        return text == "true"
    try:
        return int(text) if parameter.type is int else float(text)
    except ValueError as error:
        kind = "a whole number" if parameter.type is int else "a number"
        raise InvalidArgument(parameter.name, text, kind) from error
