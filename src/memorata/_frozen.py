"""Frozen dataclasses with slots that cost little to define, and less than others to make.

``dataclasses.dataclass(frozen=True, slots=True)`` writes six functions for every class as text and compiles
them, which takes most of the time of an import that defines a hundred of them. Here the standard library
still reads the fields and makes the slots; the functions that differ only in the names of fields are closures
over them, and the one that must be written, the constructor, is written when the class is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, Final, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")


@overload
def frozen(cls: type[_T], /) -> type[_T]: ...
@overload
def frozen(*, eq: bool = True, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: type[_T] | None = None, /, *, eq: bool = True, kw_only: bool = False
) -> type[_T] | Callable[[type[_T]], type[_T]]:
    """Make a class a frozen dataclass with slots, as ``dataclass(frozen=True, slots=True)`` does.

    What the class defines itself (``__init__``, ``__repr__``, ``__eq__``, ``__hash__``, …) is left as it is.
    Variables that only the constructor takes (``InitVar``) and an order are not supported.

    - `cls`: the class.
    - `eq`: whether two of them are equal when their fields are; otherwise each is equal to itself alone.
    - `kw_only`: whether the constructor takes its arguments by name only.

    >>> @frozen
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> Point(3), Point(3) == Point(3, 0), hash(Point(1)) == hash(Point(1))
    (Point(x=3, y=0.0), True, True)
    >>> Point(3).x = 4
    Traceback (most recent call last):
    ...
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """

    def make(plain: type[_T]) -> type[_T]:
        slotted: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(plain)
        own = vars(slotted)
        for name, method in {**_ALIKE, **_by_fields(slotted, eq=eq)}.items():
            # A class that says what is equal, and not how it is hashed, has None for the latter.
            if own.get(name) is None:
                setattr(slotted, name, method)
        return slotted  # type: ignore[no-any-return]

    return make if cls is None else make(cls)


class _Alike:
    """What is the same for all such classes."""

    @recursive_repr()
    def __repr__(self: Any) -> str:
        values = ", ".join(
            f"{member.name}={getattr(self, member.name)!r}" for member in fields(self) if member.repr
        )
        return f"{self.__class__.__qualname__}({values})"

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, member.name) for member in fields(self)]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for member, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, member.name, value)


_ALIKE: Final = {
    name: vars(_Alike)[name]
    for name in ("__repr__", "__setattr__", "__delattr__", "__getstate__", "__setstate__")
}


def _by_fields(cls: Any, *, eq: bool) -> dict[str, Any]:  # noqa: ANN401 - some dataclass
    """Return the methods that depend on the fields."""
    if not eq:
        return {"__init__": _Constructor(cls)}
    compared = _values([member.name for member in fields(cls) if member.compare])
    hashed = _values(
        [member.name for member in fields(cls) if (member.compare if member.hash is None else member.hash)]
    )

    def equal(self: object, other: object) -> bool:
        return compared(self) == compared(other) if other.__class__ is self.__class__ else NotImplemented

    def hash_of(self: object) -> int:
        return hash(hashed(self))

    return {"__init__": _Constructor(cls), "__eq__": equal, "__hash__": hash_of}


def _values(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """Return what reads these fields of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


class _Constructor:
    """An ``__init__`` that is written, as text, when it is first asked for."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type) -> object:
        written = _init(self._cls)
        self._cls.__init__ = written  # type: ignore[misc]
        return written.__get__(instance, owner)


class _Factory:
    """Stands for what a factory makes, in the signature of a constructor."""

    def __repr__(self) -> str:
        return "<factory>"


def unchecked(cls: type[_T]) -> type[_T]:
    """Return a constructor of a frozen class that leaves out ``__post_init__``, for values known to be good.

    >>> @frozen
    ... class Share:
    ...     value: float
    ...     def __post_init__(self) -> None:
    ...         assert 0 <= self.value <= 1
    >>> unchecked(Share)(0.5)
    Share(value=0.5)
    """
    scope, arguments, lines = _assignments(cls)
    scope["_new"], scope["_cls"] = cls.__new__, cls
    exec(f"def make({arguments}):\n " + "\n ".join(["self = _new(_cls)", *lines, "return self"]), scope)
    return scope["make"]  # type: ignore[no-any-return]


def _init(cls: Any) -> Any:  # noqa: ANN401 - some dataclass, and a function that takes its fields
    scope, arguments, lines = _assignments(cls)
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__(self, {arguments}):\n " + "\n ".join(lines or ["pass"]), scope)
    written = scope["__init__"]
    written.__module__, written.__qualname__ = cls.__module__, f"{cls.__qualname__}.__init__"
    written.__annotations__ = {member.name: member.type for member in fields(cls) if member.init} | {
        "return": None
    }
    return written


def _assignments(cls: Any) -> tuple[dict[str, Any], str, list[str]]:  # noqa: ANN401 - some dataclass
    """Return the names, the arguments and the lines of a function that sets the fields of `self`."""
    scope: dict[str, Any] = {"_factory": _Factory()}
    arguments: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    for member in fields(cls):
        name = member.name
        made = member.default_factory is not MISSING
        scope[f"_default_{name}"] = default = member.default_factory if made else member.default
        # Quicker than object.__setattr__, which looks for the slot by its name.
        scope[f"_set_{name}"] = getattr(cls, name).__set__
        usual = f"_default_{name}()" if made else f"_default_{name}"
        if not member.init:
            lines += [] if default is MISSING else [f"_set_{name}(self, {usual})"]
            continue
        argument = name if default is MISSING else f"{name}=_factory" if made else f"{name}={usual}"
        (by_name if member.kw_only else arguments).append(argument)
        lines.append(f"_set_{name}(self, {f'{usual} if {name} is _factory else {name}' if made else name})")
    return scope, ", ".join([*arguments, *(["*", *by_name] if by_name else [])]), lines
