r"""Cross-validation of settings: only what wins on questions it was not chosen on is accepted.

Choosing the best of many settings on some questions makes it look better than it is. So the choice is made
anew for each fold, without the questions that are held out, and validated on those; the gain over the current
setting is compared question by question, with a bootstrap interval over groups of questions. A setting is
refused if that interval reaches zero, if most of what it gained where it was chosen is lost elsewhere, or if
the best of as many settings would do as well by chance
(:func:`~memorata_lab.evaluate.significance.reality_check`): folds share most of their questions, and what
those happen to favour.

Questions of one conversation share their texts and their people. A setting that has seen some of them has
half seen the others, so a whole group is held out at a time (Stone, "Cross-validatory choice", *JRSS B* 36,
1974; for nesting, Varma & Simon, *BMC Bioinformatics* 7:91, 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument, NotEnoughData
from memorata.extend.model import BoolArray, Flags, FloatArray, IntArray, Numbers, Rows, checks
from memorata_lab.evaluate.significance import Difference, paired_bootstrap, reality_check

MIN_GROUPS: Final = 20
"""How many groups of questions are the least: with fewer, the bootstrap's interval is too narrow."""
MIN_PAIRS: Final = 20
"""How many labelled pairs are the least to learn from, where the caller does not say."""
QUESTIONS: Final = "questions with a relevant result"
"""What there are too few of, where a training set is too small."""
KEPT_SHARE: Final = 0.5
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

    `setting` was chosen on all the data, and would be installed; `gain` is the held-out gain over the current
    setting, each group counting the same, and `learnt_gain` what the choice of each fold gained where it was
    chosen; `overfitting` the probability that the best of all settings tried does as well where none is
    better.
    """

    accepted: bool
    reason: str
    setting: Mapping[str, Any]
    gain: Difference
    learnt_gain: float
    overfitting: float
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
    kept: float = KEPT_SHARE,
    least: int = MIN_GROUPS,
) -> Verdict:
    r"""Return whether a way of choosing settings wins on what it has not seen.

    .. math:: d_i = v^{(f(i))}_i - c_i, \quad
        \text{accept if } \mathrm{low}(\bar d_g) > 0, \; \bar d \ge \kappa \, \bar d_{\text{learnt}}
        \text{ and } p_{\text{overfitting}} \le \tfrac{1 - \ell}{2}

    where :math:`f(i)` is the fold that holds question :math:`i` out, :math:`\bar d_g` are the means by group.

    - `setting`: what was chosen on all the data; it is the row `picked` of `tried`, the value on every
      question of everything that was tried.
    - `chosen`, `values`: for each fold what was chosen without its held-out part, and the value of that on
      every question.
    - `kept`: :math:`\kappa`, the share of the gain that must be left on held-out data.

    >>> from memorata_lab.learn.validation import grouped_folds
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
    require_groups(names, least)
    held_out = np.sort(np.concatenate([fold.held_out for fold in folds])) if folds else np.zeros(0)
    once = np.array_equal(held_out, np.arange(base.size))
    if not once or not all(fold.held_out.size and fold.learnt.size for fold in folds):
        raise InvalidArgument("folds", len(folds), "folds that hold every question out once")
    mine = np.empty(base.size)
    results = []
    for place, (fold, choice, row) in enumerate(zip(folds, chosen, values, strict=True)):
        value = checks.numbers(f"values[{place}]", row)
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
    chance = reality_check(_by_group(table, names) - theirs, picked, seed=seed)
    steady = all(same_setting(setting, chosen[0]) for setting in chosen)
    accepted, reason = _reason(gain, learnt, share, level, chance, len(table), steady)
    return Verdict(accepted, reason, dict(setting), gain, learnt, chance, tuple(results))


def same_setting(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether two settings say the same; a weight that is not named is 0."""
    return all(first.get(name, 0.0) == second.get(name, 0.0) for name in {*first, *second})


def require_groups(
    groups: Sequence[str], least: int = MIN_GROUPS, *, name: str = "groups of questions"
) -> None:
    """Raise :class:`NotEnoughData` if there are fewer distinct groups than `least`."""
    count, needed = len(set(groups)), checks.whole("least", least, 2)
    if count < needed:
        raise NotEnoughData(name, count, needed)


def labelled_pairs(
    similarity: Numbers, relevant: Flags, *, least: int = MIN_PAIRS
) -> tuple[FloatArray, BoolArray]:
    """Return similarities and labels as arrays, or say how many more of which kind are needed."""
    similar = checks.all_within("similarity", similarity, -1, 1)
    labels = checks.flags("relevant", relevant)
    checks.same_length(similarity=similar, relevant=labels)
    needed = checks.whole("least", least, 2)
    if labels.size < needed:
        raise NotEnoughData("labelled pairs", labels.size, needed)
    positive = int(np.count_nonzero(labels))
    if not positive:
        raise NotEnoughData("pairs labelled relevant", 0, 1)
    if positive == labels.size:
        raise NotEnoughData("pairs labelled not relevant", 0, 1)
    return similar, labels


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
            f"not significant: {numbers}, but the best of {tried} settings does so in {chance:.1%} of draws",
        )
    folds = "every fold chose the same setting" if steady else "folds chose different settings"
    return True, f"better: {numbers}, {where_chosen}; {folds}"


@frozen(eq=False)
class Fold:
    """Which rows are learnt from and which are held out, as ascending positions."""

    learnt: IntArray
    held_out: IntArray
    inner: tuple[Fold, ...] = ()


def grouped_folds(groups: Sequence[str], *, count: int = 5, seed: int = 0) -> tuple[Fold, ...]:
    """Divide rows into folds of about the same size; rows of one group are held out together.

    Groups are shuffled, then dealt, largest first, each to the fold that has the fewest rows.
    """
    names = checks.texts("groups", groups)
    return _deal(names, np.arange(len(names)), checks.whole("count", count, 2), checks.whole("seed", seed))


def nested_folds(groups: Sequence[str], *, count: int = 5, inner: int = 4, seed: int = 0) -> tuple[Fold, ...]:
    """Divide rows into folds, and what each of them learns from into folds again.

    The inner ones choose, the outer ones judge the choosing: no row that judges has had a say.
    """
    names = checks.texts("groups", groups)
    within, start = checks.whole("inner", inner, 2), checks.whole("seed", seed)
    outer = _deal(names, np.arange(len(names)), checks.whole("count", count, 2), start)
    return tuple(
        Fold(fold.learnt, fold.held_out, _deal(names, fold.learnt, within, start + 1 + place))
        for place, fold in enumerate(outer)
    )


def _deal(groups: tuple[str, ...], rows: IntArray, count: int, seed: int) -> tuple[Fold, ...]:
    members: dict[str, list[int]] = {}
    for row in rows.tolist():
        members.setdefault(groups[row], []).append(row)
    if len(members) < count:
        raise NotEnoughData("groups", len(members), count)
    names = list(members)
    shuffled = [names[place] for place in np.random.default_rng(seed).permutation(len(names))]
    hands: list[list[int]] = [[] for _ in range(count)]
    for name in sorted(shuffled, key=lambda group: -len(members[group])):
        min(hands, key=len).extend(members[name])
    folds = []
    for hand in hands:
        held_out = np.sort(np.array(hand, np.intp))
        folds.append(Fold(np.setdiff1d(rows, held_out, assume_unique=True), held_out))
    return tuple(folds)
