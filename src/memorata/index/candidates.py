"""The candidates of a leg."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from memorata._frozen import frozen
from memorata.model.checks import FloatArray, IntArray

if TYPE_CHECKING:
    from memorata.rank.scores import Combination


@frozen(eq=False)
class LegCandidates:
    """The candidates of one leg.

    Attributes
    ----------
    slots, scores
        The memories, best first, and their scores.
    detail
        Returns what each term in each field added to the scores of slots; None for a leg without terms. It
        can be called after the index is closed.
    ceiling
        The score of an average text that has every term of the query once; 0 for a leg without terms.
    exact
        Whether every allowed memory was compared, so that no other has a higher score.
    """

    slots: IntArray
    scores: FloatArray
    detail: Callable[[IntArray], Combination] | None = None
    ceiling: float = 0.0
    exact: bool = False


NO_CANDIDATES: Final = LegCandidates(np.zeros(0, np.intp), np.zeros(0))
"""The candidates of a leg without a query, or without seeds."""
