"""Does learning do what it promises? Many simulated runs of tuning, of peeking, and of two ways to compare.

The tests run these small, ``benchmarks/learning.py`` runs them large and prints them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import sqrt
from statistics import NormalDist

import numpy as np

from memorata._frozen import frozen
from memorata.learn.grid import tune_weights, weight_grid
from memorata.learn.judged import Judged
from memorata.learn.measures import Composite, worth_of
from memorata.learn.sequential import mixture_difference, sign_test
from memorata.learn.simulation import Clicks, simulated_log, simulated_users
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument


@frozen(eq=False)
class TuningTrials:
    """What tuning did in many simulated logs.

    Attributes
    ----------
    accepted
        The share of runs in which a setting was accepted.
    weights
        The weight of meaning that each run would use afterwards: what was accepted, or what was in use.
    gains
        The held-out gain of each run.
    """

    accepted: float
    weights: FloatArray
    gains: FloatArray


def tuning_trials(
    repeats: int, questions: int, *, best: float | None, current: float, wrong: float = 0.1, seed: int = 0
) -> TuningTrials:
    """Tune the weight of meaning on many simulated logs.

    Parameters
    ----------
    repeats, questions
        How many logs, and questions in each.
    best
        The weight that is best in truth; None if relevance has nothing to do with it.
    current
        The weight in use.
    wrong
        The share of people's labels that are wrong.
    seed
        Of the first log; the others follow.

    Examples
    --------
    >>> found = tuning_trials(3, 60, best=0.3, current=0.9)
    >>> found.accepted, bool((abs(found.weights - 0.3) < 0.25).all())
    (1.0, True)
    """
    checks.whole("repeats", repeats, 1)
    in_use = {"meaning": checks.probability("current", current), "words": 1 - current}
    settings = weight_grid(["meaning", "words"], steps=20)
    accepted, weights, gains = [], [], []
    for repeat in range(repeats):
        log = simulated_log(questions, best=best, wrong=wrong, seed=seed + repeat)
        verdict = tune_weights(Judged.of(log.recalls, log.gains), in_use, settings, seed=repeat)
        accepted.append(verdict.accepted)
        weights.append((verdict.setting if verdict.accepted else in_use)["meaning"])
        gains.append(verdict.gain.mean)
    return TuningTrials(float(np.mean(accepted)), np.array(weights), np.array(gains))


@frozen
class PeekingTrials:
    """How often a winner was named when somebody looked every day.

    Attributes
    ----------
    always_valid
        By the evidence that allows it.
    fixed
        By the usual test, which does not.
    single_look
        By the usual test, looked at once, on the last day.
    days
        The median day on which the first named a winner; NaN if it never did.
    """

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
    """Run many simulated experiments, look at each every day, and stop at the first winner.

    Parameters
    ----------
    repeats
        How many experiments.
    lift
        By how much the click rate of the second variant is higher; 0 for variants that are the same.
    users, days
        Of each variant.
    least_users, least_days, effect, level
        As for :func:`~memorata.learn.experiment.recommend`.
    seed
        Of the first experiment; the others follow.

    Examples
    --------
    >>> found = peeking_trials(5, lift=0.3)
    >>> found.always_valid, found.days < 28
    (1.0, True)
    """
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

    Parameters
    ----------
    clicks
        What people did, the first ranking being the better one.
    power, level
        How often the difference must be found, and how sure each finding is.
    repeats, seed
        How many comparisons estimate the power, and where the drawing starts.

    Examples
    --------
    >>> from memorata.learn.simulation import simulated_clicks
    >>> halves, draft = questions_needed(simulated_clicks(2_000, seed=1, blur=0.1, other_blur=0.5))
    >>> draft < halves
    True
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
