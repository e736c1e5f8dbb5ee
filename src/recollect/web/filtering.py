"""The fields of a form that narrow down which memories are meant, as a filter of the engine."""

from __future__ import annotations

import json
from typing import Any, Final

from recollect.model.errors import InvalidArgument
from recollect.model.memory import Tier
from recollect.web.values import Values

FIELDS: Final = (
    "text", "category", "tier", "speaker", "session", "tag", "entity", "since", "until", "filter",
)  # fmt: skip
TIERS: Final = tuple(tier.value for tier in Tier)


def filter_of(values: Values) -> dict[str, Any] | None:
    """Return the filter that a form describes; None if it asks for nothing.

    Examples
    --------
    >>> filter_of(Values.of("category=event&tag=food&speaker="))
    {'and': [{'category': 'event'}, {'tags': {'all': ['food']}}]}
    """
    equal = ("category", "tier", "speaker", "session")
    conditions: list[dict[str, Any]] = [{name: values.text(name)} for name in equal if values.text(name)]
    if values.text("text"):
        conditions.append({"content": {"contains": values.text("text")}})
    for name, field in (("tag", "tags"), ("entity", "entities")):
        if values.listed(name):
            conditions.append({field: {"all": list(values.listed(name))}})
    since, until = values.instant("since"), values.instant("until", end=True)
    if since is not None:
        conditions.append({"created_at": {">=": since.isoformat()}})
    if until is not None:
        conditions.append({"created_at": {"<": until.isoformat()}})
    if values.text("filter"):
        conditions.append(_read(values.text("filter")))
    return {"and": conditions} if conditions else None


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
