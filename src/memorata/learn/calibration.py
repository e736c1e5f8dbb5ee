r"""Calibration: the probability that a pair of this similarity is relevant, by embedder.

A cosine of 0.6 says much with one embedder and nothing with the next. From labelled pairs of one embedder a
monotone curve is fitted (:mod:`memorata.learn.curves`), saved if it is calibrated better than the similarity
itself, and read for the hits of a recall. Measured by the expected calibration error (Naeini et al., AAAI
2015) on the pairs that were fitted a curve flatters itself, the isotonic one most; :func:`out_of_fold`
measures on others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol

import numpy as np

from memorata._frozen import frozen
from memorata.engine import Engine, RecallResult
from memorata.engine.recall.log import trace_columns
from memorata.learn.curves import Isotonic, Logistic, fit_isotonic, fit_logistic
from memorata.learn.thresholds import MIN_PAIRS, labelled_pairs
from memorata.learn.training_set import Pairs
from memorata.learn.validation import grouped_folds
from memorata.model import checks
from memorata.model.checks import Flags, FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.identifiers import namespace as checked_namespace
from memorata.store.saved_settings import SavedSetting


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

    - `probability`, `relevant`: one of each per pair; at least one pair.
    - `bins`: how many bins of equal width from 0 to 1; a probability of 1 is in the last.

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
    held = np.bincount(place, minlength=number).astype(np.float64)
    some = held > 0
    predicted = np.bincount(place, weights=chance, minlength=number)[some] / held[some]
    observed = np.bincount(place, weights=labels.astype(np.float64), minlength=number)[some] / held[some]
    error = float((held[some] / count * np.abs(observed - predicted)).sum())
    return Reliability(predicted, observed, held[some], error)


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
    """A curve from the similarity of one embedder to the probability of relevance.

    - `embedder`, `fit`: whose, and which kind of curve.
    - `curve`: as plain data, which :func:`~memorata.learn.calibration.calibration_of` reads.
    - `before`, `after`: how well the similarity itself, and the curve on pairs it was not fitted to, keep
      their word.
    - `pairs`: how many judged pairs there were.
    """

    embedder: str
    fit: str
    curve: Mapping[str, Any]
    before: Reliability
    after: Reliability
    pairs: int

    @property
    def accepted(self) -> bool:
        """Whether the curve keeps its word better than the similarity does."""
        return self.after.error < self.before.error

    def evidence(self) -> dict[str, Any]:
        """Return the numbers that speak for it, as plain data."""
        return {"pairs": self.pairs, "error_before": self.before.error, "error_after": self.after.error}


def calibrate(
    pairs: Pairs, embedder: str, *, fit: str = "logistic", folds: int = 5, seed: int = 0
) -> Calibrated:
    """Fit the probability of relevance to judged pairs of one embedder, and measure it out of fold.

    - `pairs`: the judged pairs.
    - `embedder`: its name.
    - `fit`: one of :data:`FITS`.
    - `folds`, `seed`: how often data is held out, and where the dealing starts.
    """
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
        engine.namespace if namespace is None else checked_namespace("namespace", namespace),
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
    # By memory and not by place: the hits may be some of those that the trace knows, or others too.
    slots = trace.slots[measured].tolist()
    ids = engine.store.recalls.ids_of(recall.hits[0].memory.namespace, slots)
    likely = curve(similarity[measured].clip(-1, 1)).tolist()
    chances = {ids.get(slot): chance for slot, chance in zip(slots, likely, strict=True)}
    return {hit.memory.id: chances[hit.memory.id] for hit in recall.hits if hit.memory.id in chances}
