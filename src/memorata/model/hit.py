"""What a search returns: memories with their scores, why they have them, and what people say about them.

An explanation is a tree whose parts make up exactly the number shown. The idea is tantivy's (and Lucene's)
``Explanation``. Ours holds itself to the arithmetic: the value of every inner node is the left-to-right sum,
product, ratio or maximum of its parts in float64, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import reduce
from typing import Any, Literal, TypeAlias, get_args

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import memory_id
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

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


@frozen
class Hit:
    """A memory that answers, its score, and why.

    Parameters
    ----------
    memory
        The memory.
    score
        The number the hits are ordered by, relative to the other candidates of the query.
    explain
        Makes the explanation; called on demand, since most hits are never explained.
    estimate
        Gives the confidence; called on demand. None where it is not known.
    refused
        Whether the gate refused it.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> tea = Memory(id="m1", content="I prefer tea.", created_at=datetime(2026, 5, 7, tzinfo=UTC))
    >>> hit = Hit(tea, 0.5, lambda: Explanation.leaf("vector", 0.5))
    >>> print(hit.content, hit.explanation)
    I prefer tea. 0.5 vector
    """

    memory: Memory
    score: float
    explain: Callable[[], Explanation] = field(repr=False, compare=False)
    estimate: Callable[[], float] | None = field(default=None, repr=False, compare=False)
    refused: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.memory, Memory):
            raise InvalidArgument("memory", self.memory, "a Memory")
        if type(self.score) is float and math.isfinite(self.score):
            return
        score = checks.number("score", self.score)
        if score is not self.score:
            object.__setattr__(self, "score", score)

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def content(self) -> str:
        """The text of the memory."""
        return self.memory.content

    @property
    def confidence(self) -> float:
        """How likely it answers the query, from 0 to 1, calibrated; 0 where it is not known.

        Unlike the score it can be compared between queries, stores and embedders.
        """
        return 0.0 if self.estimate is None else self.estimate()

    @property
    def reason(self) -> str:
        """Why it is here, in one plain sentence: how it was found, its speaker, and its time."""
        how = next((node.note for node in self.explanation.walk() if node.note.startswith("found ")), "found")
        speaker = f"said by {self.memory.source.speaker}, " if self.memory.source.speaker else ""
        return f"F{how[1:]}; {speaker}{self.memory.event_time.date()}."

    @property
    def explanation(self) -> Explanation:
        """Why the score is what it is; its value is the score to the last bit, or this raises."""
        why = self.explain()
        if why.value != self.score:
            raise InvalidArgument("explanation", why.value, f"of the score it explains, {self.score!r}")
        return why


class Signal(StrEnum):
    """The kinds of feedback."""

    THUMBS_UP = "thumbs_up"
    THUMBS_DOWN = "thumbs_down"
    RATING = "rating"
    RELEVANT = "relevant"
    IRRELEVANT = "irrelevant"
    CLICK = "click"


@frozen
class Feedback:
    """One reaction to one hit of one recall.

    Parameters
    ----------
    recall_id, memory_id
        The recall, and the memory that was among its hits.
    signal, rating
        What kind of reaction it is; for a rating, a whole number from 1 to 5.
    given_at
        When it was given.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> Feedback("r1", "m1", Signal.RATING, datetime(2026, 5, 7, tzinfo=UTC), rating=7)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: rating must be a whole number from 1 to 5, got 7
    """

    recall_id: str
    memory_id: str
    signal: Signal
    given_at: datetime
    rating: int | None = None

    def __post_init__(self) -> None:
        checks.text("recall_id", self.recall_id)
        memory_id("memory_id", self.memory_id)
        object.__setattr__(self, "signal", Signal(checks.one_of("signal", self.signal, tuple(Signal))))
        object.__setattr__(self, "given_at", checks.instant("given_at", self.given_at))
        rated = isinstance(self.rating, int) and not isinstance(self.rating, bool) and 1 <= self.rating <= 5
        if self.signal is Signal.RATING and not rated:
            raise InvalidArgument("rating", self.rating, "a whole number from 1 to 5")
        if self.signal is not Signal.RATING and self.rating is not None:
            raise InvalidArgument("rating", self.rating, f"None for a {self.signal.value}")
