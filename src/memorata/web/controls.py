"""The controls of the search page, made from the parameters that recipes declare.

A parameter that is added to a recipe appears here without a change, in the group that its declaration names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memorata._frozen import frozen
from memorata.engine.recipes.recipe import GROUPS, PARAMETERS, Recipe
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Parameter

_STEPS: Final = 100
_TOLERANCE: Final = 1e-6
_FIRST_PARAMETERS: Final = ("vector_weight", "least_match")
"""What most people turn, shown beside the recipe; the rest waits behind "Tune"."""
# The analyser belongs to the store; turning it in a recipe would change nothing here.
_HIDDEN_PARAMETERS: Final = ("analyser",)


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
    parameters = {
        parameter.name: parameter for parameter in PARAMETERS if parameter.name not in _HIDDEN_PARAMETERS
    }
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
