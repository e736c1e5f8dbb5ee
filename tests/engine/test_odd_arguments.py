"""Odd arguments of every public verb: a typed error or an answer, never anything else."""

import inspect
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import repeat
from typing import Any

import numpy as np
import pytest

import memorata
from memorata.engine.admin import Admin
from memorata.engine.engine import Engine
from memorata.model.errors import InvalidArgument, MemorataError

ODD: tuple[Any, ...] = (
    *("\ud800", ["\ud800"], {"\ud800": 1}, b"x", "", "\x00", "2026-13-45", "9999-12-31T23:59:59Z"),
    *(2**63, 10**30, -(2**63), float("nan"), 1e308, -0.0, True, None),
    *(np.array([1, 2]), np.array(3), {"a": np.array([1])}, [[1]], range(3), {"a"}, object()),
)
OBJECTS = {"clock", "write", "damaged"}
"""Functions that a caller passes."""
FILES = {"backup"}
INNER = {"runtime", "recall_log", "dedupe_mode", "recipe"}
DETAILS = (
    *("key", "category", "tags", "entities", "source", "metadata", "tier", "confidence", "importance"),
    *("valid_from", "happened_at", "expires_at", "place", "id", "supersedes", "unknown"),
)


def verbs(engine: Engine) -> Iterator[tuple[str, Callable[..., Any]]]:
    for owner in facets(engine):
        for name, _ in inspect.getmembers(type(owner), inspect.isfunction):
            if not name.startswith("_") and name not in FILES:
                yield f"{type(owner).__name__}.{name}", getattr(owner, name)


def facets(owner: Any) -> Iterator[Any]:
    """Yield an engine, its facets, and theirs."""
    yield owner
    for name, value in inspect.getmembers(owner) if isinstance(owner, Engine | Admin) else ():
        is_facet = type(value).__module__.startswith("memorata.engine.") and not isinstance(value, Engine)
        if is_facet and not name.startswith("_") and name not in INNER:
            yield from facets(value)


def calls(verb: Callable[..., Any], id: str) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Yield a call for every parameter and odd value, with an ordinary value of every required parameter."""
    parameters = inspect.signature(verb).parameters.values()
    for odd_one in parameters:
        if odd_one.name in OBJECTS or odd_one.kind is odd_one.VAR_KEYWORD:
            continue
        for odd in ODD:
            positional: list[Any] = []
            named: dict[str, Any] = {}
            for parameter in parameters:
                if parameter is not odd_one and (
                    parameter.default is not parameter.empty
                    or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
                ):
                    continue
                value = odd if parameter is odd_one else id if parameter.name == "id" else "tea"
                if parameter.kind is parameter.KEYWORD_ONLY:
                    named[parameter.name] = value
                else:
                    positional.append(value)
            yield f"{odd_one.name}={odd!r:.40}", positional, named


def untyped(label: str, call: Callable[[], Any]) -> Iterator[str]:
    try:
        answer = call()
        if isinstance(answer, Iterator):
            next(answer, None)
    except MemorataError:
        return
    except Exception as error:
        yield f"{label}: {error!r}"


def test_every_verb_answers_odd_arguments_or_refuses_them_with_a_typed_error() -> None:
    with memorata.open(":memory:", embedder="lexical") as engine:
        id = engine.remember("Anna likes tea.").id
        found: list[str] = []
        for name, verb in verbs(engine):
            if name == "Engine.close":
                continue
            for label, positional, named in calls(verb, id):
                found += untyped(f"{name}({label})", lambda: verb(*positional, **named))  # noqa: B023
        for detail in DETAILS:
            for odd in ODD:
                written = {detail: odd}
                found += untyped(f"remember({written!r:.60})", lambda: engine.remember("Rain.", **written))  # noqa: B023
                if detail != "key":
                    found += untyped(f"put({written!r:.60})", lambda: engine.put("rain", "Rain.", **written))  # noqa: B023
        assert found == []


@pytest.mark.parametrize("many", [range(10**12), repeat("a")], ids=["range", "endless"])
def test_more_items_than_fit_are_refused_and_not_collected(many: Any) -> None:
    with memorata.open(":memory:", embedder=None) as engine, pytest.raises(InvalidArgument, match=r"^tags"):
        engine.remember("Anna likes tea.", tags=many)


def test_a_range_is_no_vector_that_fits() -> None:
    with (
        memorata.open(":memory:", embedder="lexical") as engine,
        pytest.raises(InvalidArgument, match="vector"),
    ):
        engine.remember("Anna likes tea.", vector=range(10**12))


def test_at_the_end_of_time_everything_works() -> None:
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
    with memorata.open(":memory:", embedder="lexical", clock=lambda: last) as engine:
        engine.remember("Anna comes tomorrow.")
        assert engine.recall("who comes tomorrow, or next year?").hits
        engine.admin.lifecycle.maintain()
        assert engine.briefing().items
        assert engine.admin.check() == []
