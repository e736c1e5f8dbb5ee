r"""Tuning of the gate: thresholds from judged pairs, by one of four rules, validated on held-out queries.

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
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.embed.port import Embedder
from memorata.engine import Engine
from memorata.engine.recipes.recipe import Recipe
from memorata.learn.calibration import fit_logistic
from memorata.learn.thresholds import (
    MIN_PAIRS,
    Choice,
    Curve,
    GridChoice,
    at_precision,
    by_f1,
    by_youden,
    labelled_pairs,
    threshold_curve,
)
from memorata.learn.training_set import Pairs, TrainingSet
from memorata.learn.validation import Verdict, grouped_folds, judge, require_groups
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument

METHODS: Final = ("precision", "youden", "f1", "probability")
"""The rules: a target precision, Youden's J, F1 over similarity and confidence, a calibrated probability."""
_MAX_ALTERNATIVES: Final = 50
"""How many thresholds the reality check compares with."""


@frozen(eq=False)
class TunedThresholds:
    """What tuning a gate found.

    - `verdict`: whether it wins, with the numbers.
    - `base`, `recipe`: what was in use, and the same with the new thresholds.
    - `method`, `target`: the rule, and what it was asked for.
    - `pairs`: how many judged pairs it was learnt from.
    - `curve`, `choice`: what every threshold would do, and the chosen one.
    - `grid`: the F1 of each pair of thresholds, for that rule.
    """

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
    """Return the least similarity of a recipe; where it has none, what the embedder was calibrated to."""
    threshold = recipe.least_similarity
    return embedder.similarity_threshold if threshold == -1 else threshold


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
    recipe = base.changed(final)
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
