r"""Calibration: the probability that a pair of this similarity is relevant, by embedder.

A cosine of 0.6 says much with one embedder and nothing with the next. From labelled pairs of one embedder a
monotone curve is fitted, isotonic or logistic, saved if it is calibrated better than the similarity itself,
and read for the hits of a recall. Measured by the expected calibration error (Naeini et al., AAAI
2015) on the pairs that were fitted a curve flatters itself, the isotonic one most; :func:`out_of_fold`
measures on others.

The isotonic curve has no shape given in advance: of all curves that never fall, it is the one of the least
squares, found by pooling adjacent violators (Ayer et al., *Ann. Math. Stat.* 26, 1955; for classifiers,
Zadrozny & Elkan, KDD 2002). It needs some hundreds of labelled pairs. The logistic curve has two parameters
and needs some dozens; its labels are softened as in J. Platt, "Probabilistic outputs for support vector
machines", 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from memorata import Engine, RecallResult
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.log import SavedSetting, trace_columns
from memorata.extend.model import Flags, FloatArray, Numbers, checks
from memorata_lab.learn.training_set import Pairs
from memorata_lab.learn.validation import MIN_PAIRS, grouped_folds, labelled_pairs


@frozen
class Isotonic:
    """A rising curve through points, straight between them and level beyond the first and last."""

    similarities: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        at = checks.all_within("similarities", self.similarities, -1, 1)
        probabilities = checks.probabilities("probabilities", self.probabilities)
        checks.same_length(similarities=at, probabilities=probabilities)
        if not at.size or (np.diff(at) <= 0).any():
            raise InvalidArgument(
                "similarities", self.similarities, "at least one number, each above the last"
            )
        if (np.diff(probabilities) < 0).any():
            raise InvalidArgument("probabilities", self.probabilities, "numbers that never fall")
        object.__setattr__(self, "similarities", tuple(at.tolist()))
        object.__setattr__(self, "probabilities", tuple(probabilities.tolist()))

    def __call__(self, similarity: Numbers) -> FloatArray:
        """Return the probability of relevance of each similarity."""
        similarities = checks.all_within("similarity", similarity, -1, 1)
        return np.interp(similarities, self.similarities, self.probabilities)

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {
            "kind": "isotonic",
            "similarities": list(self.similarities),
            "probabilities": list(self.probabilities),
        }


def fit_isotonic(similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS) -> Isotonic:
    r"""Fit the rising curve of the least squares, :math:`\min_f \sum_i (y_i - f(s_i))^2`.

    A point is kept at both ends of every level piece, so between two pieces the curve climbs in a straight
    line, and at the pairs it was fitted to it is the isotonic regression itself.
    """
    similar, labels = labelled_pairs(similarity, relevant, least=least)
    at, place, times = np.unique(similar, return_inverse=True, return_counts=True)
    weights = times.astype(np.float64)
    means = np.bincount(place, weights=labels.astype(np.float64)) / weights
    level = rising_means(means, weights)
    edge = np.r_[True, level[1:] != level[:-1]]
    ends = edge | np.r_[edge[1:], True]
    return Isotonic(tuple(at[ends].tolist()), tuple(level[ends].tolist()))


def rising_means(values: Numbers, weights: Numbers) -> FloatArray:
    r"""Return the rising sequence nearest to `values`: the least :math:`\sum w_i (v_i - f_i)^2`."""
    heights, weight = checks.numbers("values", values), checks.numbers("weights", weights)
    checks.same_length(values=heights, weights=weight)
    if (weight <= 0).any():
        raise InvalidArgument("weights", weight.tolist(), "numbers above 0")
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    with checks.finite_arithmetic("values", values):
        for value, mass in zip(heights.tolist(), weight.tolist(), strict=True):
            size = 1
            while means and means[-1] >= value:
                before, pooled = means.pop(), masses.pop()
                # A mean of two lies between them; the rounded quotient may not, and would then fall again.
                value = min(max((before * pooled + value * mass) / (pooled + mass), value), before)
                mass += pooled
                size += sizes.pop()
            means.append(value)
            masses.append(mass)
            sizes.append(size)
    return np.repeat(np.array(means, np.float64), sizes)


_MAX_ITERATIONS: Final = 100
_TOLERANCE: Final = 1e-10


@frozen
class Logistic:
    """The curve :math:`1 / (1 + e^{-(a + b s)})` with a slope :math:`b` of at least 0."""

    intercept: float
    slope: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "intercept", checks.number("intercept", self.intercept))
        object.__setattr__(self, "slope", checks.at_least("slope", self.slope, 0))

    def __call__(self, similarity: Numbers) -> FloatArray:
        """Return the probability of relevance of each similarity."""
        similarities = checks.all_within("similarity", similarity, -1, 1)
        with checks.finite_arithmetic("slope", self.slope):
            return _logistic(self.intercept + self.slope * similarities)

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data."""
        return {"kind": "logistic", "intercept": self.intercept, "slope": self.slope}


def fit_logistic(similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS) -> Logistic:
    """Fit the S-shape of the highest likelihood, by Newton's method.

    The labels are softened as Platt does, to :math:`(N_+ + 1)/(N_+ + 2)` and :math:`1/(N_- + 2)`, so that
    pairs which one threshold separates do not drive the slope to infinity. Where similarity speaks against
    relevance the best curve that does not fall is level, at the share of relevant pairs.
    """
    similar, labels = labelled_pairs(similarity, relevant, least=least)
    positive = int(np.count_nonzero(labels))
    negative = labels.size - positive
    targets = np.where(labels, (positive + 1) / (positive + 2), 1 / (negative + 2))
    centre, spread = float(similar.mean()), float(similar.std())
    share = float(targets.mean())
    level = Logistic(float(np.log(share / (1 - share))), 0.0)
    if spread < _TOLERANCE:
        return level
    # Around the mean and at unit spread the two numbers hardly depend on each other.
    scaled = (similar - centre) / spread
    rows = np.stack([np.ones(scaled.size), scaled])
    fitted = np.array([level.intercept, 0.0])
    loss = _loss(fitted, rows, targets)
    for _ in range(_MAX_ITERATIONS):
        chance = _logistic(fitted @ rows)
        slope = rows @ (chance - targets)
        bend = (rows * (chance * (1 - chance))) @ rows.T
        step = np.linalg.solve(bend + 1e-12 * np.eye(2), slope)
        size = 1.0
        # Half the step until it is one downhill; Newton's own may overshoot where the curve is flat.
        while size > _TOLERANCE and _loss(fitted - size * step, rows, targets) > loss:
            size /= 2
        fitted = fitted - size * step
        loss = _loss(fitted, rows, targets)
        if np.abs(size * step).max() < _TOLERANCE:
            break
    slope_there = float(fitted[1]) / spread
    if slope_there <= 0:
        return level
    return Logistic(float(fitted[0]) - slope_there * centre, slope_there)


def _loss(fitted: FloatArray, rows: FloatArray, targets: FloatArray) -> float:
    """Return the negative log-likelihood, log(1 + e^z) - y·z, without overflow."""
    at = fitted @ rows
    return float((np.logaddexp(0.0, at) - targets * at).sum())


def _logistic(values: FloatArray) -> FloatArray:
    # e^-|z| never overflows; the other half of the curve is one minus this one.
    small = np.exp(-np.abs(values))
    return np.where(values >= 0, 1.0, small) / (1.0 + small)


class Calibration(Protocol):
    """A rising curve from similarity to probability that can be written down."""

    def __call__(self, similarity: Numbers) -> FloatArray:
        """Return the probability of relevance of each similarity."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Return the curve as plain data, which :func:`calibration_of` reads back."""
        ...


@frozen(eq=False)
class Reliability:
    """How often what was called likely came true, by bins of equal width that hold anything."""

    predicted: FloatArray
    observed: FloatArray
    counts: FloatArray
    error: float


def calibration_of(data: Mapping[str, Any]) -> Calibration:
    """Read a curve back from the plain data of its ``as_dict``."""
    if not isinstance(data, Mapping):
        raise InvalidArgument("data", data, "a mapping, as as_dict returns it")
    kind = checks.one_of("data['kind']", data.get("kind"), ("isotonic", "logistic"))
    names = ("similarities", "probabilities") if kind == "isotonic" else ("intercept", "slope")
    if set(data) != {"kind", *names}:
        raise InvalidArgument("data", sorted(map(str, data)), f"kind, {names[0]} and {names[1]}")
    first, second = (data[name] for name in names)
    return Isotonic(first, second) if kind == "isotonic" else Logistic(first, second)


def reliability(probability: Numbers, relevant: Flags, *, bins: int = 10) -> Reliability:
    r"""Return how often what was called likely came true, and the expected calibration error.

    .. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \, \bigl| \bar y_b - \bar p_b \bigr|

    >>> found = reliability([0.9, 0.9, 0.1, 0.1], [True, False, False, False], bins=2)
    >>> found.predicted.tolist(), found.observed.tolist(), round(found.error, 3)
    ([0.1, 0.9], [0.0, 0.5], 0.25)
    """
    chance, labels = checks.probabilities("probability", probability), checks.flags("relevant", relevant)
    count = checks.same_length(probability=chance, relevant=labels)
    if not count:
        raise InvalidArgument("probability", [], "at least one probability")
    number = checks.whole("bins", bins, 1)
    place = np.minimum((chance * number).astype(np.intp), number - 1)
    counts = np.bincount(place, minlength=number).astype(np.float64)
    occupied = counts > 0
    predicted = np.bincount(place, weights=chance, minlength=number)[occupied] / counts[occupied]
    observed = (
        np.bincount(place, weights=labels.astype(np.float64), minlength=number)[occupied] / counts[occupied]
    )
    error = float((counts[occupied] / count * np.abs(observed - predicted)).sum())
    return Reliability(predicted, observed, counts[occupied], error)


def out_of_fold(
    similarity: Numbers,
    relevant: Flags,
    groups: Sequence[str],
    fit: Callable[[FloatArray, Any], Calibration] = fit_isotonic,
    *,
    count: int = 5,
    seed: int = 0,
) -> FloatArray:
    """Return each pair's probability from a curve that was fitted without the pair's group."""
    similar, labels = labelled_pairs(similarity, relevant, least=2)
    checks.same_length(similarity=similar, groups=checks.texts("groups", groups))
    chance = np.empty(similar.size)
    for fold in grouped_folds(groups, count=count, seed=seed):
        curve = fit(similar[fold.learnt], labels[fold.learnt])
        chance[fold.held_out] = curve(similar[fold.held_out])
    return chance


FITS: Final[Mapping[str, Callable[..., Any]]] = {"isotonic": fit_isotonic, "logistic": fit_logistic}
"""The curves from similarity to probability."""
CALIBRATION: Final = "calibration"
"""The kind of saved setting."""


@frozen(eq=False)
class Calibrated:
    """A curve from the similarity of one embedder to relevance, and how far off both are."""

    embedder: str
    fit: str
    curve: Mapping[str, Any]
    before: Reliability
    after: Reliability
    pairs: int

    @property
    def accepted(self) -> bool:
        """Whether the curve is calibrated better than the similarity."""
        return self.after.error < self.before.error

    def evidence(self) -> dict[str, Any]:
        """Return the numbers that speak for it, as plain data."""
        return {"pairs": self.pairs, "error_before": self.before.error, "error_after": self.after.error}


def calibrate(
    pairs: Pairs, embedder: str, *, fit: str = "logistic", folds: int = 5, seed: int = 0
) -> Calibrated:
    """Fit one of :data:`FITS` to judged pairs of one embedder, and measure it out of fold."""
    # A fold may learn from a few less than there must be in all.
    shape = partial(FITS[checks.one_of("fit", fit, tuple(FITS))], least=2)
    similar, relevant = labelled_pairs(pairs.similarity, pairs.relevant, least=MIN_PAIRS)
    honest = out_of_fold(similar, relevant, pairs.groups, shape, count=folds, seed=seed)
    return Calibrated(
        embedder,
        fit,
        shape(similar, relevant).as_dict(),
        reliability(similar.clip(0, 1), relevant),
        reliability(honest, relevant),
        relevant.size,
    )


def keep_calibration(
    engine: Engine, calibrated: Calibrated, *, namespace: str | None = None
) -> SavedSetting | None:
    """Save a curve with its evidence, if it is better calibrated than the similarity; None if not."""
    if not calibrated.accepted:
        return None
    return engine.store.saved_settings.save(
        engine.namespace if namespace is None else checks.namespace("namespace", namespace),
        CALIBRATION,
        calibrated.embedder,
        calibrated.curve,
        calibrated.evidence(),
        engine.now(),
    )


def calibration_for(
    engine: Engine, *, embedder: str | None = None, namespace: str | None = None
) -> Calibration | None:
    """Return the saved curve of an embedder, the engine's by default; None if there is none."""
    name = embedder or (engine.embedder.name if engine.embedder is not None else "")
    path = engine.namespace if namespace is None else namespace
    saved = engine.store.saved_settings.list(path, CALIBRATION, name)
    return calibration_of(saved[0].data) if saved else None


def probabilities(engine: Engine, recall: RecallResult, *, namespace: str | None = None) -> dict[str, float]:
    """Return how likely each hit is relevant, by memory, by its similarity alone.

    Nothing for hits that meaning did not find, and for embedders without a calibration.
    """
    if not recall.hits or recall.trace is None:
        return {}
    curve = calibration_for(engine, embedder=recall.embedder, namespace=namespace)
    if curve is None:
        return {}
    (trace,) = trace_columns([recall.trace])
    similarity = trace.values[:, trace.columns.index("vector")].astype(np.float64)
    measured = ~np.isnan(similarity)
    if "unread" in trace.columns:
        # Of these the similarity is a guess from their words, and the curve was not fitted to guesses.
        measured &= trace.values[:, trace.columns.index("unread")] == 0
    # By memory and not by place: the hits may be some of those in the trace, or others.
    slots = trace.slots[measured].tolist()
    ids = engine.store.ids(recall.hits[0].memory.namespace, slots)
    likely = curve(similarity[measured].clip(-1, 1)).tolist()
    chances = {ids.get(slot): chance for slot, chance in zip(slots, likely, strict=True)}
    return {hit.memory.id: chances[hit.memory.id] for hit in recall.hits if hit.memory.id in chances}
