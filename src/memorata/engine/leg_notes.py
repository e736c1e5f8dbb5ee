"""What a graph leg says about how it came to a memory, in the form in which legs tell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from memorata.model.checks import IntArray
from memorata.rank import Combination


def noted(notes: Mapping[int, Mapping[str, float]]) -> Callable[[IntArray], Combination]:
    """Return a leg's detail, given by slot what added how much to its score.

    Examples
    --------
    >>> detail = noted({4: {"by way of Porto": 0.3, "closeness": 0.2}, 7: {"closeness": 0.1}})
    >>> told = detail(np.array([4, 7]))
    >>> told.names, told.parts.tolist()
    (('by way of Porto', 'closeness'), [[0.3, 0.0], [0.2, 0.1]])
    """

    def detail(slots: IntArray) -> Combination:
        own = [notes[slot] for slot in slots.tolist()]
        names = list(dict.fromkeys(name for each in own for name in each))
        return Combination.of(
            "sum", names, np.array([[each.get(name, 0.0) for each in own] for name in names])
        )

    return detail
