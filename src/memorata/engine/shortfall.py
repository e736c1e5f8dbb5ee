"""What a memory lacks to be shown: a measure of it, and the least that was asked for.

The score of a memory is relative to the others that a question found: of a bad lot, the best has 1 as well.
These measures stand by themselves, so that one sees how far from good enough it is.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal, TypeAlias

from memorata._frozen import frozen

Measure: TypeAlias = Literal["similarity", "words", "confidence"]


@frozen
class Shortfall:
    """A threshold that was missed.

    Attributes
    ----------
    measure
        What was measured: the ``similarity`` of meaning (a cosine), the ``words`` (their share of the best
        possible match), or the ``confidence`` of the memory.
    value
        What it is; None for a memory whose meaning nobody has measured yet.
    least
        What it should have been.

    Examples
    --------
    >>> print(Shortfall("similarity", 0.31, 0.55))
    similarity 0.310 is below 0.550
    >>> print(Shortfall("words", 0.02, 0.05))
    its words are 2.0% of the best possible match, below 5.0%
    """

    measure: Measure
    value: float | None
    least: float

    def __str__(self) -> str:
        if self.value is None:
            return f"its {self.measure} is not known"
        if self.measure == "similarity":
            return f"similarity {self.value:.3f} is below {self.least:.3f}"
        if self.measure == "confidence":
            return f"confidence {self.value:.2f} is below {self.least:.2f}"
        if not self.value:
            return "it shares no word with the question"
        return f"its words are {self.value:.1%} of the best possible match, below {self.least:.1%}"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for JSON."""
        return asdict(self)
