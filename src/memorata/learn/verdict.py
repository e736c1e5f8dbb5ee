"""Is the new setting better? Only what wins on data it was not chosen on is accepted.

Choosing the best of many settings on some questions makes it look better than it is. So the choice is made
anew for each fold, without the questions that are held out, and judged on those; the gain over the current
setting is compared question by question, with a bootstrap interval over groups of questions. A setting is
refused if that interval reaches zero, if most of what it gained where it was chosen is lost elsewhere, or if
the best of as many settings would do as well by luck (:mod:`memorata.learn.luck`): folds that share most of
their questions share their luck too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.evaluate.significance import Difference, paired_bootstrap
from memorata.learn.folds import Fold
from memorata.learn.luck import luck
from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers, Rows
from memorata.model.errors import InvalidArgument, NotEnoughData

LEAST_GROUPS: Final = 20
"""How many groups of questions are the least: with fewer, the bootstrap's interval is too narrow."""
KEPT: Final = 0.5
"""The share of the gain where it was chosen that must be left on held-out data."""


@frozen
class FoldResult:
    """One fold: what was chosen without it, what that gained there, and what on the fold itself."""

    setting: Mapping[str, Any]
    learnt_gain: float
    held_out_gain: float
    questions: int


@frozen
class Verdict:
    """Accepted or refused, with the numbers that say why.

    Attributes
    ----------
    accepted
        Whether the setting may be installed.
    reason
        The numbers as a sentence.
    setting
        What was chosen on all the data; this is what would be installed.
    gain
        The held-out gain over the current setting: mean, interval and p value, each group counting the same.
    learnt_gain
        What the choice of each fold gained where it was chosen, on average.
    luck
        The probability that the best of all settings tried does as well where none is better.
    folds
        Fold by fold.
    """

    accepted: bool
    reason: str
    setting: Mapping[str, Any]
    gain: Difference
    learnt_gain: float
    luck: float
    folds: tuple[FoldResult, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data, to be kept as evidence with what it was about."""
        return asdict(self)


def judge(
    setting: Mapping[str, Any],
    chosen: Sequence[Mapping[str, Any]],
    values: Sequence[Numbers],
    current: Numbers,
    folds: Sequence[Fold],
    groups: Sequence[str],
    *,
    tried: Rows,
    picked: int,
    seed: int = 0,
    level: float = 0.95,
    kept: float = KEPT,
    least: int = LEAST_GROUPS,
) -> Verdict:
    r"""Return whether a way of choosing settings wins on what it has not seen.

    .. math:: d_i = v^{(f(i))}_i - c_i, \quad
        \text{accept if } \mathrm{low}(\bar d_g) > 0, \; \bar d \ge \kappa \, \bar d_{\text{learnt}}
        \text{ and } p_{\text{luck}} \le \tfrac{1 - \ell}{2}

    where :math:`f(i)` is the fold that holds question :math:`i` out, :math:`\bar d_g` are the means by group.

    Parameters
    ----------
    setting
        What was chosen on all the data.
    chosen, values
        For each fold what was chosen without its held-out part, and the value of that on every question.
    current
        The value of the current setting on every question.
    folds, groups
        How the questions were divided, and the group of each.
    tried, picked
        The value on every question of everything that was tried, a row for each setting, and which row
        `setting` is.
    seed, level
        Of the bootstrap.
    kept
        :math:`\kappa`, the share of the gain that must be left on held-out data.
    least
        The least number of groups.

    Examples
    --------
    >>> from memorata.learn.folds import grouped_folds
    >>> groups = [f"q{number}" for number in range(40)]
    >>> folds = grouped_folds(groups, count=2)
    >>> better = [0.7, 0.6] * 20
    >>> verdict = judge({"words": 0.6}, [{"words": 0.6}] * 2, [better] * 2, [0.5] * 40, folds, groups,
    ...                 tried=[better], picked=0)
    >>> verdict.accepted, round(verdict.gain.mean, 3)
    (True, 0.15)
    """
    base = checks.numbers("current", current)
    names = checks.texts("groups", groups)
    checks.same_length(current=base, groups=names)
    share = checks.probability("kept", kept)
    checks.same_length(folds=folds, chosen=chosen, values=values)
    _enough(names, least)
    held_out = np.sort(np.concatenate([fold.held_out for fold in folds])) if folds else np.zeros(0)
    once = np.array_equal(held_out, np.arange(base.size))
    if not once or not all(fold.held_out.size and fold.learnt.size for fold in folds):
        raise InvalidArgument("folds", len(folds), "folds that hold every question out once")
    mine = np.empty(base.size)
    results = []
    for place, (fold, choice, given) in enumerate(zip(folds, chosen, values, strict=True)):
        value = checks.numbers(f"values[{place}]", given)
        checks.same_length(current=base, **{f"values[{place}]": value})
        mine[fold.held_out] = value[fold.held_out]
        results.append(
            FoldResult(
                dict(choice),
                float((value - base)[fold.learnt].mean()),
                float((value - base)[fold.held_out].mean()),
                fold.held_out.size,
            )
        )
    ours, theirs = _by_group(mine, names), _by_group(base, names)
    gain = paired_bootstrap(ours, theirs, seed=seed, level=level)
    learnt = float(np.mean([result.learnt_gain for result in results]))
    table = checks.matrix("tried", tried)
    if table.shape[1:] != base.shape:
        raise InvalidArgument("tried", table.shape, f"rows of {base.size} values, one for each question")
    chance = luck(_by_group(table, names) - theirs, picked, seed=seed)
    steady = all(same(each, chosen[0]) for each in chosen)
    accepted, reason = _reason(gain, learnt, share, level, chance, len(table), steady)
    return Verdict(accepted, reason, dict(setting), gain, learnt, chance, tuple(results))


def same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two settings say the same; a weight that is not named is 0.

    Examples
    --------
    >>> same({"meaning": 0.4, "graph": 0.0}, {"meaning": 0.4})
    True
    """
    return all(first.get(name, 0.0) == second.get(name, 0.0) for name in {*first, *second})


def _enough(groups: Sequence[str], least: int) -> None:
    found, needed = len(set(groups)), checks.whole("least", least, 1)
    if found < needed:
        raise NotEnoughData("groups of questions", found, needed)


def _by_group(values: FloatArray, groups: Sequence[str]) -> FloatArray:
    """Return the means over the groups of the last axis, in the order in which they come."""
    places = {name: place for place, name in enumerate(dict.fromkeys(groups))}
    where = np.array([places[name] for name in groups], np.intp)
    member = np.zeros((where.size, len(places)))
    member[np.arange(where.size), where] = 1.0
    result: FloatArray = values @ (member / member.sum(axis=0))
    return result


def _reason(
    gain: Difference, learnt: float, kept: float, level: float, chance: float, tried: int, steady: bool
) -> tuple[bool, str]:
    numbers = (
        f"{gain.mean:+.4f} on held-out questions ({level:.0%} interval {gain.low:+.4f} to {gain.high:+.4f})"
    )
    where_chosen = f"{learnt:+.4f} on those it was chosen on"
    if gain.mean == 0 and learnt == 0:
        return False, "no change: nothing that was tried is better than the current setting"
    if gain.low <= 0 and gain.mean <= 0 < learnt:
        return False, f"overfit: {numbers}, though {where_chosen}"
    if gain.high < 0:
        return False, f"worse: {numbers}"
    if gain.low <= 0:
        return False, f"not proven: {numbers}, and the interval reaches zero"
    if gain.mean < kept * learnt:
        return False, f"overfit: only {numbers}, less than {kept:.0%} of {where_chosen}"
    if chance > (1 - level) / 2:
        return (
            False,
            f"perhaps luck: {numbers}, but the best of {tried} settings does so in {chance:.1%} of draws",
        )
    folds = "every fold chose the same setting" if steady else "folds chose different settings"
    return True, f"better: {numbers}, {where_chosen}; {folds}"
