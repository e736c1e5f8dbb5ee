r"""Outcome measures of a variant: click-through, satisfaction, zero results, and their composite, its worth.

A variant's worth is :math:`0.4\,\mathrm{CTR} + 0.4\,s/5 + 0.2\,(1 - z)`, from the share of questions with a
click, the mean rating :math:`s` (1 to 5), and the share :math:`z` of questions without any result.

One person's questions resemble each other, so people are the sample, not questions: the variance of the worth
is the sum over users of the squares of what each contributed to it (the delta method with clusters; Deng,
Knoblich & Lu, KDD 2018).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument

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
        users: dict[str, int] = {}
        rows = []
        for observation in observations:
            place = users.setdefault(observation.user, len(users))
            rated = observation.rating is not None
            rows.append(
                (
                    place,
                    1,
                    observation.clicked,
                    not observation.results,
                    observation.results,
                    rated,
                    observation.rating or 0,
                )
            )
        table = np.array(rows, np.float64).reshape(-1, 7)
        sums = np.zeros((len(users), 6))
        np.add.at(sums, table[:, 0].astype(np.intp), table[:, 1:])
        return cls(*sums.T)


@frozen
class Measures:
    """What a variant achieved so far.

    - `users`, `questions`, `ratings`: how many.
    - `click_through`, `zero_results`, `mean_results`: shares of the questions, and results per question.
    - `satisfaction`: the mean rating; NaN without any.
    - `worth`: the composite; NaN where satisfaction counts and is not known.
    """

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

    >>> clicks, ones, none = np.array([1.0, 0.0, 1.0, 0.0]), np.ones(4), np.zeros(4)
    >>> worth, variance = worth_of(Totals(ones, clicks, none, ones, none, none), Composite(1.0, 0.0, 0.0))
    >>> float(worth), round(float(variance), 4)  # 4/3 · Σ (±0.5 / 4)², as for any mean of four
    (0.5, 0.0833)
    """
    questions, ratings = totals.questions, totals.ratings
    number = questions.sum(axis=-1, keepdims=True)
    rated = ratings.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        click = totals.clicked.sum(axis=-1, keepdims=True) / number
        empty = totals.empty.sum(axis=-1, keepdims=True) / number
        part = composite.click_through * (totals.clicked - click * questions) / number
        part = part - composite.found * (totals.empty - empty * questions) / number
        worth = composite.click_through * click + composite.found * (1 - empty)
        if composite.satisfaction:
            stars = totals.stars.sum(axis=-1, keepdims=True) / rated
            part = part + composite.satisfaction / BEST_RATING * (totals.stars - stars * ratings) / rated
            worth = worth + composite.satisfaction / BEST_RATING * stars
        users = (questions > 0).sum(axis=-1)
        variance = np.where(users > 1, (part * part).sum(axis=-1) * (users / (users - 1.0)), np.nan)
    return worth[..., 0], variance
