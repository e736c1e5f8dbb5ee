"""Scores made of named parts, kept beside the parts, so that every score can explain itself exactly.

The scores are the left-to-right sum or product of the parts in float64, which is also how
:class:`~memorata.model.Explanation` adds up: the same operations in the same order give the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument
from memorata.model.explanation import Explanation

Operation: TypeAlias = Literal["sum", "product"]


@frozen(eq=False)
class Combination:
    """One score per item and the parts it is made of.

    Attributes
    ----------
    operation
        Whether the parts add or multiply up to the scores.
    names
        One name per part.
    rows
        One array per part, with one number per item.
    scores
        One score per item.

    Examples
    --------
    >>> import numpy as np
    >>> both = Combination.of("sum", ["vector", "text"], np.array([[0.5, 0.1], [0.25, 0.3]]))
    >>> both.scores
    array([0.75, 0.4 ])
    >>> print(both.explain(0, "fused"))
    0.75 fused = sum of
      0.5 vector
      0.25 text
    """

    operation: Operation
    names: tuple[str, ...]
    rows: Sequence[FloatArray] | FloatArray
    scores: FloatArray

    @classmethod
    def of(cls, operation: Operation, names: Sequence[str], parts: FloatArray) -> Combination:
        """Return the combination of `parts`, one row for each of `names`."""
        checks.one_of("operation", operation, ("sum", "product"))
        labels, rows = checks.texts("names", names), checks.matrix("parts", parts)
        if not len(rows):
            raise InvalidArgument("parts", parts, "at least one row")
        checks.same_length(parts=rows, names=labels)
        return cls.finite(operation, labels, *rows)

    @classmethod
    def finite(cls, operation: Operation, names: tuple[str, ...], *rows: FloatArray) -> Combination:
        """Combine checked parts; scores that float64 cannot hold raise."""
        with np.errstate(over="ignore", invalid="ignore"):
            result = cls.unchecked(operation, names, *rows)
        finite = np.isfinite(result.scores)
        if not finite.all():
            column = [float(row[int(finite.argmin())]) for row in rows]
            raise InvalidArgument(" and ".join(names), column, f"numbers whose {operation} float64 can hold")
        return result

    @classmethod
    def unchecked(cls, operation: Operation, names: tuple[str, ...], *rows: FloatArray) -> Combination:
        """Combine parts that are known to be finite and of one length."""
        first, *others = rows
        scores = first if others else first.copy()
        for row in others:
            scores = scores + row if operation == "sum" else scores * row
        return cls(operation, names, rows, scores)

    @property
    def parts(self) -> FloatArray:
        """One row per part, one column per item; stacked when read, since most scores are never explained."""
        return self.rows if isinstance(self.rows, np.ndarray) else np.stack(self.rows)

    def take(self, order: IntArray) -> Combination:
        """Return the same combination for the items in `order`."""
        return Combination(self.operation, self.names, self.parts[:, order], self.scores[order])

    def explain(
        self, item: int, label: str, detail: Mapping[str, Explanation] | None = None, note: str = ""
    ) -> Explanation:
        """Return why the score of `item` is what it is.

        Parameters
        ----------
        item
            The index of the item.
        label
            What the score is called.
        detail
            For any part, by name, an explanation of that part to show instead of the plain number. Its value
            must be the part's value exactly.
        note
            A remark on the whole.
        """
        checks.whole("item", item)
        if item >= self.scores.size:
            raise InvalidArgument("item", item, f"below the number of items, {self.scores.size}")
        details = detail or {}
        parts = []
        for name, row in zip(self.names, self.rows, strict=True):
            value = float(row[item])
            part = details.get(name) or Explanation.leaf(name, value)
            if part.value != value:
                raise InvalidArgument(
                    f"detail[{name!r}]", part.value, f"exactly the part it explains ({value!r})"
                )
            parts.append(part)
        return Explanation(label, float(self.scores[item]), self.operation, tuple(parts), note)
