r"""Tuning of weights and recipes: tried on a training set, validated on held-out queries, saved if they win.

A setting is a few parameters of a recipe. On logged recalls it is tried by ranking what was found anew
(:mod:`memorata_lab.learn.logged_ranking`), on labelled questions by asking them again where it must. What
wins (:mod:`memorata_lab.learn.validation`) can be saved as a recipe with its evidence; what does not is
refused, with the numbers.

A namespace may have weights of its own. What one namespace has shown by its own feedback is noisy while there
is little of it, so its best weights are drawn towards those in use everywhere: with :math:`n` judged
questions of its own and a strength of :math:`m`,

.. math:: w = \frac{n\,w_{\text{own}} + m\,w_{\text{all}}}{n + m}

which is the mean of a beta-binomial (or Dirichlet) whose prior is worth :math:`m` questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Annotated, Any, Final, Protocol

import numpy as np

from memorata import Engine, Recipe
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument, NotEnoughData, WorkUnderWay
from memorata.extend.model import Declared, IntArray, checks
from memorata.extend.recall import PARAMETERS, RECIPES, SavedRecipe
from memorata_lab.learn.logged_ranking import SEARCH_PARAMETERS, reads_query, search_changes
from memorata_lab.learn.search import GridScores, optimise, tune_grid
from memorata_lab.learn.search import tune_families as tune_grid_families
from memorata_lab.learn.training_set import METRIC, TrainingSet, from_feedback
from memorata_lab.learn.validation import QUESTIONS, Verdict, grouped_folds, judge, require_groups

TENTHS: Final = tuple(step / 10 for step in range(11))
SHARES: Final[Mapping[str, Sequence[Any]]] = {"vector_weight": TENTHS}
"""The grid that is tried where the caller does not say: the share of meaning, in tenths."""
CONFIDENCE_SHARES: Final[Mapping[str, Sequence[Any]]] = {
    "weighting": ("fixed",),
    "confidence_weight": TENTHS,
}
"""The grid of a recipe with one leg in which confidence takes part: β in tenths, and α = 1 - β."""
TUNED_PARAMETERS: Final = (
    "vector_weight", "graph_weight", "session_weight", "machine_weight", "quality_weight", "temporal_boost",
)  # fmt: skip
"""The parameters that a search of many tries where the caller does not say."""
WORK: Final = "tune"
"""The kind of work that this is: one worker at a time does it to a namespace."""
MAX_SETTINGS: Final = 2_000
"""How many settings a grid may have."""
_BY_NAME: Final = {parameter.name: parameter for parameter in PARAMETERS}


@frozen
class Tuned:
    """What tuning found, on how many questions; `scores` are the means of the settings a grid tried."""

    verdict: Verdict
    base: Recipe
    recipe: Recipe
    questions: int
    metric: str
    scores: tuple[tuple[Mapping[str, Any], float], ...] = ()

    def evidence(self) -> dict[str, Any]:
        """Return the numbers that speak for it, as plain data."""
        return {
            "by": "tuning",
            "base": self.base.name,
            "metric": self.metric,
            "questions": self.questions,
            **self.verdict.as_dict(),
        }


def tune_weights(
    training: TrainingSet,
    base: Recipe,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    metric: str = METRIC,
    folds: int = 5,
    seed: int = 0,
) -> Tuned:
    """Try every setting of a grid of a recipe's parameters (:func:`default_grid`); the base wins ties."""
    require_groups(training.groups, name=QUESTIONS)
    settings = nearest_first(_acting(grid_of(default_grid(base) if grid is None else grid), base), base)
    current = {name: getattr(base, name) for name in settings[0]}
    search = any(search_changes(replace(base, **setting), base) for setting in settings)
    scores = _scored(training, base, (current, *settings), metric, base, search)
    verdict = tune_grid(scores, training.groups, folds=folds, seed=seed)
    means = tuple(zip(scores.settings, scores.means.tolist(), strict=True))
    return Tuned(verdict, base, replace(base, **verdict.setting), len(training.questions), metric, means)


def tune_families(
    training: TrainingSet,
    base: Recipe,
    families: Sequence[Recipe] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    *,
    metric: str = METRIC,
    folds: int = 5,
    seed: int = 0,
) -> Tuned:
    """Try a grid on each of several recipes; which of them is best is decided by folds within the folds."""
    require_groups(training.groups, name=QUESTIONS)
    tried = _families(training, base) if families is None else tuple(families)
    if not tried:
        raise InvalidArgument("families", [], "at least one recipe")
    settings = nearest_first(grid_of(SHARES if grid is None else grid), base)
    search = any(search_changes(replace(recipe, **setting), base) for recipe in tried for setting in settings)
    scores = {}
    for recipe in tried:
        grid_scores = _scored(training, recipe, settings, metric, base, search)
        named_settings = tuple({"recipe": recipe.name, **setting} for setting in settings)
        scores[recipe.name] = GridScores(named_settings, grid_scores.values)
    now = training.values(base, base, metric, search=search)
    combined = GridScores(
        ({"recipe": base.name, **{name: getattr(base, name) for name in settings[0]}},), now[None]
    )
    own = scores.get(base.name)
    scores[base.name] = combined if own is None else GridScores.joined((combined, own))
    _, verdict = tune_grid_families(scores, now, training.groups, folds=folds, seed=seed)
    changes = dict(verdict.setting)
    chosen_name = changes.pop("recipe")
    chosen = next((recipe for recipe in tried if recipe.name == chosen_name), base)
    return Tuned(verdict, base, replace(chosen, **changes), len(training.questions), metric)


def tune_recipe(
    training: TrainingSet,
    base: Recipe,
    parameters: Sequence[str] = TUNED_PARAMETERS,
    *,
    trials: int = 60,
    metric: str = METRIC,
    folds: int = 5,
    seed: int = 0,
) -> Tuned:
    """Search many declared parameters at once, guided by what was good before (an extra: optuna)."""
    require_groups(training.groups, name=QUESTIONS)
    names = checks.texts("parameters", parameters)
    chosen = [_BY_NAME[checks.one_of("parameters", name, tuple(_BY_NAME))] for name in names]
    needing = [name for name in names if name in SEARCH_PARAMETERS]
    if needing and not _can_search(training):
        raise InvalidArgument(
            "parameters",
            needing[0],
            "ones that need no search; labelled questions alone can be searched again",
        )
    optimised = optimise(
        lambda setting: training.values(replace(base, **setting), base, metric, search=bool(needing)),
        chosen,
        {parameter.name: getattr(base, parameter.name) for parameter in chosen},
        training.groups,
        trials=trials,
        folds=folds,
        seed=seed,
    )
    recipe = replace(base, **optimised.verdict.setting)
    return Tuned(optimised.verdict, base, recipe, len(training.questions), metric)


class TuningResult(Protocol):
    """What any tuning finds: whether it wins, the recipe, and what speaks for it."""

    @property
    def verdict(self) -> Verdict:
        """Whether it wins, with the numbers."""

    @property
    def recipe(self) -> Recipe:
        """What was found."""

    def evidence(self) -> dict[str, Any]:
        """Return the numbers that speak for it, as plain data."""


def install(
    engine: Engine, tuned: TuningResult, name: str, *, use: bool = False, namespace: str | None = None
) -> SavedRecipe | None:
    """Save what was found as a recipe with its evidence, if it wins, and use it; None if it does not win."""
    if not tuned.verdict.accepted:
        return None
    with engine.store.together():
        saved = engine.admin.recipes.save(name, tuned.recipe, evidence=tuned.evidence(), namespace=namespace)
        if use:
            engine.admin.recipes.use(name, namespace=namespace)
            return replace(saved, in_use=True)
    return saved


def default_grid(base: Recipe) -> Mapping[str, Sequence[Any]]:
    """Return what is tried of a recipe where the caller does not say: shares of legs and of confidence.

    >>> list(default_grid(RECIPES["balanced"])), list(default_grid(RECIPES["haia"]))
    (['vector_weight'], ['weighting', 'confidence_weight'])
    """
    weighed = base.confidence in ("additive", "rrf")
    both_legs = base.vector_pool and base.lexical_pool
    if not weighed:
        return SHARES
    return {**SHARES, **CONFIDENCE_SHARES} if both_legs else CONFIDENCE_SHARES


def grid_of(grid: Mapping[str, Sequence[Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return every setting of a grid of declared parameters."""
    if not isinstance(grid, Mapping) or not grid or not all(len(values) for values in grid.values()):
        raise InvalidArgument("grid", grid, "at least one parameter with at least one value")
    steps = []
    for name, values in grid.items():
        parameter = _BY_NAME[checks.one_of("grid", name, tuple(_BY_NAME))]
        steps.append([parameter.checked(value) for value in values])
    count = int(np.prod([len(step) for step in steps]))
    if count > MAX_SETTINGS:
        raise InvalidArgument(
            "grid", count, f"at most {MAX_SETTINGS:,} settings; try fewer values, or tune recipe"
        )
    return tuple(dict(zip(grid, values, strict=True)) for values in product(*steps))


def _acting(settings: tuple[Mapping[str, Any], ...], base: Recipe) -> tuple[Mapping[str, Any], ...]:
    """Return the settings, or raise for a parameter that acts in none of them."""
    for name in settings[0]:
        missing = [replace(base, **setting).missing(name) for setting in settings]
        if all(missing):
            raise InvalidArgument(
                "grid", name, f"left out with recipe {base.name!r}: it acts only where {missing[0]}"
            )
    return settings


def nearest_first(settings: Sequence[Mapping[str, Any]], base: Recipe) -> tuple[Mapping[str, Any], ...]:
    """Return settings with the smallest change first: of equals the first is chosen."""

    def change(setting: Mapping[str, Any]) -> float:
        steps = 0.0
        for name, value in setting.items():
            parameter, now = _BY_NAME[name], getattr(base, name)
            if parameter.low is None or parameter.high is None:
                steps += value != now
            else:
                steps += abs(value - now) / (parameter.high - parameter.low)
        return round(steps, 9)

    return tuple(sorted(settings, key=change))


def _scored(
    training: TrainingSet,
    recipe: Recipe,
    settings: Sequence[Mapping[str, Any]],
    metric: str,
    base: Recipe,
    search: bool,
) -> GridScores:
    tried = [replace(recipe, **setting) for setting in settings]
    return GridScores(
        tuple(settings),
        np.stack([training.values(setting, base, metric, search=search) for setting in tried]),
    )


def _families(training: TrainingSet, base: Recipe) -> tuple[Recipe, ...]:
    other_recipes = (recipe for recipe in RECIPES.values() if not recipe.samples and not recipe.rerank_depth)
    every = (base, *(recipe for recipe in other_recipes if recipe.name != base.name))
    if _can_search(training):
        return every
    # Without the question, what reads it cannot be tried; the others can.
    unread = any(recall.query is None for recall in training.questions)
    return tuple(
        recipe
        for recipe in every
        if not search_changes(recipe, base) and (recipe is base or not (unread and reads_query(recipe)))
    )


def _can_search(training: TrainingSet) -> bool:
    return all(recall.id in training.queries for recall in training.questions)


STRENGTH: Final = 50.0
"""How many judged questions of its own outweigh what holds for all, where the caller does not say."""
Strength = Annotated[float, Declared("Judged questions that count as much as the global weights.", 0, 1000)]
ADAPTED: Final = "adapted"
"""The name of a namespace's own recipe."""


def adapt_training_set(
    training: TrainingSet,
    base: Recipe,
    *,
    everywhere: Recipe | None = None,
    strength: Strength = STRENGTH,
    seed: int = 0,
) -> Tuned:
    """Look for the share of meaning that suits one namespace, drawn towards the one in use."""
    require_groups(training.groups, name=QUESTIONS)

    @cache
    def valued(share: float) -> np.typing.NDArray[np.float64]:
        return training.values(replace(base, vector_weight=share), base)

    shares = (base.vector_weight, *TENTHS)
    table = np.stack([valued(share) for share in shares])

    towards = (base if everywhere is None else everywhere).vector_weight

    def drawn(place: int, questions: int) -> float:
        share = shares[place]
        # Where nothing is better than the share in use, that one stays, wherever it came from.
        if not place:
            return share
        return round(shrunken(share, questions, towards, strength=strength), 6)

    def best(rows: IntArray) -> int:
        return int(table[:, rows].mean(axis=1).argmax())

    count = len(training.questions)
    divided = grouped_folds(training.groups, seed=seed)
    picks = [drawn(best(fold.learnt), fold.learnt.size) for fold in divided]
    picked = best(np.arange(count))
    tried = [drawn(place, count) for place in range(len(shares))]
    final: dict[str, Any] = {"vector_weight": tried[picked]}
    verdict = judge(
        final,
        [{"vector_weight": pick} for pick in picks],
        [valued(pick) for pick in picks],
        valued(base.vector_weight),
        divided,
        training.groups,
        tried=np.stack([valued(share) for share in tried]),
        picked=picked,
        seed=seed,
    )
    return Tuned(verdict, base, replace(base, **final), count, METRIC)


def adapt(
    engine: Engine,
    namespaces: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    strength: Strength = STRENGTH,
    seed: int = 0,
) -> Mapping[str, Tuned | NotEnoughData | WorkUnderWay]:
    """Look at every namespace with feedback, and let those use weights of their own for which these win."""
    results: dict[str, Tuned | NotEnoughData | WorkUnderWay] = {}
    for path in engine.store.namespaces() if namespaces is None else namespaces:
        try:
            with nullcontext() if dry_run else engine.leases.hold(WORK, path) as lease:
                training = from_feedback(engine, namespace=path)
                tuned = adapt_training_set(
                    training if lease is None else training.under(lease),
                    engine.admin.recipes.get(namespace=path),
                    everywhere=engine.recipe,
                    strength=strength,
                    seed=seed,
                )
                if not dry_run:
                    install(engine, tuned, ADAPTED, use=True, namespace=path)
            results[path] = tuned
        except (NotEnoughData, WorkUnderWay) as missing:
            # One quiet or busy namespace must not keep the others from learning; what it lacks is reported.
            results[path] = missing
    return results


def shrunken(own: float, questions: int, towards: float, *, strength: Strength = STRENGTH) -> float:
    r"""Return a weight between a namespace's own and that of all: :math:`(n w + m w_0) / (n + m)`."""
    count, prior = checks.whole("questions", questions), checks.at_least("strength", strength, 0)
    mine, all_ = checks.probability("own", own), checks.probability("towards", towards)
    share = count / (count + prior) if count else 0.0
    return share * mine + (1 - share) * all_
