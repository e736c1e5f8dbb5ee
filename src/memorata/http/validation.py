"""What a request brings that nothing here knows: a misspelt name is told of, with what may have been meant.

A name that is ignored gives an answer that looks right and is not: `?limitt=5` would be all there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel

from memorata.model.checks import nearest

ON_EVERY_REQUEST: Final = "namespace"
"""A client may say once, for all it asks, whose memories it means: what is about none has no use for it."""
_MOST_FAULTS: Final = 20
_MOST_LETTERS: Final = 100
"""An address may hold ten thousand names, or one as long: to find what each is like would take seconds."""


async def check_query(request: Request) -> None:
    """Refuse a request whose address has a parameter that its route does not know, or one value too many."""
    if not request.url.query:
        return
    route: Any = request.scope["route"]
    # Which parameters there are, and whether each may have several values.
    known = {ON_EVERY_REQUEST: False} | dict(_parameters(route.dependant))
    given = Counter(name for name, _ in request.query_params.multi_items())
    wrong = (name for name, count in given.items() if name not in known or (count > 1 and not known[name]))
    faults = [
        {
            "type": "unknown",
            "loc": ("query", name),
            "msg": f"given {given[name]} times, and it has one value: leave the others out"
            if name in known
            else _unknown("parameter", name, known),
        }
        for name in islice(wrong, _MOST_FAULTS)
    ]
    if faults:
        raise RequestValidationError(faults)


def unknown_field(request: Request, place: Sequence[int | str]) -> str:
    """Return what to say of a field of the body that its shape does not have.

    Parameters
    ----------
    request
        What brought it.
    place
        Where it stands: ``("body", "items", 0, "tag")``.
    """
    body = getattr(request.scope["route"], "body_field", None)
    shape = None if body is None else _shape(body.field_info.annotation)
    *way, name = [step for step in place[1:] if isinstance(step, str)]
    for step in way:
        field = None if shape is None else shape.model_fields.get(step)
        shape = None if field is None else _shape(field.annotation)
    return _unknown("field", name, () if shape is None else shape.model_fields)


def _unknown(kind: str, name: str, known: Collection[str]) -> str:
    there = f"; there is {', '.join(sorted(known))}" if known else ""
    if kind == "field" and name == ON_EVERY_REQUEST:
        return "whose memories are meant is said in the address: ?namespace=acme/alice"
    return f"there is no such {kind} here" + (nearest(name[:_MOST_LETTERS], known) or there)


def _parameters(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Yield the query parameters of a route and of what it depends on, and whether each has many values."""
    for parameter in dependant.query_params:
        yield parameter.alias, _holds_many(parameter.field_info.annotation)
    for needed in dependant.dependencies:
        yield from _parameters(needed)


def _holds_many(kind: Any) -> bool:  # noqa: ANN401 - any annotation
    if get_origin(kind) in (Union, UnionType):
        return any(map(_holds_many, get_args(kind)))
    return get_origin(kind) is list


def _shape(kind: Any) -> type[BaseModel] | None:  # noqa: ANN401 - any annotation
    """Return the model that an annotation names, inside of lists and options too."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next(filter(None, map(_shape, get_args(kind))), None)
