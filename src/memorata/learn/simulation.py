"""People who are not there: logs and experiments with a known truth, to see whether learning finds it.

Nothing can be said about a method of learning from data whose truth nobody knows. Here the truth is an
argument: the weight that ranks best, or that none does; variants that differ by so much, or not at all. Tests
and ``benchmarks/learning.py`` use the same people. Everything follows from the seed.
"""

from __future__ import annotations

import numpy as np

from memorata._frozen import frozen
from memorata.learn.features import Features
from memorata.learn.interleaving import credit, team_draft
from memorata.learn.measures import Totals
from memorata.model import checks
from memorata.model.checks import BoolArray, IntArray

_RELEVANT = 3
"""Relevant candidates of a question."""


@frozen
class Log:
    """Logged recalls, and what people said of them."""

    recalls: tuple[Features, ...]
    gains: dict[str, dict[str, float]]


def simulated_log(
    questions: int,
    *,
    best: float | None,
    seed: int,
    candidates: int = 20,
    wrong: float = 0.1,
    blur: float = 0.15,
) -> Log:
    """Return recalls whose relevant candidates are those that stand highest at a known weight.

    Parameters
    ----------
    questions, candidates
        How many, and how many of each.
    best
        The weight of meaning at which relevance shows, the rest being words; None for relevance that has
        nothing to do with either.
    seed
        Where the drawing starts.
    wrong
        The share of candidates about which people say the opposite of the truth.
    blur
        The noise in the truth itself: how far relevance is from the weighted sum.

    Examples
    --------
    >>> log = simulated_log(2, best=0.3, seed=1)
    >>> log.recalls[0].names, len(log.recalls[0].ids)
    (('meaning', 'words'), 20)
    """
    checks.whole("questions", questions)
    checks.whole("candidates", candidates, _RELEVANT + 1)
    random = np.random.default_rng(checks.whole("seed", seed))
    recalls, gains = [], {}
    for number in range(questions):
        columns = random.random((2, candidates))
        noise = random.normal(0.0, blur, candidates)
        truth = noise if best is None else best * columns[0] + (1 - best) * columns[1] + noise
        relevant = np.zeros(candidates, np.bool_)
        relevant[np.argsort(-truth)[:_RELEVANT]] = True
        said = relevant ^ (random.random(candidates) < wrong)
        ids = [f"m{place}" for place in range(candidates)]
        name = f"r{number}"
        recalls.append(Features(name, ids, {"meaning": columns[0], "words": columns[1]}))
        gains[name] = {item: 1.0 for item, yes in zip(ids, said.tolist(), strict=True) if yes}
    return Log(tuple(recalls), gains)


def simulated_users(
    users: int,
    days: int,
    *,
    seed: int,
    click_rate: float = 0.5,
    rating: float = 3.5,
    empty_rate: float = 0.05,
    between: float = 0.15,
) -> Totals:
    """Return what the users of one variant have done by the end of each day: arrays of days by users.

    People differ: each has a click rate and a mood of their own, which last, so that one person's questions
    resemble each other. They arrive over the first half of the time.

    Parameters
    ----------
    users, days
        How many.
    seed
        Where the drawing starts.
    click_rate, rating, empty_rate
        Their means: questions with a click, stars, questions without a result.
    between
        How much people differ: the standard deviation of their click rates, and half of that of their stars.

    Examples
    --------
    >>> totals = simulated_users(10, 3, seed=1)
    >>> totals.questions.shape, bool((totals.clicked <= totals.questions).all())
    ((3, 10), True)
    """
    random = np.random.default_rng(checks.whole("seed", seed))
    shape = checks.whole("days", days, 1), checks.whole("users", users, 1)
    arrives = random.integers(0, max(1, shape[0] // 2), shape[1])
    here = np.arange(shape[0])[:, np.newaxis] >= arrives
    questions = random.poisson(random.gamma(2.0, 0.75, shape[1]) * here)
    empty = random.binomial(questions, empty_rate)
    # A beta of this mean and spread; the clicks are on questions that had a result.
    mean = min(1.0, click_rate / (1 - empty_rate))
    mass = max(0.5, mean * (1 - mean) / between**2 - 1)
    rates = random.beta(mean * mass, (1 - mean) * mass, shape[1])
    clicked = random.binomial(questions - empty, rates)
    ratings = random.binomial(questions, 0.2)
    # The stars of a person: one mood, shared by all their ratings, and four stars drawn around it.
    mood = np.clip((rating - 1) / 4 + random.normal(0.0, 2 * between / 4, shape[1]), 0.0, 1.0)
    stars = ratings + random.binomial(4 * ratings, mood)
    results = (questions - empty) * 5
    done = (questions, clicked, empty, results, ratings, stars)
    return Totals(*(each.cumsum(axis=0).astype(np.float64) for each in done))


@frozen(eq=False)
class Clicks:
    """What people did with the same questions: under either ranking alone, and under both interleaved.

    Attributes
    ----------
    first, second
        Whether a result was clicked, had the question been answered by that ranking.
    credits
        Which ranking won the question when interleaved: 1, -1, or 0 for a tie.
    """

    first: BoolArray
    second: BoolArray
    credits: IntArray


def simulated_clicks(
    questions: int, *, seed: int, blur: float, other_blur: float, candidates: int = 12, shown: int = 5
) -> Clicks:
    """Return clicks on two rankings of different quality: the same truth, seen through different noise.

    A reader goes on to the next place with a chance of 0.8, and clicks on what is relevant with 0.7, on what
    is not with 0.1 (a cascade with doubts; Craswell et al., WSDM 2008).

    Parameters
    ----------
    questions
        How many.
    seed
        Where the drawing starts.
    blur, other_blur
        The noise of the first and of the second ranking; less is better.
    candidates, shown
        Of each question.

    Examples
    --------
    >>> clicks = simulated_clicks(50, seed=1, blur=0.1, other_blur=2.0)
    >>> bool(clicks.first.mean() > clicks.second.mean()), bool(clicks.credits.sum() > 0)
    (True, True)
    """
    random = np.random.default_rng(checks.whole("seed", seed))
    count, width = (
        checks.whole("questions", questions, 1),
        checks.whole("candidates", candidates, _RELEVANT + 1),
    )
    truth = random.random((count, width))
    relevant = truth >= np.sort(truth, axis=1)[:, [-_RELEVANT]]
    orders = [
        np.argsort(-(truth + random.normal(0.0, noise, truth.shape)), axis=1) for noise in (blur, other_blur)
    ]
    names = [f"m{place}" for place in range(width)]
    alone = [_clicked(order[:, :shown], relevant, random).any(axis=1) for order in orders]
    lists = [[names[place] for place in row] for order in orders for row in order.tolist()]
    drafts = [
        team_draft(lists[number], lists[count + number], length=shown, seed=seed * count + number)
        for number in range(count)
    ]
    together = np.array([[int(item[1:]) for item in draft.ids] for draft in drafts])
    clicks = _clicked(together, relevant, random)
    credits = [
        credit(draft, [item for item, yes in zip(draft.ids, row, strict=True) if yes])
        for draft, row in zip(drafts, clicks.tolist(), strict=True)
    ]
    return Clicks(np.asarray(alone[0]), np.asarray(alone[1]), np.array(credits, np.intp))


def _clicked(shown: IntArray, relevant: BoolArray, random: np.random.Generator) -> BoolArray:
    """Return what is clicked of what is shown, a row for each question."""
    good = np.take_along_axis(relevant, shown, axis=1)
    going_on = np.power(0.8, np.arange(shown.shape[1]))
    # One reader stops at one place: the same draw for all the places of a row.
    looked = random.random((len(shown), 1)) < going_on
    result: BoolArray = looked & (random.random(shown.shape) < np.where(good, 0.7, 0.1))
    return result
