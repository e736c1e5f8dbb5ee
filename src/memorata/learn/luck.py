r"""Whether the best of many settings looks this good by luck alone.

Holding data out makes the gain of a choice honest on average. It does not keep the choice from being lucky:
where a setting happens to fit all the questions there are, every fold finds it and every held-out part
agrees. So the gain of what was chosen is also compared with the best gain that *any* of the settings tried
would show if none of them were better: H. White, "A reality check for data snooping", *Econometrica* 68,
2000, with the differences in units of their standard errors (Hansen, *JBES* 23, 2005; Romano & Wolf,
*Econometrica* 73, 2005).
"""

from __future__ import annotations

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Rows
from memorata.model.errors import InvalidArgument

SAMPLES = 2_000
"""How often the questions are drawn again, where the caller does not say."""
_AT_ONCE = 200
"""Draws whose means are held in memory at a time."""


def luck(differences: Rows, chosen: int, *, samples: int = SAMPLES, seed: int = 0) -> float:
    r"""Return the probability that the best of so many settings gains so much where none is better.

    .. math:: t_s = \frac{\bar d_s}{\hat\sigma_s / \sqrt n}, \quad
        p = \frac{1 + \#\{b : \max_s t^*_{sb} \ge t_{\text{chosen}}\}}{B + 1}, \quad
        t^*_{sb} = \frac{\bar d^*_{sb} - \bar d_s}{\hat\sigma_s / \sqrt n}

    Parameters
    ----------
    differences
        A row for each setting that was tried: its value less that of the current setting, one column per
        question (or group of questions).
    chosen
        The row that is to be installed.
    samples, seed
        How often to draw the questions again, and where the drawing starts.

    Notes
    -----
    All settings see the same draws, so that a hundred settings which are nearly the same count as one. One
    that never differs from the current one counts as none, and chosen, it is luck: p is 1.

    Examples
    --------
    >>> clear = [0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2]
    >>> luck([clear], 0) < 0.01, luck([[0.5, -0.5] * 4], 0) > 0.3
    (True, True)
    """
    table = checks.matrix("differences", differences)
    place, rounds = checks.whole("chosen", chosen), checks.whole("samples", samples, 1)
    if table.size == 0 or place >= len(table) or table.shape[1] < 2:
        raise InvalidArgument("chosen", chosen, "a row of differences over at least two questions")
    count = table.shape[1]
    with checks.finite_arithmetic("differences", differences):
        means = table.mean(axis=1)
        errors = table.std(axis=1, ddof=1) / np.sqrt(count)
    largest = np.abs(table).max(axis=1)
    # What is left of no error by rounding is none.
    moving = errors > 1e-12 * largest
    if not moving[place]:
        return 1.0 if means[place] <= 0 else 1.0 / (rounds + 1)
    height = means[place] / errors[place] - 1e-9
    ratios: FloatArray = table[moving] / errors[moving, np.newaxis]
    centred = ratios - ratios.mean(axis=1, keepdims=True)
    random = np.random.default_rng(checks.whole("seed", seed))
    higher = 0
    for start in range(0, rounds, _AT_ONCE):
        size = min(_AT_ONCE, rounds - start)
        # How often each question was drawn, a row for each draw.
        cells = random.integers(0, count, (size, count)) + count * np.arange(size)[:, np.newaxis]
        times = np.bincount(cells.ravel(), minlength=size * count).reshape(size, count)
        higher += int(np.count_nonzero(((times / count) @ centred.T).max(axis=1) >= height))
    return (1 + higher) / (rounds + 1)
