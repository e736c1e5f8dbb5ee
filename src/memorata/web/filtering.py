"""The fields of a form that narrow down which memories are meant, as a filter of the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from memorata.engine import Engine
from memorata.model.errors import EntityNotFound, InvalidArgument
from memorata.model.memory import Tier
from memorata.web.values import Values

FIELDS: Final = (
    "text", "category", "tier", "speaker", "session", "tag", "entity", "since", "until", "filter",
)  # fmt: skip
Spelt: TypeAlias = Callable[[str], Sequence[str]]
TIERS: Final = tuple(tier.value for tier in Tier)


def filter_of(values: Values, spelt: Spelt = lambda name: (name,)) -> dict[str, Any] | None:
    """Return the filter that a form describes; None if it asks for nothing.

    Parameters
    ----------
    values
        The fields of the form.
    spelt
        Returns every way to write a name.

    Examples
    --------
    >>> filter_of(Values.of("category=event&tag=food&speaker="))
    {'and': [{'category': 'event'}, {'tags': {'all': ['food']}}]}
    """
    equal = ("category", "tier", "speaker", "session")
    conditions: list[dict[str, Any]] = [{name: values.text(name)} for name in equal if values.text(name)]
    if values.text("text"):
        conditions.append({"content": {"contains": values.text("text")}})
    if values.listed("tag"):
        conditions.append({"tags": {"all": list(values.listed("tag"))}})
    conditions += [{"entities": {"any": list(spelt(name))}} for name in values.listed("entity")]
    since, until = values.instant("since"), values.instant("until", end=True)
    if since is not None:
        conditions.append({"created_at": {">=": since.isoformat()}})
    if until is not None:
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
            known = engine.entities.get(name, namespace=namespace)
        except EntityNotFound:
            return (name,)
        return tuple(dict.fromkeys((name, known.entity.name, *known.entity.aliases, *known.merged)))

    return spelt


def kept(values: Values) -> dict[str, str]:
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
