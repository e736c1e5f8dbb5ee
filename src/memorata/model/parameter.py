"""Parameters that declare themselves: name, type, range, default and a sentence of explanation.

A ranking function annotates each tunable argument with :class:`Declared`; :func:`parameters_of` reads the
declarations back. The command line, the tuner and the web page's sliders are generated from them, so a new
parameter is written down once. The idea is scikit-learn's introspectable estimators, on plain functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, get_args, get_type_hints

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument

_Rules = TypeVar("_Rules")


@frozen
class Declared:
    """What an annotation adds to an argument: its meaning and the range worth exploring.

    - `doc`: one sentence for a person who is about to change the value.
    - `low`, `high`: the range a slider or a tuner moves over; a function may accept more.
    - `choices`: the accepted names, for an argument that takes one of a few strings.
    - `group`: the heading under which pages and documents show it.
    - `search`: whether a change of it needs another search; what only ranks can be tried on logged recalls.
    """

    doc: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    group: str = ""
    search: bool = False


@frozen
class Parameter:
    """One declared parameter of a function, ready to become an option, a slider or a search dimension."""

    name: str
    type: type
    default: Any
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    group: str = ""
    search: bool = False

    @property
    def range(self) -> str:
        """The values it may have, in few words."""
        if self.choices:
            return " or ".join(filter(None, (", ".join(self.choices[:-1]), self.choices[-1])))
        if self.type is bool:
            return "yes or no"
        return f"{'whole, ' if self.type is int else ''}{self.low:g} to {self.high:g}"

    def checked(self, value: object) -> Any:  # noqa: ANN401 - of the parameter's own type
        """Return `value` if the parameter may have it, else raise."""
        if self.choices:
            return checks.one_of(self.name, value, self.choices)
        if self.type is bool:
            return checks.flag(self.name, value)
        low, high = self.low or 0, self.high or 0
        if self.type is int:
            number = checks.whole(self.name, value, int(low))
            if number > high:
                raise InvalidArgument(self.name, value, f"a whole number from {low:g} to {high:g}")
            return number
        return checks.within(self.name, value, low, high)


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the declared parameters of `function`, in the order of its signature.

    >>> from typing import Annotated
    >>> def boost(score: float, *, strength: Annotated[float, Declared("How much.", 0, 1)] = 0.4) -> float:
    ...     return score * (1 + strength)
    >>> for parameter in parameters_of(boost):
    ...     print(parameter.name, parameter.type.__name__, parameter.default, parameter.low, parameter.high)
    strength float 0.4 0 1
    """
    hints = get_type_hints(function, include_extras=True)
    parameters = []
    for name, argument in inspect.signature(function).parameters.items():
        extras = get_args(hints.get(name))[1:]
        declared = next((extra for extra in extras if isinstance(extra, Declared)), None)
        if declared is not None:
            facts = (getattr(declared, fact.name) for fact in fields(declared))
            parameters.append(Parameter(name, type(argument.default), argument.default, *facts))
    return tuple(parameters)


def check_fields(rules: object, parameters: tuple[Parameter, ...]) -> None:
    """Check the declared fields of a frozen object that is being made, and keep them as their types say."""
    for parameter in parameters:
        object.__setattr__(rules, parameter.name, parameter.checked(getattr(rules, parameter.name)))


def rules_from(cls: type[_Rules], argument: str, rules: _Rules | Mapping[str, Any] | None) -> _Rules:
    """Return rules of a class: `rules` itself, those of a mapping by name, or the defaults for None."""
    if isinstance(rules, cls):
        return rules
    if rules is not None and not isinstance(rules, Mapping):
        raise InvalidArgument(argument, rules, f"a {cls.__name__}, or a mapping of its names to values")
    values = dict(rules or {})
    names = tuple(inspect.signature(cls).parameters) if values else ()
    for name in values:
        checks.one_of(argument, name, names)
    return cls(**values)


def both_given(old: str, new: str, value: object) -> InvalidArgument:
    """Return the error for an argument that was given under both of its names."""
    return InvalidArgument(old, value, f"left out where {new} is given ({old} is the name it had before)")
