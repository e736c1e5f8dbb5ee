"""Simulated users: logs and experiments with a known truth, to see whether learning finds it.

Nothing can be said about a method of learning from data whose truth nobody knows. Here the truth is an
argument: the weight that ranks best, or that none does; variants that differ by so much, or not at all. The
trials run tuning, daily looks at an experiment, and two ways of comparing on many of these; tests run them
small, ``benchmarks/learning.py`` runs them large and prints them. Everything follows from the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.errors import InvalidArgument
from memorata_lab.evaluate.significance import mixture_difference, sign_test
from memorata_lab.learn.ab_test import Composite, Totals, worth_of
from memorata_lab.learn.experiments import credit, team_draft
from memorata_lab.learn.search import GridScores, tune_grid

_RELEVANT = 3
"""Relevant candidates of a question."""


@frozen(eq=False)
class Log:
    """Logged recalls: of each candidate two scores, and whether it is labelled relevant."""

    meaning: FloatArray
    words: FloatArray
    relevant: BoolArray

    def ndcg(self, weight: float, k: int = 10) -> FloatArray:
        """Return nDCG at `k` of each question at a weight of meaning, the rest being words."""
        scores = weight * self.meaning + (1 - weight) * self.words
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        discounts = 1 / np.log2(2.0 + np.arange(self.relevant.shape[1]))
        gains = np.take_along_axis(self.relevant, order, axis=1) @ discounts[: order.shape[1]]
        ideals = np.r_[0.0, np.cumsum(discounts[:k]), np.full(len(discounts), discounts[:k].sum())]
        result: FloatArray = gains / ideals[self.relevant.sum(axis=1)]
        return result


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

    `best` is the weight of meaning at which relevance shows, None for relevance that has nothing to do with
    it; `wrong` the share of candidates that are labelled the opposite of the truth; `blur` the noise in the
    truth itself: how far relevance is from the weighted sum. Questions without a relevant candidate are left
    out.
    """
    checks.whole("questions", questions)
    checks.whole("candidates", candidates, _RELEVANT + 1)
    random = np.random.default_rng(checks.whole("seed", seed))
    columns = random.random((2, questions, candidates))
    noise = random.normal(0.0, blur, (questions, candidates))
    truth = noise if best is None else best * columns[0] + (1 - best) * columns[1] + noise
    relevant = truth >= np.sort(truth, axis=1)[:, [-_RELEVANT]] if questions else truth > 0
    labelled = relevant ^ (random.random(truth.shape) < wrong)
    some = labelled.any(axis=1)
    return Log(columns[0][some], columns[1][some], labelled[some])


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
    """What people did with the same questions: under either ranking alone, and under both interleaved."""

    first: BoolArray
    second: BoolArray
    credits: IntArray


def simulated_clicks(
    questions: int, *, seed: int, blur: float, other_blur: float, candidates: int = 12, shown: int = 5
) -> Clicks:
    """Return clicks on two rankings of different quality: the same truth, seen through different noise.

    A reader goes on to the next place with a chance of 0.8, and clicks on what is relevant with 0.7, on what
    is not with 0.1 (a cascade with doubts; Craswell et al., WSDM 2008).
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


@frozen(eq=False)
class TuningTrials:
    """What tuning did in many simulated logs."""

    accepted: float
    weights: FloatArray
    gains: FloatArray


def tuning_trials(
    repeats: int, questions: int, *, best: float | None, current: float, wrong: float = 0.1, seed: int = 0
) -> TuningTrials:
    """Tune the weight of meaning on many simulated logs."""
    checks.whole("repeats", repeats, 1)
    in_use = checks.probability("current", current)
    shares = [in_use, *(step / 20 for step in range(21))]
    settings = tuple({"meaning": share} for share in shares)
    accepted, weights, gains = [], [], []
    for repeat in range(repeats):
        log = simulated_log(questions, best=best, wrong=wrong, seed=seed + repeat)
        groups = [f"q{number}" for number in range(len(log.relevant))]
        scores = GridScores(settings, np.stack([log.ndcg(share) for share in shares]))
        verdict = tune_grid(scores, groups, seed=repeat)
        accepted.append(verdict.accepted)
        weights.append(verdict.setting["meaning"] if verdict.accepted else in_use)
        gains.append(verdict.gain.mean)
    return TuningTrials(float(np.mean(accepted)), np.array(weights), np.array(gains))


@frozen
class PeekingTrials:
    """How often a winner was named when somebody looked every day."""

    always_valid: float
    fixed: float
    single_look: float
    days: float


def peeking_trials(
    repeats: int,
    *,
    lift: float = 0.0,
    users: int = 200,
    days: int = 28,
    least_users: int = 100,
    least_days: int = 7,
    effect: float = 0.05,
    level: float = 0.95,
    seed: int = 0,
) -> PeekingTrials:
    """Run many simulated experiments, look at each every day, and stop at the first winner."""
    checks.whole("repeats", repeats, 1)
    composite, line = Composite(), NormalDist().inv_cdf((1 + checks.probability("level", level)) / 2)
    named = fixed = single = 0
    when = []
    for repeat in range(repeats):
        first = simulated_users(users, days, seed=seed + 2 * repeat)
        second = simulated_users(users, days, seed=seed + 2 * repeat + 1, click_rate=0.5 + lift)
        (worth, variance), (other, other_variance) = worth_of(first, composite), worth_of(second, composite)
        asked = np.arange(1, days + 1) >= least_days
        for each in (first, second):
            asked &= (each.questions > 0).sum(axis=-1) >= least_users
        gaps, spreads = (other - worth)[asked], (variance + other_variance)[asked]
        looks = zip(gaps.tolist(), spreads.tolist(), strict=True)
        intervals = [mixture_difference(gap, spread, scale=effect, level=level) for gap, spread in looks]
        found = np.array([each.low > 0 or each.high < 0 for each in intervals])
        usual = np.abs(gaps) > line * np.sqrt(spreads)
        if found.any():
            named += 1
            when.append(int(np.flatnonzero(asked)[found.argmax()]) + 1)
        fixed += bool(usual.any())
        single += bool(usual.size and usual[-1])
    median = float(np.median(when)) if when else float("nan")
    return PeekingTrials(named / repeats, fixed / repeats, single / repeats, median)


def questions_needed(
    clicks: Clicks, *, power: float = 0.8, level: float = 0.95, repeats: int = 1_000, seed: int = 0
) -> tuple[int, int]:
    """Return how many questions an A/B comparison and team-draft interleaving need to see the difference.

    Both are drawn from what simulated people did: half of the questions to either ranking, compared by the
    share with a click (two proportions); or all of them interleaved, compared by the questions won (sign
    test). The number is the least at which the better one is found as often as `power` says.
    """
    alpha = 1 - checks.probability("level", level)
    rates = float(clicks.first.mean()), float(clicks.second.mean())
    wins, losses = float((clicks.credits > 0).mean()), float((clicks.credits < 0).mean())
    if rates[0] <= rates[1] or wins <= losses:
        raise InvalidArgument("clicks", rates, "clicks of which the first ranking has more")
    line = NormalDist().inv_cdf(1 - alpha / 2)
    known = lru_cache(maxsize=None)(sign_test)

    def by_halves(count: int) -> float:
        random, half = np.random.default_rng(seed), count // 2
        one, two = (random.binomial(half, rate, repeats) / half for rate in rates)
        both = (one + two) / 2
        error = np.sqrt(both * (1 - both) * 2 / half)
        return float((one - two > line * error).mean())

    def by_draft(count: int) -> float:
        random = np.random.default_rng(seed)
        drawn = random.multinomial(count, [wins, losses, 1 - wins - losses], repeats)
        return float(np.mean([won > lost and known(won, lost) <= alpha for won, lost, _ in drawn.tolist()]))

    return _least(by_halves, power), _least(by_draft, power)


def _least(power_at: Callable[[int], float], wanted: float) -> int:
    """Return about the least number of questions with that power: doubling, then halving to 2 %."""
    high = 10
    while power_at(high) < wanted:
        high *= 2
        if high > 10_000_000:
            raise InvalidArgument("clicks", high, "clicks whose difference ten million questions show")
    low = high // 2
    while high - low > max(1, high // 50):
        middle = round(sqrt(low * high))
        low, high = (middle, high) if power_at(middle) < wanted else (low, middle)
    return high
