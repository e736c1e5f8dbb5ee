"""Searches for better settings, validated on held-out questions: a grid, families of grids, or guided.

In a grid every setting is scored on every question once; the rest is arithmetic on that table. Each fold
picks the best row over the questions it may see and is validated on the others. Where there are several
families of settings (recipes), the family is chosen by folds within the fold, so that a family does not win
by having more settings to choose from (Varma & Simon 2006; Cawley & Talbot, *JMLR* 11, 2010).

A grid over ten parameters has more points than there are hours. Optuna's tree-structured Parzen estimator
(Bergstra et al., NeurIPS 2011; Akiba et al., KDD 2019) looks where good values were found before. It overfits
like any search, so each fold is searched anew without its held-out questions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument, MissingExtra
from memorata.extend.model import FloatArray, IntArray, Numbers, Parameter, checks
from memorata_lab.learn.validation import (
    Fold,
    Verdict,
    grouped_folds,
    judge,
    nested_folds,
    require_groups,
)

Setting: TypeAlias = Mapping[str, Any]
Objective: TypeAlias = Callable[[Setting], Numbers]
"""From a setting to its value on every question; it may raise InvalidArgument where a setting cannot be."""
_MAX_SEED: Final = 2**32 - 1


@frozen(eq=False)
class GridScores:
    """The value of every setting on every question: a row for each setting, a column for each question."""

    settings: tuple[Setting, ...]
    values: FloatArray

    @property
    def means(self) -> FloatArray:
        """The mean of each setting over all questions."""
        result: FloatArray = self.values.mean(axis=1)
        return result

    @classmethod
    def joined(cls, tables: Sequence[GridScores]) -> GridScores:
        """Return the settings of several tables in one."""
        settings = tuple(setting for table in tables for setting in table.settings)
        return cls(settings, np.concatenate([table.values for table in tables]))

    def best(self, questions: IntArray | None = None) -> int:
        """Return the row of the setting with the highest mean over some questions, or over all."""
        return int((self.values if questions is None else self.values[:, questions]).mean(axis=1).argmax())


def tune_grid(
    scores: GridScores,
    groups: Sequence[str],
    *,
    folds: int = 5,
    seed: int = 0,
) -> Verdict:
    """Choose among settings whose values on every question are known, the first being the current one."""
    require_groups(groups)
    divided = grouped_folds(groups, count=folds, seed=seed)
    picks = [scores.best(fold.learnt) for fold in divided]
    return _judged(scores, picks, scores.best(), scores.values[0], divided, groups, seed)


def tune_families(
    families: Mapping[str, GridScores],
    current: FloatArray,
    groups: Sequence[str],
    *,
    folds: int = 5,
    inner: int = 4,
    seed: int = 0,
) -> tuple[str, Verdict]:
    """Return the family of settings that `inner` folds choose, and the verdict on its best setting."""
    if not families:
        raise InvalidArgument("families", families, "at least one family")
    require_groups(groups)
    divided = nested_folds(groups, count=folds, inner=inner, seed=seed)
    # One table of all families, so that a pick is one row of it.
    ends = np.cumsum([len(family.settings) for family in families.values()]).tolist()
    starts = dict(zip(families, [0, *ends], strict=False))
    picks = []
    for fold in divided:
        family = _best_family(families, fold.inner)
        picks.append(starts[family] + families[family].best(fold.learnt))
    final = _best_family(families, divided)
    pick = starts[final] + families[final].best()
    table = GridScores.joined(tuple(families.values()))
    return final, _judged(table, picks, pick, current, divided, groups, seed)


@frozen
class Optimised:
    """What a search found."""

    verdict: Verdict
    tried: int
    impossible: int


def optimise(
    objective: Objective,
    parameters: Sequence[Parameter],
    current: Setting,
    groups: Sequence[str],
    *,
    trials: int = 100,
    folds: int = 5,
    seed: int = 0,
) -> Optimised:
    """Search declared parameters for a better setting, and say whether it wins on held-out questions.

    Each of ``folds + 1`` searches looks at as many settings as there are trials and starts from the current
    one, which wins ties; the objective is asked once for each setting.
    """
    names = checks.texts("groups", groups)
    require_groups(names)
    rounds, start = checks.whole("trials", trials, 1), checks.whole("seed", seed)
    if start + folds > _MAX_SEED:
        raise InvalidArgument("seed", seed, f"a whole number from 0 to {_MAX_SEED - folds}")
    search = _Search(objective, tuple(parameters), dict(current), len(names))
    divided = grouped_folds(names, count=folds, seed=start)
    chosen = [search.best(fold.learnt, rounds, start + 1 + place) for place, fold in enumerate(divided)]
    final = search.best(np.arange(len(names)), rounds, start)
    valued = search.valued()
    verdict = judge(
        final,
        chosen,
        [search.values_of(setting) for setting in chosen],
        search.values_of(search.current),
        divided,
        names,
        tried=np.stack(list(valued.values())),
        picked=list(valued).index(search.key(final)),
        seed=start,
    )
    return Optimised(verdict, search.tried, search.impossible)


class _Search:
    """Searches that share what they have learnt about the value of settings, and nothing else."""

    def __init__(
        self, objective: Objective, parameters: tuple[Parameter, ...], current: dict[str, Any], questions: int
    ) -> None:
        try:
            self._optuna: Any = importlib.import_module("optuna")
        except ImportError as error:
            raise MissingExtra(
                "Searching the parameters of a recipe", "'packages/memorata-lab[tune]'"
            ) from error
        if not parameters:
            raise InvalidArgument("parameters", parameters, "at least one parameter")
        missing = {parameter.name for parameter in parameters} ^ set(current)
        if missing:
            raise InvalidArgument("current", sorted(missing), "a value for each parameter, and no others")
        self._objective = objective
        self._questions = questions
        self._space = {parameter.name: self._distribution(parameter) for parameter in parameters}
        current = {parameter.name: parameter.checked(current[parameter.name]) for parameter in parameters}
        self._values: dict[tuple[Any, ...], FloatArray | None] = {}
        self.current = current
        self.tried = 0
        self.impossible = 0
        if self._tried(current) is None:
            raise InvalidArgument("current", current, "a setting that the objective can value")

    def best(self, questions: IntArray, trials: int, seed: int) -> dict[str, Any]:
        """Return the best setting over some questions that a search of its own finds."""
        optuna = self._optuna
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            study = optuna.create_study(
                direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed, multivariate=False)
            )
            study.enqueue_trial(self.current)
            best, height = self.current, float(self.values_of(self.current)[questions].mean())
            for _ in range(trials):
                trial = study.ask(self._space)
                setting = dict(trial.params)
                values = self._tried(setting)
                if values is None:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                    continue
                value = float(values[questions].mean())
                study.tell(trial, value)
                if value > height:
                    best, height = setting, value
        finally:
            optuna.logging.set_verbosity(before)
        return best

    def values_of(self, setting: Setting) -> FloatArray:
        """Return the values of a setting that could be valued."""
        return self.valued()[self.key(setting)]

    def valued(self) -> dict[tuple[Any, ...], FloatArray]:
        """Return the value on every question of each setting that could be valued, by its key."""
        return {key: values for key, values in self._values.items() if values is not None}

    def _tried(self, setting: Setting) -> FloatArray | None:
        key = self.key(setting)
        if key not in self._values:
            self.tried += 1
            try:
                result = self._objective(setting)
            except InvalidArgument:
                # Parameters that are fine one by one may not be together: two empty legs, say.
                self.impossible += 1
                self._values[key] = None
            else:
                values = checks.numbers("objective", result)
                if values.size != self._questions:
                    raise InvalidArgument(
                        "objective", values.size, f"{self._questions} values, one per question"
                    )
                self._values[key] = values
        return self._values[key]

    def key(self, setting: Setting) -> tuple[Any, ...]:
        """Return the values of a setting, in the order of the parameters."""
        return tuple(setting[name] for name in self._space)

    def _distribution(self, parameter: Parameter) -> Any:  # noqa: ANN401 - optuna is an extra
        kinds = self._optuna.distributions
        if parameter.choices:
            return kinds.CategoricalDistribution(parameter.choices)
        if parameter.type is bool:
            return kinds.CategoricalDistribution((False, True))
        if parameter.low is None or parameter.high is None:
            raise InvalidArgument("parameters", parameter.name, "parameters with a declared range or choices")
        if parameter.type is int:
            return kinds.IntDistribution(int(parameter.low), int(parameter.high))
        return kinds.FloatDistribution(float(parameter.low), float(parameter.high))


def _best_family(scores: Mapping[str, GridScores], folds: Sequence[Fold]) -> str:
    """Return the family whose best setting does best on what each fold holds out."""

    def held_out(name: str) -> float:
        family = scores[name]
        parts = [family.values[family.best(fold.learnt), fold.held_out] for fold in folds]
        return float(np.concatenate(parts).mean())

    return max(scores, key=held_out)


def _judged(
    scores: GridScores,
    picks: Sequence[int],
    pick: int,
    current: FloatArray,
    folds: Sequence[Fold],
    groups: Sequence[str],
    seed: int,
) -> Verdict:
    return judge(
        scores.settings[pick],
        [scores.settings[pick] for pick in picks],
        [scores.values[pick] for pick in picks],
        current,
        folds,
        groups,
        tried=scores.values,
        picked=pick,
        seed=seed,
    )
