"""Why a memory has the score it has: a tree whose parts make up exactly the number shown.

The idea is tantivy's (and Lucene's) ``Explanation``. Ours holds itself to the arithmetic: the value of every
inner node is the left-to-right sum, product, ratio or maximum of its parts in float64, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any, Literal, TypeAlias, get_args

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument

Operation: TypeAlias = Literal["value", "sum", "product", "ratio", "max"]

_FOLDS: Mapping[str, Callable[[float, float], float]] = {
    "sum": lambda total, part: total + part,
    "product": lambda total, part: total * part,
    "ratio": lambda total, part: total / part,
    "max": max,
}


@frozen
class Explanation:
    """One node: a label, its value, and the parts that make it.

    Build leaves with :meth:`leaf` and inner nodes with :meth:`of`, which computes the value from the parts.

    Parameters
    ----------
    label, value, note
        What the number is, the number, and a remark for people.
    operation, parts
        How the parts make the value: sum, product, ratio or max; ``"value"`` and none for a plain number.

    Examples
    --------
    >>> vector, text = Explanation.leaf("vector", 0.5), Explanation.leaf("text", 0.25)
    >>> legs = Explanation.of("sum", "fused", [vector, text])
    >>> score = Explanation.of("product", "score", [legs, Explanation.leaf("confidence", 0.9)])
    >>> score.value
    0.675
    >>> print(score)
    0.675 score = product of
      0.75 fused = sum of
        0.5 vector
        0.25 text
      0.9 confidence
    """

    label: str
    value: float
    operation: Operation = "value"
    parts: tuple[Explanation, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        checks.text("label", self.label)
        checks.text("note", self.note)
        checks.one_of("operation", self.operation, get_args(Operation))
        object.__setattr__(self, "value", checks.number("value", self.value))
        object.__setattr__(self, "parts", _explanations(self.parts))
        if (self.operation == "value") == bool(self.parts):
            raise InvalidArgument("parts", self.parts, "empty for a plain value and for nothing else")
        if self.parts and self.value != _folded(self.operation, self.parts):
            expected = f"the {self.operation} of its parts ({_folded(self.operation, self.parts)!r})"
            raise InvalidArgument(f"value of {self.label!r}", self.value, expected)

    @classmethod
    def leaf(cls, label: str, value: float, note: str = "") -> Explanation:
        """Return a node that is a plain number."""
        return cls(label, value, note=note)

    @classmethod
    def of(cls, operation: Operation, label: str, parts: list[Explanation], note: str = "") -> Explanation:
        """Return a node whose value is computed from `parts`."""
        checks.one_of("operation", operation, tuple(_FOLDS))
        checked = _explanations(parts)
        if not checked:
            raise InvalidArgument("parts", parts, "at least one part")
        return cls(label, _folded(operation, checked), operation, checked, note)

    def adds_up(self) -> bool:
        """Return whether this node and every node below it is exactly what its parts make."""
        return all(
            not node.parts or node.value == _folded(node.operation, node.parts) for node in self.walk()
        )

    def walk(self) -> Iterator[Explanation]:
        """Yield this node and then every node below it, depth first."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def as_dict(self) -> dict[str, Any]:
        """Return the tree as plain data, for JSON."""
        data: dict[str, Any] = {"label": self.label, "value": self.value}
        if self.note:
            data["note"] = self.note
        if self.parts:
            data["operation"] = self.operation
            data["parts"] = [part.as_dict() for part in self.parts]
        return data

    def __str__(self) -> str:
        return "\n".join(self._lines(0))

    def _lines(self, depth: int) -> Iterator[str]:
        note = f" ({self.note})" if self.note else ""
        tail = f" = {self.operation} of" if self.parts else ""
        yield f"{'  ' * depth}{self.value:.6g} {self.label}{note}{tail}"
        for part in self.parts:
            yield from part._lines(depth + 1)


def _explanations(parts: object) -> tuple[Explanation, ...]:
    if not isinstance(parts, list | tuple) or not all(isinstance(part, Explanation) for part in parts):
        raise InvalidArgument("parts", parts, "a list of explanations")
    return tuple(parts)


def _folded(operation: Operation, parts: tuple[Explanation, ...]) -> float:
    try:
        return reduce(_FOLDS[operation], (part.value for part in parts))
    except ZeroDivisionError:
        # No number is the ratio, and NaN is refused as the value of a node.
        return math.nan
