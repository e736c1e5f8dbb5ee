r"""Decision thresholds from labelled pairs: precision and recall curves, and rules that choose from them.

A threshold :math:`t` lets through every pair with a similarity of at least :math:`t`. Of those it lets
through, some are relevant (:math:`TP`) and some are not (:math:`FP`); some relevant ones stay out
(:math:`FN`). Three rules choose among the similarities that occur: the highest recall at a target precision,
Youden's J (W. J. Youden, *Cancer* 3, 1950), and the highest F1, there also over confidences (van Rijsbergen,
*Information Retrieval*, 1979).

A curve here has one point for each threshold. Libraries often return one precision more than thresholds, for
the end at which nothing passes; that end has no threshold, so it is left to the drawing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import BoolArray, Flags, FloatArray, Numbers
from memorata.model.errors import InvalidArgument, NotEnoughData

MIN_PAIRS: Final = 20
"""How many labelled pairs are the least to learn from, where the caller does not say."""
_STEPS = 21
"""Values of each axis of the grid, where the caller does not say."""


@frozen(eq=False)
class Curve:
    """What each possible threshold would do; all arrays are of one length, thresholds ascending.

    - `thresholds`: every similarity that occurs, once.
    - `precision`, `recall`: of letting through what is at least the threshold. Recall is also the
      true-positive rate.
    - `false_positives`: the share of what is not relevant that passes.
    """

    thresholds: FloatArray
    precision: FloatArray
    recall: FloatArray
    false_positives: FloatArray

    @property
    def f1(self) -> FloatArray:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        twice = 2 * self.precision * self.recall
        result: FloatArray = np.divide(twice, both, out=np.zeros_like(both), where=both > 0)
        return result

    @property
    def youden(self) -> FloatArray:
        """Youden's J: how far the ROC curve lies above chance."""
        result: FloatArray = self.recall - self.false_positives
        return result

    def at(self, threshold: float, warning: MissedThreshold | None = None) -> Choice:
        """Return what a threshold does: as much as the next similarity that occurs."""
        place = int(np.searchsorted(self.thresholds, threshold))
        if place == self.thresholds.size:
            return Choice(threshold, float("nan"), 0.0, 0.0, warning)
        precision, recall = float(self.precision[place]), float(self.recall[place])
        return Choice(threshold, precision, recall, float(self.false_positives[place]), warning)


@frozen
class MissedThreshold:
    """A warning: no threshold reaches the precision that was asked for, so the fallback stands."""

    target: float
    best: float
    threshold: float

    def __str__(self) -> str:
        return (
            f"no threshold reaches a precision of {self.target:.3g}; the best is {self.best:.3g}, at a "
            f"similarity of {self.threshold:.3g}. The fallback stands."
        )


@frozen
class Choice:
    """A threshold and what it does on the labelled pairs it was chosen from."""

    threshold: float
    precision: float
    recall: float
    false_positives: float
    warning: MissedThreshold | None = None


@frozen(eq=False)
class GridChoice:
    """The best pair of thresholds, and the F1 of all the others."""

    similarity: float
    confidence: float
    f1: float
    similarities: FloatArray
    confidences: FloatArray
    surface: FloatArray


def threshold_curve(similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS) -> Curve:
    r"""Return precision, recall and false-positive rate of every threshold that makes a difference.

    .. math:: P = \frac{TP}{TP + FP}, \quad R = \frac{TP}{TP + FN}, \quad F = \frac{FP}{FP + TN}

    - `similarity`, `relevant`, `least`: as for :func:`~memorata.learn.thresholds.labelled_pairs`.

    One sort, then running counts; equal similarities pass or fail together.

    >>> curve = threshold_curve([0.2, 0.5, 0.5, 0.9], [False, True, False, True], least=4)
    >>> curve.thresholds.tolist(), curve.recall.tolist(), curve.precision.round(2).tolist()
    ([0.2, 0.5, 0.9], [1.0, 1.0, 0.5], [0.5, 0.67, 1.0])
    """
    similar, labels = labelled_pairs(similarity, relevant, least=least)
    order = similar.argsort(kind="stable")
    ordered, hits = similar[order], labels[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    positives = int(np.count_nonzero(hits))
    # What passes the threshold at `first` is everything from there on.
    true = positives - np.r_[0, np.cumsum(hits)][first]
    passed = hits.size - first
    return Curve(
        thresholds=ordered[first],
        precision=true / passed,
        recall=true / positives,
        false_positives=(passed - true) / (hits.size - positives),
    )


def at_precision(
    similarity: Numbers,
    relevant: Flags,
    *,
    fallback: float,
    target: float = 0.9,
    least: int = MIN_PAIRS,
) -> Choice:
    """Return the threshold with the highest recall among those that reach the target precision.

    - `similarity`, `relevant`, `least`: as for :func:`~memorata.learn.thresholds.labelled_pairs`.
    - `fallback`: the threshold to keep if none reaches the target; the choice then carries a warning.
    - `target`: the least precision, above 0.

    Of thresholds with the same recall the highest is taken: it lets through less that is not relevant.

    >>> labels = [False, True, False, True]
    >>> at_precision([0.2, 0.5, 0.6, 0.9], labels, target=0.6, fallback=0.75, least=4).threshold
    0.5
    >>> choice = at_precision([0.9, 0.5, 0.6, 0.2], labels, target=0.6, fallback=0.75, least=4)
    >>> choice.threshold, str(choice.warning)
    (0.75, 'no threshold reaches a precision of 0.6; the best is 0.5, at a similarity of 0.2.
    The fallback stands.')
    """
    least_precision = checks.above("target", checks.probability("target", target), 0)
    default = checks.within("fallback", fallback, -1, 1)
    curve = threshold_curve(similarity, relevant, least=least)
    reaching = np.flatnonzero(curve.precision >= least_precision)
    if reaching.size:
        return curve.at(float(curve.thresholds[reaching[_last_best(curve.recall[reaching])]]))
    best = _last_best(curve.precision)
    warning = MissedThreshold(least_precision, float(curve.precision[best]), float(curve.thresholds[best]))
    return curve.at(default, warning)


def by_youden(similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS) -> Choice:
    r"""Return the threshold at which the ROC curve is highest above chance: :math:`\max_t R(t) - F(t)`.

    Of several the highest threshold is taken.
    """
    curve = threshold_curve(similarity, relevant, least=least)
    return curve.at(float(curve.thresholds[_last_best(curve.youden)]))


def by_f1(
    similarity: Numbers,
    confidence: Numbers,
    relevant: Flags,
    *,
    similarities: Numbers | None = None,
    confidences: Numbers | None = None,
    least: int = MIN_PAIRS,
) -> GridChoice:
    r"""Return the pair of thresholds (similarity, confidence) with the highest F1.

    .. math:: F_1 = \frac{2 P R}{P + R} = \frac{2\,TP}{2\,TP + FP + FN}

    - `similarity`, `relevant`, `least`: as for :func:`~memorata.learn.thresholds.labelled_pairs`.
    - `confidence`: one number from 0 to 1 per pair.
    - `similarities`, `confidences`: the thresholds to try, ascending; by default 21 over the range that
      occurs, and 21 from 0 to 1.

    The pairs are counted once, by the cell of the grid they fall in; sums from the far corner then give every
    threshold's counts at the cost of the grid, not of the grid times the pairs. Of equal F1 the lowest
    confidence wins, then the lowest similarity: a gate that shuts out nothing is no better for being strict.

    >>> found = by_f1([0.9, 0.8, 0.3, 0.9], [0.9, 0.8, 0.9, 0.1], [True, True, False, False],
    ...               similarities=[0.2, 0.5], confidences=[0.0, 0.5], least=4)
    >>> found.similarity, found.confidence, found.f1
    (0.5, 0.5, 1.0)
    """
    similar, labels = labelled_pairs(similarity, relevant, least=least)
    sure = checks.probabilities("confidence", confidence)
    checks.same_length(similarity=similar, confidence=sure)
    if similarities is None:
        rows = np.unique(np.linspace(similar.min(), similar.max(), _STEPS))
    else:
        rows = _ascending("similarities", checks.all_within("similarities", similarities, -1, 1))
    columns = _ascending(
        "confidences",
        np.linspace(0.0, 1.0, _STEPS)
        if confidences is None
        else checks.probabilities("confidences", confidences),
    )
    # How many thresholds of each axis a pair passes: it is in the cell below that one.
    passes = np.searchsorted(rows, similar, side="right"), np.searchsorted(columns, sure, side="right")
    shape = rows.size + 1, columns.size + 1
    cells = np.ravel_multi_index(passes, shape)
    true, false = (_passing(cells[which], shape) for which in (labels, ~labels))
    surface = 2 * true / (true + false + np.count_nonzero(labels))
    column, row = divmod(int(surface.T.argmax()), rows.size)
    return GridChoice(
        float(rows[row]), float(columns[column]), float(surface[row, column]), rows, columns, surface
    )


def _passing(cells: object, shape: tuple[int, int]) -> FloatArray:
    """Return how many pairs pass each pair of thresholds."""
    counts = np.bincount(np.asarray(cells, np.intp), minlength=shape[0] * shape[1]).reshape(shape)
    from_here = counts[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
    result: FloatArray = from_here[1:, 1:].astype(np.float64)
    return result


def _ascending(argument: str, values: FloatArray) -> FloatArray:
    if not values.size or (values[1:] <= values[:-1]).any():
        raise InvalidArgument(argument, values.tolist(), "at least one threshold, each above the one before")
    return values


def _last_best(values: FloatArray) -> int:
    return values.size - 1 - int(values[::-1].argmax())


def labelled_pairs(
    similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS
) -> tuple[FloatArray, BoolArray]:
    """Return similarities and labels as arrays, or say how many more of which kind are needed."""
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
