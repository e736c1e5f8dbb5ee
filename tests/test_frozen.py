"""Frozen classes: in all but what they cost, those of the standard library, which stand beside them."""

import copy
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata._frozen import frozen


@frozen
class Point:
    """A point."""

    x: float
    y: float = 0.0


@frozen
class Named(Point):
    """A point with a name, which is what it is sorted under."""

    name: str = ""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    note: str = field(default="", repr=False, compare=False)
    length: int = field(init=False, repr=False)
    seen: list[str] = field(default_factory=list, init=False, hash=False)
    kind: str = field(default="place", init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@frozen(kw_only=True)
class Options:
    """Options."""

    wide: bool
    deep: bool = False


@frozen(eq=False)
class Each:
    """One of many."""

    value: int


@frozen
class Nothing:
    """Nothing."""


class Plain:
    class Point:
        """A point."""

        x: float
        y: float = 0.0

    class Named:
        """A point with a name, which is what it is sorted under."""

        x: float
        y: float = 0.0
        name: str = ""
        tags: Mapping[str, str] = field(default_factory=dict, hash=False)
        note: str = field(default="", repr=False, compare=False)
        length: int = field(init=False, repr=False)
        seen: list[str] = field(default_factory=list, init=False, hash=False)
        kind: str = field(default="place", init=False)

        __post_init__ = Named.__post_init__

    class Options:
        """Options."""

        wide: bool
        deep: bool = False

    class Each:
        """One of many."""

        value: int

    class Nothing:
        """Nothing."""


STANDARD: dict[type, Any] = {
    Point: dataclass(frozen=True, slots=True)(Plain.Point),
    Named: dataclass(frozen=True, slots=True)(Plain.Named),
    Options: dataclass(frozen=True, slots=True, kw_only=True)(Plain.Options),
    Each: dataclass(frozen=True, slots=True, eq=False)(Plain.Each),
    Nothing: dataclass(frozen=True, slots=True)(Plain.Nothing),
}
CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (Point, (1.0,), {}),
    (Point, (1.0, 2.0), {}),
    (Point, (), {"y": 1.0, "x": 2.0}),
    (Named, (1.0, 2.0, "Bern", {"in": "Europe"}), {"note": "a town"}),
    (Named, (1.0,), {"name": "Bern"}),
    (Options, (), {"wide": True}),
    (Each, (1,), {}),
    (Nothing, (), {}),
]
WRONG: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (Point, (), {}),
    (Point, (1.0, 2.0, 3.0), {}),
    (Point, (1.0,), {"z": 1.0}),
    (Named, (1.0,), {"length": 3}),
    (Options, (True,), {}),
    (Nothing, (1,), {}),
]


def plainly(text: object) -> str:
    return str(text).replace("Plain.", "")


@pytest.mark.parametrize(("cls", "arguments", "named"), CALLS)
def test_one_is_made_shown_and_taken_apart_as_in_the_standard_library(
    cls: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    mine, theirs = cls(*arguments, **named), STANDARD[cls](*arguments, **named)
    assert repr(mine) == plainly(repr(theirs))
    assert asdict(mine) == asdict(theirs)
    assert mine.__match_args__ == theirs.__match_args__
    assert not hasattr(mine, "__dict__")
    assert {name for each in cls.__mro__ for name in getattr(each, "__slots__", ())} == set(asdict(mine))
    for same in (copy.copy(mine), copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert type(same) is cls
        assert asdict(same) == asdict(mine)


@pytest.mark.parametrize(("cls", "arguments", "named"), WRONG)
def test_arguments_that_do_not_fit_are_refused_in_the_same_words(
    cls: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    with pytest.raises(TypeError) as theirs:
        STANDARD[cls](*arguments, **named)
    with pytest.raises(TypeError) as mine:
        cls(*arguments, **named)
    assert str(mine.value) == plainly(theirs.value)


@pytest.mark.parametrize("cls", STANDARD)
def test_the_signature_is_the_same(cls: Any) -> None:
    assert str(inspect.signature(cls)) == str(inspect.signature(STANDARD[cls]))
    assert cls.__init__.__qualname__ == f"{cls.__name__}.__init__"


def test_the_constructor_is_written_when_it_is_first_asked_for() -> None:
    @frozen
    class Fresh:
        """One that nobody has made yet."""

        value: int

    assert not inspect.isfunction(vars(Fresh)["__init__"])
    assert str(inspect.signature(Fresh)) == "(value: int) -> None"
    assert inspect.isfunction(vars(Fresh)["__init__"])
    assert Fresh(1) == Fresh(value=1)


NUMBERS = st.floats(allow_nan=False)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_two_are_equal_and_hashed_as_in_the_standard_library(a: float, b: float, c: float, d: float) -> None:
    mine, theirs = (Point(a, b), Point(c, d)), (STANDARD[Point](a, b), STANDARD[Point](c, d))
    assert (mine[0] == mine[1]) == (theirs[0] == theirs[1])
    assert hash(mine[0]) == hash(theirs[0])


def test_what_is_not_compared_does_not_count() -> None:
    assert Named(1.0, name="Bern", note="a town") == Named(1.0, name="Bern", note="a city")
    assert Named(1.0, name="Bern") != Named(1.0, name="Basel")
    assert hash(Named(1.0, tags={"in": "Europe"})) == hash(Named(1.0))
    others: list[object] = [(1.0, 0.0), Named(1.0), None]
    assert Point(1.0) not in others
    assert Each(1) != Each(1)
    assert len({Each(1), Each(1), Nothing(), Nothing()}) == 3


@pytest.mark.parametrize("name", ["x", "z"])
def test_nothing_is_set_or_deleted(name: str) -> None:
    point = Point(1.0)
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(point, name, 2.0)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(point, name)
    assert point == Point(1.0)


def test_each_gets_what_a_factory_makes_and_may_be_given_it() -> None:
    assert Named(1.0).tags is not Named(1.0).tags
    tags: dict[str, str] = {}
    assert Named(1.0, tags=tags).tags is tags
    assert (Named(1.0, name="Bern").length, Named(1.0).kind, Named(1.0).seen) == (4, "place", [])


def test_one_is_replaced_and_matched() -> None:
    assert replace(Point(1.0), y=3.0) == Point(1.0, 3.0)
    assert [each.name for each in fields(Named)][:3] == ["x", "y", "name"]
    match Point(1.0, 2.0):
        case Point(x, y):
            assert (x, y) == (1.0, 2.0)


def test_what_a_class_says_itself_is_left_as_it_is() -> None:
    @frozen
    class Own:
        """Its own."""

        value: int

        def __init__(self, text: str) -> None:
            object.__setattr__(self, "value", int(text))

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

    assert (Own("3").value, repr(Own("3")), Own("3") == Own("4")) == (3, "own", True)
    assert hash(Own("3")) == hash((3,))


def test_one_that_holds_itself_can_be_shown() -> None:
    @frozen(eq=False)
    class Ring:
        """A ring."""

        held: list[Any]

    ring = Ring([])
    ring.held.append(ring)
    assert repr(ring).endswith("Ring(held=[...])")
