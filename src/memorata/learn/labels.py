"""Labelled pairs to learn from: checked, enough of them, and of both kinds.

Whatever is fitted to labels needs both sorts of them; one that has only seen relevant pairs would call
everything relevant. So every function here that learns from labels asks this one first.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from memorata.model import checks
from memorata.model.checks import BoolArray, Flags, FloatArray, Numbers
from memorata.model.errors import NotEnoughData

LEAST_PAIRS: Final = 20
"""How many labelled pairs are the least to learn from, where the caller does not say."""


def labelled_pairs(
    similarity: Numbers, relevant: Flags, *, least: int = LEAST_PAIRS
) -> tuple[FloatArray, BoolArray]:
    """Return similarities and labels as arrays, or say how many more of which kind are needed.

    Parameters
    ----------
    similarity
        One cosine per pair, from -1 to 1.
    relevant
        Whether the pair belongs together.
    least
        How many pairs are the least; at least one of each kind is needed in any case.

    Raises
    ------
    NotEnoughData
        There are fewer than `least`, or all of one kind.

    Examples
    --------
    >>> labelled_pairs([0.9, 0.8], [True, True], least=2)
    Traceback (most recent call last):
    ...
    memorata.model.errors.NotEnoughData: 0 pairs labelled not relevant are too few to learn from: at least 1
    are needed, 1 more than there are
    """
    similar = checks.all_within("similarity", similarity, -1, 1)
    labels = checks.flags("relevant", relevant)
    checks.same_length(similarity=similar, relevant=labels)
    needed = checks.whole("least", least, 2)
    if labels.size < needed:
        raise NotEnoughData("labelled pairs", labels.size, needed)
    positive = int(np.count_nonzero(labels))
    if not positive:
        raise NotEnoughData("pairs labelled relevant", 0, 1)
    if positive == labels.size:
        raise NotEnoughData("pairs labelled not relevant", 0, 1)
    return similar, labels
