"""How similar must two texts be before their similarity says anything? A threshold for each model.

Cosines of one model cannot be compared with another's: unrelated texts have 0.05 with one and 0.65 with the
next. The noise ceiling puts all of them on one footing. It is measured between questions and texts that
cannot answer them, for example the memories of other people; a cosine above it is one that chance rarely
gives.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.model.checks import matrix, probability
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared


def noise_ceiling(
    questions: object,
    unrelated: object,
    *,
    quantile: Annotated[float, Declared("The share of unrelated pairs that stay below.", 0.9, 0.999)] = 0.99,
) -> float:
    """Return the cosine that the given share of unrelated pairs stays below.

    The thresholds of the catalogue were measured so: each question of LoCoMo's four development conversations
    against every turn of the other three, with the default quantile. Of the turns that do answer a question,
    75 % (potion-base-8M) to 95 % (granite) lie above it.

    Parameters
    ----------
    questions, unrelated
        Unit vectors, one row each. No row of the second may answer a row of the first.
    quantile
        The share of pairs below the ceiling.

    Examples
    --------
    >>> noise_ceiling([[1.0, 0.0]], [[0.0, 1.0], [0.6, 0.8], [0.8, 0.6]], quantile=0.5)
    0.6
    """
    asked, heard = matrix("questions", questions), matrix("unrelated", unrelated)
    probability("quantile", quantile)
    if not asked.size or not heard.size or asked.shape[1] != heard.shape[1]:
        raise InvalidArgument("unrelated", heard.shape, f"vectors like the questions' ({asked.shape})")
    return float(np.quantile(asked @ heard.T, quantile))
