r"""A/B tests: users divided among the variants of a recipe, what each variant achieved, and the winner.

Assignment needs no state. The experiment's and the user's name are hashed together (BLAKE2b) to a point
between 0 and 1, and the weights divide that line among the variants. Two experiments divide people
independently of each other, which one hash of the user alone would not do. Python's own ``hash`` is salted
anew in every process and is of no use here.

A variant's worth is :math:`0.4\,\mathrm{CTR} + 0.4\,s/5 + 0.2\,(1 - z)`, from the share of questions with a
click, the mean rating :math:`s` (1 to 5), and the share :math:`z` of questions without any result. One
person's questions resemble each other, so people are the sample, not questions: the variance of the worth is
the sum over users of the squares of what each contributed to it (the delta method with clusters; Deng,
Knoblich & Lu, KDD 2018).

A winner is named only with enough users in every variant, after enough days, and when it is worth more than
every other by more than chance does, by an interval that may be looked at every day
(:mod:`memorata_lab.evaluate.significance`). The tests of single measures beside it take questions as
independent and a single look; they describe, and decide nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from datetime import datetime
from itertools import accumulate
from operator import add
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import FloatArray, checks
from memorata_lab.evaluate.significance import Difference, mixture_difference, two_proportions, welch

_SUM_TOLERANCE = 1e-9
"""How far from 1 weights may sum: what is left of ten tenths, and not a forgotten variant."""


@frozen
class Variant:
    """One of the things that are compared: a name, its share of the users, and the settings it changes."""

    name: str
    weight: float
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not checks.text("name", self.name):
            raise InvalidArgument("name", self.name, "a name")
        object.__setattr__(self, "weight", checks.above("weight", self.weight, 0))
        if not isinstance(self.settings, Mapping):
            raise InvalidArgument("settings", self.settings, "a mapping of parameters to values")
        checks.texts("settings", self.settings)
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))


@frozen
class Experiment:
    """Two or more variants of a recipe's settings that users are divided among, by weights that sum to 1.

    >>> Experiment("meaning", (Variant("as it is", 0.5), Variant("more", 0.4)))
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: variants must be variants whose weights sum to 1, got 0.9
    """

    name: str
    variants: Sequence[Variant]

    def __post_init__(self) -> None:
        if not checks.text("name", self.name):
            raise InvalidArgument("name", self.name, "a name")
        variants = self.variants
        if not isinstance(variants, Sequence) or not all(
            isinstance(variant, Variant) for variant in variants
        ):
            raise InvalidArgument("variants", variants, "a list of variants")
        if len(variants) < 2:
            raise InvalidArgument("variants", [variant.name for variant in variants], "at least two variants")
        names = [variant.name for variant in variants]
        if len(set(names)) < len(names):
            raise InvalidArgument("variants", names, "variants with names of their own")
        # Not by fsum, which has no answer where the sum is beyond every number.
        total = sum(variant.weight for variant in variants)
        if abs(total - 1) > _SUM_TOLERANCE:
            raise InvalidArgument("variants", total, "variants whose weights sum to 1")
        object.__setattr__(self, "variants", tuple(variants))

    def assigned(self, user: str) -> Variant:
        """Return the variant of a user; the same answer in every process, on every machine, for ever."""
        point = position(self.name, user)
        ends = accumulate(variant.weight for variant in self.variants)
        matching = (variant for variant, end in zip(self.variants, ends, strict=True) if point < end)
        # The last end may be a rounding short of 1, and a point beyond it is the last one's all the same.
        return next(matching, self.variants[-1])


def position(experiment: str, user: str) -> float:
    """Return where a user stands in an experiment, from 0 to below 1, evenly over users."""
    names = checks.writable("experiment", experiment), checks.writable("user", user)
    # The length comes first, so that "a" and "bc" are not taken for "ab" and "c".
    key = f"{len(names[0])}:{names[0]}{names[1]}".encode()
    number = int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")
    return (number >> 11) / (1 << 53)


BEST_RATING: Final = 5


@frozen
class Observation:
    """One question of one user: when, how many results, whether one was clicked, and a rating if given."""

    user: str
    at: datetime
    results: int
    clicked: bool = False
    rating: int | None = None

    def __post_init__(self) -> None:
        checks.text("user", self.user)
        object.__setattr__(self, "at", checks.instant("at", self.at))
        checks.whole("results", self.results)
        if checks.flag("clicked", self.clicked) and not self.results:
            raise InvalidArgument("clicked", True, "False where there are no results")
        if self.rating is not None and not 1 <= checks.whole("rating", self.rating, 1) <= BEST_RATING:
            raise InvalidArgument("rating", self.rating, f"a whole number from 1 to {BEST_RATING}")


@frozen
class Composite:
    """How much each measure counts; they sum to 1. Without ratings, give satisfaction no weight."""

    click_through: float = 0.4
    satisfaction: float = 0.4
    found: float = 0.2

    def __post_init__(self) -> None:
        parts = [checks.probability(field.name, getattr(self, field.name)) for field in fields(self)]
        if abs(sum(parts) - 1) > 1e-9:
            raise InvalidArgument("weights", parts, "weights that sum to 1")

    def worth(self, click_through: float, satisfaction: float, zero_results: float) -> float:
        """Return the composite of three measures."""
        return (
            self.click_through * click_through
            + self.satisfaction * satisfaction / BEST_RATING
            + self.found * (1 - zero_results)
        )


@frozen(eq=False)
class Totals:
    """What each user of a variant did so far: arrays with users along the last axis."""

    questions: FloatArray
    clicked: FloatArray
    empty: FloatArray
    results: FloatArray
    ratings: FloatArray
    stars: FloatArray

    @classmethod
    def of(cls, observations: Iterable[Observation]) -> Totals:
        """Add up the questions of each user."""
        by_user: dict[str, list[float]] = {}
        for seen in observations:
            rated = seen.rating is not None
            row = (1, seen.clicked, not seen.results, seen.results, rated, seen.rating or 0)
            sums = by_user.setdefault(seen.user, [0.0] * len(row))
            sums[:] = map(add, sums, row)
        return cls(*np.array(list(by_user.values()), np.float64).reshape(-1, 6).T)


@frozen
class Measures:
    """What a variant achieved so far; NaN for satisfaction without ratings, and for a worth that needs it."""

    users: int
    questions: int
    ratings: int
    click_through: float
    zero_results: float
    mean_results: float
    satisfaction: float
    worth: float


def measured(totals: Totals, composite: Composite) -> Measures:
    """Return what a variant achieved; NaN for shares of nothing."""
    questions, ratings = float(totals.questions.sum()), float(totals.ratings.sum())
    per = questions or np.nan
    click, empty = float(totals.clicked.sum()) / per, float(totals.empty.sum()) / per
    stars = float(totals.stars.sum()) / (ratings or np.nan)
    satisfaction = stars if composite.satisfaction else 0.0
    return Measures(
        users=int(totals.questions.size),
        questions=int(questions),
        ratings=int(ratings),
        click_through=click,
        zero_results=empty,
        mean_results=float(totals.results.sum()) / per,
        satisfaction=stars,
        worth=composite.worth(click, satisfaction, empty),
    )


def worth_of(totals: Totals, composite: Composite) -> tuple[FloatArray, FloatArray]:
    r"""Return the worth of a variant and its variance, over all axes of the totals but the last.

    .. math:: \hat V = \frac{U}{U-1} \sum_u \Bigl( 0.4 \frac{c_u - \hat c\, n_u}{N}
        + \frac{0.4}{5} \frac{s_u - \hat s\, m_u}{M} - 0.2 \frac{z_u - \hat z\, n_u}{N} \Bigr)^2

    with a user's questions :math:`n_u`, clicks :math:`c_u`, empty answers :math:`z_u`, ratings :math:`m_u`
    and stars :math:`s_u`. Users without a question yet do not count in :math:`U`. NaN for fewer than two
    users, or without a rating where satisfaction counts.
    """
    questions, ratings = totals.questions, totals.ratings
    number = questions.sum(axis=-1, keepdims=True)
    rated = ratings.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        click = totals.clicked.sum(axis=-1, keepdims=True) / number
        empty = totals.empty.sum(axis=-1, keepdims=True) / number
        part = composite.click_through * (totals.clicked - click * questions) / number
        part = part - composite.found * (totals.empty - empty * questions) / number
        value = composite.click_through * click + composite.found * (1 - empty)
        if composite.satisfaction:
            stars = totals.stars.sum(axis=-1, keepdims=True) / rated
            part = part + composite.satisfaction / BEST_RATING * (totals.stars - stars * ratings) / rated
            value = value + composite.satisfaction / BEST_RATING * stars
        users = (questions > 0).sum(axis=-1)
        variance = np.where(users > 1, (part * part).sum(axis=-1) * (users / (users - 1.0)), np.nan)
    return value[..., 0], variance


EFFECT: Final = 0.05
"""The difference in worth that is to be found soonest."""
_MAX_CHANCE: Final = 0.05
_MAX_DEVIATION: Final = 4.0
"""How many standard errors a variant's users may be off their share: beyond, it is no chance."""


@frozen
class Comparison:
    """The leading variant against another: interval and p value of the worth hold however often one looks.

    Those of single measures are right for a single look; satisfaction is None with fewer than two ratings.
    """

    other: str
    worth: Difference
    click_through: Difference
    zero_results: Difference
    satisfaction: Difference | None


@frozen
class Recommendation:
    """The winner, or why there is none yet; without comparisons while there is too little to compare."""

    winner: str | None
    reason: str
    days: int
    measures: Mapping[str, Measures]
    comparisons: tuple[Comparison, ...] = ()


def recommend(
    experiment: Experiment,
    observations: Mapping[str, Iterable[Observation]],
    *,
    composite: Composite | None = None,
    least_users: int = 100,
    least_days: int = 7,
    effect: float = EFFECT,
) -> Recommendation:
    """Return the winner of an experiment, or what is missing.

    `effect` is the difference in worth that is to be found soonest. The chance of ever naming a winner among
    variants that are worth the same is at most 5 %, shared among the comparisons (Bonferroni).
    """
    names = [variant.name for variant in experiment.variants]
    if not isinstance(observations, Mapping):
        raise InvalidArgument("observations", observations, "a mapping of variants to observations")
    for name in observations:
        checks.one_of("observations", name, names)
    seen = {name: tuple(observations.get(name, ())) for name in names}
    counted, whole = checks.whole("least_users", least_users, 2), checks.whole("least_days", least_days, 1)
    parts = Composite() if composite is None else composite
    totals = {name: Totals.of(observed) for name, observed in seen.items()}
    measures = {name: measured(total, parts) for name, total in totals.items()}
    _require_disjoint_users(seen)
    dates = [observation.at.date() for variant in seen.values() for observation in variant]
    days = (max(dates) - min(dates)).days + 1 if dates else 0
    missing = _missing(measures, days, counted, whole)
    missing = missing or _sample_ratio_mismatch(experiment, measures)
    if missing:
        return Recommendation(None, f"no decision yet: {missing}", days, measures)
    leader = max(names, key=lambda name: measures[name].worth)
    share = 1 - _MAX_CHANCE / (len(names) - 1)
    comparisons = tuple(
        _compared(name, seen[leader], seen[name], totals[leader], totals[name], parts, effect, share)
        for name in names
        if name != leader
    )
    closest = min(comparisons, key=lambda comparison: comparison.worth.low)
    numbers = (
        f"{leader!r} is worth {closest.worth.mean:+.4f} more than {closest.other!r} "
        f"({share:.1%} interval {closest.worth.low:+.4f} to {closest.worth.high:+.4f})"
    )
    if closest.worth.low > 0:
        return Recommendation(leader, f"winner: {numbers}", days, measures, comparisons)
    return Recommendation(
        None, f"no decision yet: {numbers}, which chance may do", days, measures, comparisons
    )


def _missing(measures: Mapping[str, Measures], days: int, least_users: int, least_days: int) -> str:
    for name, values in measures.items():
        if values.users < least_users:
            return f"{name!r} has {values.users} users, {least_users - values.users} more are needed"
    if days < least_days:
        return f"it has run for {days} days, {least_days - days} more are needed"
    for name, values in measures.items():
        if np.isnan(values.worth):
            return f"{name!r} has no rating, and satisfaction counts; at least 1 is needed"
    return ""


def _require_disjoint_users(seen: Mapping[str, tuple[Observation, ...]]) -> None:
    """Refuse a user who has seen two variants: such users are no independent samples of either."""
    variant_of: dict[str, str] = {}
    for name, observations in seen.items():
        for user in {observation.user for observation in observations}:
            if variant_of.setdefault(user, name) != name:
                raise InvalidArgument(
                    f"observations[{name!r}]", user, f"users who have not seen {variant_of[user]!r} too"
                )


def _sample_ratio_mismatch(experiment: Experiment, measures: Mapping[str, Measures]) -> str:
    """Return how users are divided otherwise than declared, which means that some were lost on the way.

    The sample ratio mismatch of Fabijan et al., KDD 2019.
    """
    total = sum(measure.users for measure in measures.values())
    for variant in experiment.variants:
        expected, users = total * variant.weight, measures[variant.name].users
        if abs(users - expected) > _MAX_DEVIATION * np.sqrt(expected * (1 - variant.weight)):
            return (
                f"{variant.name!r} has {users} of {total} users where its weight gives it {expected:.0f}; "
                "find out why before believing either"
            )
    return ""


def _compared(
    other: str,
    leading: tuple[Observation, ...],
    following: tuple[Observation, ...],
    ours: Totals,
    theirs: Totals,
    composite: Composite,
    effect: float,
    level: float,
) -> Comparison:
    worth, variance = worth_of(ours, composite)
    their_worth, their_variance = worth_of(theirs, composite)
    stars = [
        [observation.rating for observation in side if observation.rating is not None]
        for side in (leading, following)
    ]

    def shares(of: str) -> Difference:
        counts = [(int(getattr(side, of).sum()), int(side.questions.sum())) for side in (ours, theirs)]
        return two_proportions(*counts[0], *counts[1], level=level)

    return Comparison(
        other,
        mixture_difference(
            float(worth - their_worth), float(variance + their_variance), scale=effect, level=level
        ),
        shares("clicked"),
        shares("empty"),
        welch(*stars, level=level) if min(map(len, stars)) > 1 else None,
    )
