"""The recommendation of an experiment: its winner, or what is missing for one.

A winner is named only with enough users in every variant, after enough days, and when it is worth more than
every other by more than chance does, by an interval that may be looked at every day
(:mod:`memorata.learn.hypothesis`). The tests of single measures beside it take questions as independent and
a single look; they describe, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.evaluate.significance import Difference
from memorata.learn.assignment import Experiment
from memorata.learn.hypothesis import mixture_difference, two_proportions, welch
from memorata.learn.measures import Composite, Measures, Observation, Totals, measured, worth_of
from memorata.model import checks
from memorata.model.errors import InvalidArgument

EFFECT: Final = 0.05
"""The difference in worth that is to be found soonest."""
_MAX_DEVIATION: Final = 4.0
"""How many standard errors a variant's users may be off their share: beyond, it is no chance."""


@frozen
class Comparison:
    """The leading variant against another.

    - `other`: its name.
    - `worth`: by how much the leader is worth more; interval and p value hold however often one looks.
    - `click_through`, `zero_results`, `satisfaction`: by measure, right for a single look; satisfaction is
      None with fewer than two ratings on a side.
    """

    other: str
    worth: Difference
    click_through: Difference
    zero_results: Difference
    satisfaction: Difference | None


@frozen
class Recommendation:
    """The winner, or why there is none yet.

    - `winner`: its name; None for "no decision yet".
    - `reason`: the numbers as a sentence.
    - `days`: from the first to the last observation, both counted.
    - `measures`: by variant.
    - `comparisons`: the leading variant against each other; empty while there is too little to compare.
    """

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
    level: float = 0.95,
) -> Recommendation:
    """Return the winner of an experiment, or what is missing.

    - `experiment`: its variants.
    - `observations`: by variant; one that is not named has none.
    - `composite`: how much each measure counts.
    - `least_users`, `least_days`: in every variant, and since the first observation.
    - `effect`: the difference in worth that is to be found soonest; see
      :func:`~memorata.learn.hypothesis.mixture_difference`.
    - `level`: one minus the chance, at most, of ever naming a winner among variants that are worth the same.
      With several variants it is shared among the comparisons (Bonferroni).

    >>> from memorata.learn.assignment import Variant
    >>> even = Experiment("meaning", (Variant("as it is", 0.5), Variant("more", 0.5)))
    >>> recommend(even, {}).reason
    "no decision yet: 'as it is' has 0 users, 100 more are needed"
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
    days = _days([observation.at for variant in seen.values() for observation in variant])
    missing = _missing(measures, days, counted, whole)
    missing = missing or _sample_ratio_mismatch(experiment, measures)
    if missing:
        return Recommendation(None, f"no decision yet: {missing}", days, measures)
    leader = max(names, key=lambda name: measures[name].worth)
    share = 1 - (1 - checks.probability("level", level)) / (len(names) - 1)
    comparisons = tuple(
        _compared(name, seen[leader], seen[name], totals[leader], totals[name], parts, effect, share)
        for name in names
        if name != leader
    )
    closest = min(comparisons, key=lambda each: each.worth.low)
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
    whose: dict[str, str] = {}
    for name, observations in seen.items():
        for user in {observation.user for observation in observations}:
            if whose.setdefault(user, name) != name:
                raise InvalidArgument(
                    f"observations[{name!r}]", user, f"users who have not seen {whose[user]!r} too"
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


def _days(times: list[datetime]) -> int:
    return (max(times).date() - min(times).date()).days + 1 if times else 0


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
