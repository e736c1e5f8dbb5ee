r"""Decision thresholds from labelled pairs: curves, four rules that choose from them, and what those win.

A threshold :math:`t` lets through every pair with a similarity of at least :math:`t`. Of those it lets
through, some are relevant (:math:`TP`) and some are not (:math:`FP`); some relevant ones stay out
(:math:`FN`). Rules choose among the similarities that occur: the highest recall at a target precision,
Youden's J (W. J. Youden, *Cancer* 3, 1950), the highest F1, there also over confidences (van Rijsbergen,
*Information Retrieval*, 1979), and a calibrated probability. A curve here has one point for each threshold;
the end at which nothing passes has no threshold, and is left to the drawing.

Whether a threshold is better is a matter of what passing is worth. Each rule stands for a price: a relevant
pair that passes earns :math:`a`, one that is not costs :math:`b`, and what stays out earns nothing. At a
target precision :math:`p` the price is :math:`a = 1 - p, b = p`, for then more passing pays as long as more
than :math:`p` of it is relevant (the net benefit of decision curves, Vickers & Elkin, *Medical Decision
Making* 26, 2006). Youden's J is the price at which all relevant pairs together are worth as much as all
others. The price at which F1 is best is half of that F1 (Lipton, Elkan & Naryanaswamy, ECML 2014). So every
rule is judged by the sum it was meant to make, pair by pair, on pairs that had no say in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from memorata import Engine, Recipe
from memorata.extend import frozen
from memorata.extend.embedding import Embedder
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import Flags, FloatArray, IntArray, Numbers, checks
from memorata_lab.learn.calibration import fit_logistic
from memorata_lab.learn.training_set import Pairs, TrainingSet
from memorata_lab.learn.validation import (
    MIN_PAIRS,
    Verdict,
    grouped_folds,
    judge,
    labelled_pairs,
    require_groups,
)

_STEPS = 21
"""Values of each axis of the grid, where the caller does not say."""


@frozen(eq=False)
class Curve:
    """What letting through all that is at least each similarity that occurs would do, ascending.

    Recall is also the true-positive rate; `false_positives` is the share of what is not relevant that passes.
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
    """Return the highest threshold with the highest recall among those that reach the target precision.

    If none does, the choice is the fallback and carries a warning.
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
    r"""Return the highest threshold at which :math:`R(t) - F(t)`, the height above chance, is largest."""
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

    The pairs are counted once, by the cell of the grid they fall in; sums from the far corner then give every
    threshold's counts at the cost of the grid, not of the grid times the pairs. Of equal F1 the lowest
    confidence wins, then the lowest similarity: a gate that shuts out nothing is no better for being strict.
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


METHODS: Final = ("precision", "youden", "f1", "probability")
"""The rules: a target precision, Youden's J, F1 over similarity and confidence, a calibrated probability."""
_MAX_ALTERNATIVES: Final = 50
"""How many thresholds the reality check compares with."""


@frozen(eq=False)
class TunedThresholds:
    """What tuning a gate by a rule found, with what every threshold would do; `grid` is for F1."""

    verdict: Verdict
    base: Recipe
    recipe: Recipe
    method: str
    target: float
    pairs: int
    curve: Curve
    choice: Choice
    grid: GridChoice | None

    @property
    def metric(self) -> str:
        """What the gain is counted in: what passing is worth, as the rule weighs it."""
        return f"worth of a pair by {self.method}"

    @property
    def questions(self) -> int:
        """How many judged pairs of a query and a hit it was judged on."""
        return self.pairs

    @property
    def scores(self) -> tuple[tuple[Mapping[str, Any], float], ...]:
        """None: a threshold is chosen by a rule and not from a grid."""
        return ()

    def evidence(self) -> dict[str, Any]:
        """Return the numbers that speak for it, as plain data."""
        return {
            "by": f"thresholds, {self.method}",
            "base": self.base.name,
            "target": self.target,
            "pairs": self.pairs,
            "precision": self.choice.precision if self.choice.recall else None,
            "recall": self.choice.recall,
            **self.verdict.as_dict(),
        }


def tune_gate(
    engine: Engine, training: TrainingSet, base: Recipe, *, method: str = "precision", target: float = 0.9
) -> TunedThresholds:
    """Tune the thresholds of a recipe on the feedback about hits of the engine's embedder."""
    if engine.embedder is None:
        raise InvalidArgument("embedder", None, "in use: without one there is no similarity")
    threshold = similarity_threshold(base, engine.embedder)
    pairs = training.pairs(engine.embedder.name)
    return tune_thresholds(pairs, base, threshold, method=method, target=target)


def similarity_threshold(recipe: Recipe, embedder: Embedder) -> float:
    """Return the least similarity of a recipe for an embedder, by its calibration."""
    return recipe.similarity_for(embedder.similarity_threshold)


def tune_thresholds(
    pairs: Pairs,
    base: Recipe,
    threshold: float,
    *,
    method: str = "precision",
    target: float = 0.9,
    folds: int = 5,
    seed: int = 0,
) -> TunedThresholds:
    """Look for a better least similarity, and for F1 a least confidence with it."""
    checks.one_of("method", method, METHODS)
    aim = checks.probability("target", target)
    similar, relevant = labelled_pairs(pairs.similarity, pairs.relevant, least=MIN_PAIRS)
    require_groups(pairs.groups, name="judged questions")
    if method in ("precision", "probability") and not 0 < aim < 1:
        raise InvalidArgument("target", target, "a number above 0 and below 1")
    threshold_in_use = float(np.clip(threshold, -1, 1))
    everyone = np.arange(relevant.size)
    earn, cost = _prices(pairs, method, aim)

    def passing(setting: Mapping[str, float]) -> FloatArray:
        passes = similar >= setting["least_similarity"]
        if "least_confidence" in setting:
            passes &= pairs.confidence >= setting["least_confidence"]
        return np.where(passes, np.where(relevant, earn, -cost), 0.0)

    current = {"least_similarity": threshold_in_use}
    if method == "f1":
        current["least_confidence"] = base.least_confidence
    divided = grouped_folds(pairs.groups, count=folds, seed=seed)
    chosen = [_chosen(pairs, fold.learnt, method, aim, threshold_in_use, current) for fold in divided]
    final = _chosen(pairs, everyone, method, aim, threshold_in_use, current)
    alternatives = [
        {**current, "least_similarity": float(step)}
        for step in np.unique(np.quantile(similar, np.linspace(0, 1, _MAX_ALTERNATIVES)))
    ]
    verdict = judge(
        final,
        chosen,
        [passing(setting) for setting in chosen],
        passing(current),
        divided,
        pairs.groups,
        tried=np.stack([passing(setting) for setting in (current, final, *alternatives)]),
        picked=1,
        seed=seed,
    )
    curve = threshold_curve(similar, relevant)
    grid = by_f1(similar, pairs.confidence, relevant) if method == "f1" else None
    # That of a target precision has a warning where no threshold reaches it.
    choice = (
        at_precision(similar, relevant, target=aim, fallback=threshold_in_use)
        if method == "precision"
        else curve.at(final["least_similarity"])
    )
    thresholds: dict[str, Any] = {**final, "reference_noise": 0.0}
    recipe = replace(base, **thresholds)
    return TunedThresholds(verdict, base, recipe, method, aim, relevant.size, curve, choice, grid)


def _prices(pairs: Pairs, method: str, target: float) -> tuple[float, float]:
    """Return what a relevant pair that passes earns, and what one that is not costs."""
    if method in ("precision", "probability"):
        return 1 - target, target
    positive = float(np.count_nonzero(pairs.relevant))
    negative = pairs.relevant.size - positive
    if method == "youden":
        return pairs.relevant.size / (2 * positive), pairs.relevant.size / (2 * negative)
    best = by_f1(pairs.similarity, pairs.confidence, pairs.relevant).f1
    return 1 - best / 2, best / 2


def _chosen(
    pairs: Pairs,
    rows: IntArray,
    method: str,
    target: float,
    kept: float,
    current: Mapping[str, float],
) -> dict[str, float]:
    similar, relevant = pairs.similarity[rows], pairs.relevant[rows]
    if method == "precision":
        reached = at_precision(similar, relevant, target=target, fallback=kept, least=2)
        return {"least_similarity": reached.threshold}
    if method == "youden":
        return {"least_similarity": by_youden(similar, relevant, least=2).threshold}
    if method == "f1":
        best = by_f1(similar, pairs.confidence[rows], relevant, least=2)
        return {**current, "least_similarity": best.similarity, "least_confidence": best.confidence}
    curve = fit_logistic(similar, relevant, least=2)
    reaching = np.flatnonzero(curve(np.sort(similar)) >= target)
    return {"least_similarity": float(np.sort(similar)[reaching[0]]) if reaching.size else kept}
