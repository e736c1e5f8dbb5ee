r"""Grid search of weights by mean nDCG, judged on questions that had no say in it.

Every setting is scored on every question once; the rest is arithmetic on that table. Each fold picks the best
row over the questions it may see and is judged on the others. Where there are several families of settings
(say, ways of scaling), the family is chosen by folds within the fold, so that a family does not win by having
more settings to be lucky with (Varma & Simon 2006; Cawley & Talbot, *JMLR* 11, 2010).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from memorata._frozen import frozen
from memorata.learn.folds import Fold, grouped_folds, nested_folds
from memorata.learn.judged import Judged
from memorata.learn.verdict import LEAST_GROUPS, Verdict, judge
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument, NotEnoughData

Weighting = Mapping[str, float]


@frozen(eq=False)
class GridScores:
    """The value of every setting on every question.

    Attributes
    ----------
    settings
        What was tried.
    values
        A row for each setting, a column for each question.
    """

    settings: tuple[Mapping[str, Any], ...]
    values: FloatArray

    @property
    def means(self) -> FloatArray:
        """The mean of each setting over all questions."""
        result: FloatArray = self.values.mean(axis=1)
        return result

    def best(self, questions: IntArray | None = None) -> int:
        """Return the place of the setting with the highest mean over some questions, or over all."""
        return int((self.values if questions is None else self.values[:, questions]).mean(axis=1).argmax())


def weight_grid(names: Sequence[str], *, steps: int = 10) -> tuple[Weighting, ...]:
    r"""Return every weighting of the named columns in multiples of ``1/steps`` that sums to 1.

    There are :math:`\binom{s + n - 1}{n - 1}` of them for :math:`n` names and :math:`s` steps.

    Examples
    --------
    >>> weight_grid(["meaning", "words"], steps=2)
    ({'meaning': 0.0, 'words': 1.0}, {'meaning': 0.5, 'words': 0.5}, {'meaning': 1.0, 'words': 0.0})
    """
    columns, parts = checks.texts("names", names), checks.whole("steps", steps, 1)
    if not columns or len(set(columns)) < len(columns):
        raise InvalidArgument("names", names, "at least one name, each once")
    shares: list[tuple[int, ...]] = [()]
    for _ in columns[:-1]:
        shares = [(*share, more) for share in shares for more in range(parts - sum(share) + 1)]
    return tuple(
        {name: part / parts for name, part in zip(columns, (*share, parts - sum(share)), strict=True)}
        for share in shares
    )


def search_grid(judged: Judged, settings: Sequence[Weighting], *, k: int = 10) -> GridScores:
    """Return nDCG at `k` of every setting on every question.

    Examples
    --------
    >>> from memorata.learn.features import Features
    >>> logged = Features("r1", ["a", "b"], {"meaning": [0.9, 0.5], "words": [0.0, 7.0]})
    >>> found = search_grid(Judged.of([logged], {"r1": {"b": 1}}), weight_grid(["meaning", "words"], steps=2))
    >>> found.means.round(4).tolist(), found.settings[found.best()]
    ([1.0, 0.6309, 0.6309], {'meaning': 0.0, 'words': 1.0})
    """
    tried = tuple(dict(setting) for setting in settings)
    if not tried:
        raise InvalidArgument("settings", settings, "at least one setting")
    if not judged.questions:
        raise NotEnoughData("questions with a relevant result", 0, 1)
    return GridScores(tried, np.stack([judged.ndcg(setting, k=k) for setting in tried]))


def tune_weights(
    judged: Judged,
    current: Weighting,
    settings: Sequence[Weighting] | None = None,
    *,
    k: int = 10,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_GROUPS,
) -> Verdict:
    """Look for better weights, and say whether they win on questions that were held out.

    Parameters
    ----------
    judged
        Questions with their candidates and gains.
    current
        The weights in use; they are among the candidates and win ties.
    settings
        What to try; by default every weighting of the columns in tenths.
    k
        How many results count.
    folds, seed, level, least
        How often to hold data out, where the dealing and the bootstrap start, the interval's level, and the
        least number of groups of questions.

    Raises
    ------
    NotEnoughData
        There are fewer groups with a relevant result than `least`; the message says how many more it takes.

    Examples
    --------
    >>> from memorata.learn.simulation import simulated_log
    >>> log = simulated_log(60, best=0.3, seed=1)
    >>> verdict = tune_weights(Judged.of(log.recalls, log.gains), {"meaning": 0.9, "words": 0.1})
    >>> verdict.accepted, verdict.setting
    (True, {'meaning': 0.2, 'words': 0.8})
    """
    tried = weight_grid(judged.names) if settings is None else settings
    _ask_for_more(judged.groups, least)
    scores = search_grid(judged, [current, *tried], k=k)
    return tune_scored(scores, judged.groups, folds=folds, seed=seed, level=level, least=least)


def tune_scored(
    scores: GridScores,
    groups: Sequence[str],
    *,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_GROUPS,
) -> Verdict:
    """Choose among settings whose values on every question are known, the first being the current one.

    Parameters
    ----------
    scores
        The value of every setting on every question.
    groups
        The group of each question.
    folds, seed, level, least
        As for :func:`tune_weights`.

    Examples
    --------
    >>> table = np.array([[0.5] * 40, [0.7, 0.6] * 20])
    >>> found = tune_scored(GridScores(({"alpha": 0.5}, {"alpha": 0.7}), table), [f"q{n}" for n in range(40)])
    >>> found.accepted, found.setting, round(found.gain.mean, 2)
    (True, {'alpha': 0.7}, 0.15)
    """
    _ask_for_more(groups, least)
    divided = grouped_folds(groups, count=folds, seed=seed)
    picks = [scores.best(fold.learnt) for fold in divided]
    return _judged(scores, picks, scores.best(), scores.values[0], divided, groups, seed, level, least)


def tune_families(
    families: Mapping[str, tuple[Judged, Sequence[Weighting]]],
    current: tuple[str, Weighting],
    *,
    k: int = 10,
    folds: int = 5,
    inner: int = 4,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_GROUPS,
) -> tuple[str, Verdict]:
    """Look for the best family of settings and the best setting in it, with folds inside folds.

    Parameters
    ----------
    families
        By name, the same questions as this family sees them (say, scaled in its way) and its settings.
    current
        The family and the weights in use.
    inner
        How many folds choose the family within each outer fold.
    k, folds, seed, level, least
        As for :func:`tune_weights`.

    Returns
    -------
    tuple
        The family that was chosen on all the data, and the verdict on its best setting.

    Examples
    --------
    >>> from memorata.learn.simulation import simulated_log
    >>> log = simulated_log(60, best=0.3, seed=1)
    >>> families = {scale: (Judged.of(log.recalls, log.gains, scale=scale), weight_grid(["meaning", "words"]))
    ...             for scale in ("none", "min_max")}
    >>> family, verdict = tune_families(families, ("min_max", {"meaning": 0.9, "words": 0.1}))
    >>> family, verdict.accepted, verdict.setting
    ('none', True, {'meaning': 0.2, 'words': 0.8})
    """
    if not families:
        raise InvalidArgument("families", families, "at least one family")
    used, weights = current
    checks.one_of("current", used, tuple(families))
    base = families[used][0]
    if any(each.questions != base.questions for each, _ in families.values()):
        raise InvalidArgument("families", list(families), "families that see the same questions")
    _ask_for_more(base.groups, least)
    now = search_grid(base, [weights], k=k)
    scores = {
        name: search_grid(each, [*([weights] if name == used else []), *tried], k=k)
        for name, (each, tried) in families.items()
    }
    return tune_scored_families(
        scores, now.values[0], base.groups, folds=folds, inner=inner, seed=seed, level=level, least=least
    )


def tune_scored_families(
    families: Mapping[str, GridScores],
    current: FloatArray,
    groups: Sequence[str],
    *,
    folds: int = 5,
    inner: int = 4,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_GROUPS,
) -> tuple[str, Verdict]:
    """Choose a family of settings and a setting in it, given the values of all of them on every question.

    Parameters
    ----------
    families
        By name, the value of its settings on every question.
    current
        The value of the setting in use.
    groups
        The group of each question.
    folds, inner, seed, level, least
        As for :func:`tune_families`.
    """
    _ask_for_more(groups, least)
    divided = nested_folds(groups, count=folds, inner=inner, seed=seed)
    # One table of all families, so that a pick is one row of it.
    starts = dict(
        zip(families, np.cumsum([0, *(len(each.settings) for each in families.values())]), strict=False)
    )
    together = GridScores(
        tuple(setting for each in families.values() for setting in each.settings),
        np.concatenate([each.values for each in families.values()]),
    )
    picks = []
    for fold in divided:
        family = _best_family(families, fold.inner)
        picks.append(int(starts[family]) + families[family].best(fold.learnt))
    final = _best_family(families, divided)
    pick = int(starts[final]) + families[final].best()
    return final, _judged(together, picks, pick, current, divided, groups, seed, level, least)


def _best_family(scores: Mapping[str, GridScores], folds: Sequence[Fold]) -> str:
    """Return the family whose best setting does best on what each fold holds out."""

    def held_out(each: GridScores) -> float:
        parts = [each.values[each.best(fold.learnt), fold.held_out] for fold in folds]
        return float(np.concatenate(parts).mean())

    return max(scores, key=lambda name: held_out(scores[name]))


def _judged(
    scores: GridScores,
    picks: Sequence[int],
    pick: int,
    current: FloatArray,
    folds: Sequence[Fold],
    groups: Sequence[str],
    seed: int,
    level: float,
    least: int,
) -> Verdict:
    return judge(
        scores.settings[pick],
        [scores.settings[each] for each in picks],
        [scores.values[each] for each in picks],
        current,
        folds,
        groups,
        tried=scores.values,
        picked=pick,
        seed=seed,
        level=level,
        least=least,
    )


def _ask_for_more(groups: Sequence[str], least: int) -> None:
    found, needed = len(set(groups)), checks.whole("least", least, 2)
    if found < needed:
        raise NotEnoughData("groups of questions with a relevant result", found, needed)
