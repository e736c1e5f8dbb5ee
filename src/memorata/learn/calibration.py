r"""What a similarity is worth: the probability that a pair this similar is relevant.

A cosine of 0.6 says much with one embedder and nothing with the next. From labelled pairs of one embedder a
rising curve can be fitted: :mod:`memorata.learn.isotonic`, with no shape given in advance, or
:mod:`memorata.learn.logistic`, of two numbers.

How well probabilities keep their word is the expected calibration error (Naeini et al., AAAI 2015). Measured
on the pairs that were fitted it flatters, the isotonic one most; :func:`out_of_fold` measures on others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from memorata._frozen import frozen
from memorata.learn.folds import grouped_folds
from memorata.learn.isotonic import Isotonic, fit_isotonic
from memorata.learn.labels import labelled_pairs
from memorata.learn.logistic import Logistic
from memorata.model import checks
from memorata.model.checks import Flags, FloatArray, Numbers
from memorata.model.errors import InvalidArgument


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
    """How often what was called likely came true, by bins of equal width that hold anything.

    Attributes
    ----------
    predicted, observed
        The mean probability of each bin, and the share of its pairs that are relevant.
    counts
        How many pairs are in it.
    error
        The expected calibration error.
    """

    predicted: FloatArray
    observed: FloatArray
    counts: FloatArray
    error: float


def calibration_of(data: Mapping[str, Any]) -> Calibration:
    """Read a curve back from the plain data of its ``as_dict``.

    Examples
    --------
    >>> calibration_of({"kind": "logistic", "intercept": -5.0, "slope": 10.0})
    Logistic(intercept=-5.0, slope=10.0)
    """
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

    Parameters
    ----------
    probability, relevant
        One of each per pair; at least one pair.
    bins
        How many bins of equal width from 0 to 1; a probability of 1 is in the last.

    Examples
    --------
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


def expected_calibration_error(probability: Numbers, relevant: Flags, *, bins: int = 10) -> float:
    """Return how far probabilities are from how often they came true, as in :func:`reliability`.

    Examples
    --------
    >>> round(expected_calibration_error([0.9, 0.9, 0.1, 0.1], [True, False, False, False], bins=2), 3)
    0.25
    """
    return reliability(probability, relevant, bins=bins).error


def out_of_fold(
    similarity: Numbers,
    relevant: Flags,
    groups: Sequence[str],
    fit: Callable[[FloatArray, Any], Calibration] = fit_isotonic,
    *,
    count: int = 5,
    seed: int = 0,
) -> FloatArray:
    """Return each pair's probability from a curve that was fitted without the pair's group.

    Parameters
    ----------
    similarity, relevant
        As for :func:`~memorata.learn.labels.labelled_pairs`; each fold's own must be enough for `fit`.
    groups
        The group of each pair: its question or conversation.
    fit
        :func:`~memorata.learn.isotonic.fit_isotonic` or :func:`~memorata.learn.logistic.fit_logistic`.
    count, seed
        As for :func:`~memorata.learn.folds.grouped_folds`.

    Examples
    --------
    >>> similar = [0.1, 0.9] * 20
    >>> chance = out_of_fold(similar, [False, True] * 20, [f"q{row // 2}" for row in range(40)])
    >>> expected_calibration_error(chance, [False, True] * 20)
    0.0
    """
    similar, labels = labelled_pairs(similarity, relevant, least=2)
    checks.same_length(similarity=similar, groups=checks.texts("groups", groups))
    chance = np.empty(similar.size)
    for fold in grouped_folds(groups, count=count, seed=seed):
        curve = fit(similar[fold.learnt], labels[fold.learnt])
        chance[fold.held_out] = curve(similar[fold.held_out])
    return chance
