r"""Weights that fit the question, the memory and the namespace, as far as there is evidence for it.

The tables of :mod:`memorata.rank.weights` say what suits a category of memory or a type of query in general.
What one namespace has shown by its own feedback is noisy while there is little of it, so it is drawn towards
what holds for all: with :math:`n` judged questions of its own and a strength of :math:`m`,

.. math:: w = \frac{n\,w_{\text{own}} + m\,w_{\text{all}}}{n + m}

which is the mean of a beta-binomial (or Dirichlet) whose prior is worth :math:`m` questions. How strong the
prior should be can itself be read from how much namespaces differ beyond noise (James & Stein, 1961; Efron &
Morris, *JASA* 70, 1975).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Annotated, Final

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers, Rows
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared
from memorata.rank.weights import BY_CATEGORY, BY_QUERY_TYPE, Weights, preset

STRENGTH: Final = 50.0
"""How many judged questions of its own outweigh what holds for all, where the caller does not say."""
Strength = Annotated[float, Declared("Judged questions that count as much as the global weights.", 0, 1000)]


@frozen
class Learnt:
    """What a namespace's own feedback says: its best weights, and from how many judged questions."""

    weights: Mapping[str, float]
    questions: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", MappingProxyType(_weights("weights", self.weights)))
        checks.whole("questions", self.questions)


@frozen
class AdaptiveWeights:
    """Which weights to use for which question in which namespace.

    Parameters
    ----------
    everywhere
        What holds for all.
    namespaces
        What some have learnt for themselves.
    strength
        As for :func:`shrunken`.

    Examples
    --------
    >>> weights = AdaptiveWeights({"meaning": 0.4, "words": 0.6},
    ...                           {"acme": Learnt({"meaning": 0.8, "words": 0.2}, questions=50)})
    >>> weights.of("acme")["meaning"], weights.of("other")["meaning"]
    (0.6000000000000001, 0.4)
    """

    everywhere: Mapping[str, float]
    namespaces: Mapping[str, Learnt] = field(default_factory=dict)
    strength: float = STRENGTH

    def __post_init__(self) -> None:
        object.__setattr__(self, "everywhere", MappingProxyType(_weights("everywhere", self.everywhere)))
        if not isinstance(self.namespaces, Mapping):
            raise InvalidArgument(
                "namespaces", self.namespaces, "a mapping of namespaces to what they learnt"
            )
        object.__setattr__(self, "namespaces", MappingProxyType(dict(self.namespaces)))
        object.__setattr__(self, "strength", checks.at_least("strength", self.strength, 0))

    def of(self, namespace: str) -> Mapping[str, float]:
        """Return the weights of a namespace: its own, drawn towards those of all."""
        learnt = self.namespaces.get(checks.text("namespace", namespace))
        if learnt is None:
            return self.everywhere
        return shrunken(learnt.weights, learnt.questions, self.everywhere, strength=self.strength)


def similarity_and_confidence(
    *,
    category: str | None = None,
    query_type: str | None = None,
    sureness: float = 1.0,
    least: float = 0.6,
) -> Weights:
    """Return the weights of similarity and confidence by type of query, else by category, else the default.

    The question decides where its type is sure enough; otherwise the memory's category does, if it has
    weights of its own.

    Parameters
    ----------
    category
        The memory's.
    query_type, sureness
        What the classifier says the query is, and how sure it is.
    least
        How sure it must be to be followed.

    Examples
    --------
    >>> similarity_and_confidence(category="correction", query_type="factual", sureness=0.9)
    Weights(alpha=0.35, beta=0.65)
    >>> similarity_and_confidence(category="correction", query_type="factual", sureness=0.3)
    Weights(alpha=0.3, beta=0.7)
    >>> similarity_and_confidence()
    Weights(alpha=0.65, beta=0.35)
    """
    sure = checks.probability("sureness", sureness) >= checks.probability("least", least)
    if query_type is not None:
        checks.one_of("query_type", query_type, tuple(BY_QUERY_TYPE))
        if sure:
            return BY_QUERY_TYPE[query_type]
    if category is not None and checks.text("category", category) in BY_CATEGORY:
        return BY_CATEGORY[category]
    return preset()


def shrunken(
    own: Mapping[str, float], questions: int, towards: Mapping[str, float], *, strength: Strength = STRENGTH
) -> Mapping[str, float]:
    r"""Return weights between a namespace's own and those of all: :math:`(n w + m w_0) / (n + m)`.

    Parameters
    ----------
    own
        What its feedback says; a weight that is not named is 0.
    questions
        :math:`n`, from how many judged questions.
    towards
        :math:`w_0`, what holds for all.
    strength
        :math:`m`; 0 believes the namespace at once.

    Examples
    --------
    >>> shrunken({"meaning": 1.0}, 50, {"meaning": 0.5, "words": 0.5}, strength=150)
    {'meaning': 0.625, 'words': 0.375}
    """
    mine, all_ = _weights("own", own), _weights("towards", towards)
    count, prior = checks.whole("questions", questions), checks.at_least("strength", strength, 0)
    share = count / (count + prior) if count else 0.0
    names = dict.fromkeys([*all_, *mine])
    return {name: share * mine.get(name, 0.0) + (1 - share) * all_.get(name, 0.0) for name in names}


def shrunken_rates(
    successes: Numbers, trials: Numbers, *, mean: float | None = None, strength: Strength = STRENGTH
) -> FloatArray:
    r"""Return the rate of each namespace, drawn towards the common one: :math:`(s + m \mu) / (n + m)`.

    Parameters
    ----------
    successes, trials
        Of each namespace.
    mean
        :math:`\mu`; by default the rate of all of them together.
    strength
        :math:`m`, in trials; above 0, since a namespace without any has no rate of its own.

    Examples
    --------
    >>> shrunken_rates([1, 90], [1, 100], mean=0.5, strength=10).round(3)
    array([0.545, 0.864])
    """
    won, tried = checks.counts("successes", successes), checks.counts("trials", trials)
    checks.same_length(successes=won, trials=tried)
    if (won > tried).any():
        place = int(np.flatnonzero(won > tried)[0])
        raise InvalidArgument(f"successes[{place}]", float(won[place]), f"at most trials[{place}]")
    prior = checks.above("strength", strength, 0)
    if mean is None and not tried.sum():
        raise InvalidArgument("trials", tried.tolist(), "at least one trial where no mean is given")
    centre = float(won.sum() / tried.sum()) if mean is None else checks.probability("mean", mean)
    result: FloatArray = (won + prior * centre) / (tried + prior)
    return result


def james_stein(estimates: Rows, variances: Numbers, towards: Numbers) -> FloatArray:
    r"""Return each namespace's weights, drawn towards those of all by as much as its noise deserves.

    .. math:: \hat w_i = w_0
        + \Bigl( 1 - \frac{(d - 2)\, \sigma_i^2}{\lVert w_i - w_0 \rVert^2} \Bigr)_+ (w_i - w_0)

    The positive-part estimator: a namespace that differs from all by no more than noise does gets the weights
    of all. With fewer than three weights there is nothing it can gain, and the estimates come back.

    Parameters
    ----------
    estimates
        A row of :math:`d` weights for each namespace.
    variances
        The variance :math:`\sigma_i^2` of each weight of a namespace, at least 0.
    towards
        The weights :math:`w_0` of all.

    Examples
    --------
    >>> james_stein([[0.9, 0.1, 0.0], [0.5, 0.3, 0.2]], [0.05, 0.05], [0.4, 0.3, 0.3]).round(3)
    array([[0.834, 0.126, 0.039],
           [0.4  , 0.3  , 0.3  ]])
    """
    own, noise = checks.matrix("estimates", estimates), checks.counts("variances", variances)
    centre = checks.numbers("towards", towards)
    checks.same_length(estimates=own, variances=noise)
    if own.size and own.shape[1] != centre.size:
        raise InvalidArgument("towards", centre.tolist(), f"{own.shape[1]} weights, as each row of estimates")
    with checks.finite_arithmetic("estimates", estimates):
        away = own - centre
        squares = (away * away).sum(axis=1)
        pull = max(0, centre.size - 2) * noise
        kept = 1 - np.divide(pull, squares, out=np.ones_like(pull), where=squares > pull)
        result: FloatArray = centre + kept[:, np.newaxis] * away
    return result


def _weights(argument: str, given: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(given, Mapping) or not checks.texts(argument, given):
        raise InvalidArgument(argument, given, "a mapping of at least one column to its weight")
    values = checks.weights(argument, list(given.values()), len(given))
    return dict(zip(given, values.tolist(), strict=True))
