import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from benchmarks.simulation import Log, simulated_log

from memorata.engine.recipes import PARAMETERS, Recipe
from memorata.model.errors import InvalidArgument, MissingExtra, NotEnoughData
from memorata.model.parameter import Parameter
from memorata_lab.evaluate.metrics import ndcg
from memorata_lab.learn.search import GridScores, optimise, tune_families, tune_grid

LOG = simulated_log(80, best=0.3, seed=1)
ASKED = [f"q{number}" for number in range(len(LOG.relevant))]
TENTHS = tuple(step / 10 for step in range(11))


def grid(log: Log, current: float, shares: Sequence[float] = TENTHS) -> GridScores:
    """The current weight of meaning, then those that are tried."""
    tried = (current, *shares)
    return GridScores(
        tuple({"meaning": share} for share in tried), np.stack([log.ndcg(share) for share in tried])
    )


def test_the_simulated_ndcg_is_that_of_the_metrics() -> None:
    for weight in (0.0, 0.4, 1.0):
        for question in (0, 7):
            scores = weight * LOG.meaning[question] + (1 - weight) * LOG.words[question]
            ranking = [str(place) for place in np.argsort(-scores, kind="stable")]
            gains = {str(place): 1.0 for place in np.flatnonzero(LOG.relevant[question])}
            assert LOG.ndcg(weight, 5)[question] == pytest.approx(ndcg(ranking, gains, 5))


def test_the_best_of_a_grid_is_the_one_with_the_highest_mean() -> None:
    found = grid(LOG, 0.8)
    assert found.best() == int(found.means.argmax())
    some = np.array([3, 9])
    assert found.best(some) == int(found.values[:, some].mean(axis=1).argmax())


def test_a_known_best_weight_is_found_and_accepted() -> None:
    verdict = tune_grid(grid(LOG, 0.8), ASKED)
    assert verdict.accepted
    assert verdict.setting["meaning"] == pytest.approx(0.3, abs=0.15)
    assert verdict.gain.low > 0
    assert verdict.overfitting < 0.025
    assert len(verdict.folds) == 5


def test_what_is_already_best_stays() -> None:
    verdict = tune_grid(grid(LOG, 0.3, [0.3]), ASKED)
    assert not verdict.accepted
    assert verdict.reason.startswith("no change")


def test_the_folds_choose_without_what_they_judge() -> None:
    log = simulated_log(60, best=None, seed=3)
    table = grid(log, 0.5)
    verdict = tune_grid(table, [f"q{number}" for number in range(len(log.relevant))])
    assert sum(fold.questions for fold in verdict.folds) == len(log.relevant)
    assert max(fold.questions for fold in verdict.folds) <= 12
    assert all(fold.learnt_gain >= 0 for fold in verdict.folds)
    assert verdict.gain.mean < table.means.max() - table.means[0]


def test_tuning_on_five_rows_says_how_many_more() -> None:
    log = simulated_log(5, best=0.3, seed=1)
    with pytest.raises(NotEnoughData, match=r"5 groups of questions .* 15 more"):
        tune_grid(grid(log, 1.0), [f"q{number}" for number in range(5)])


def test_the_same_seed_gives_the_same_verdict() -> None:
    assert tune_grid(grid(LOG, 0.8), ASKED, seed=4) == tune_grid(grid(LOG, 0.8), ASKED, seed=4)


def test_of_families_the_better_one_is_chosen_by_folds_inside_folds() -> None:
    # The second family sees scales turned to noise; it has many settings to choose from.
    random = np.random.default_rng(5)
    noisy = Log(random.random(LOG.meaning.shape), random.random(LOG.words.shape), LOG.relevant)
    families = {"noise": grid(noisy, 0.5, [step / 40 for step in range(41)]), "real": grid(LOG, 0.5)}
    family, verdict = tune_families(families, noisy.ndcg(0.5), ASKED)
    assert family == "real"
    assert verdict.accepted
    assert verdict.setting["meaning"] == pytest.approx(0.3, abs=0.15)


def test_one_family_in_use_and_best_stays() -> None:
    family, verdict = tune_families({"real": grid(LOG, 0.3, [0.3])}, LOG.ndcg(0.3), ASKED)
    assert (family, verdict.accepted) == ("real", False)


def test_without_a_family_there_is_nothing_to_choose() -> None:
    with pytest.raises(InvalidArgument):
        tune_families({}, LOG.ndcg(0.3), ASKED)


GROUPS = [f"q{number}" for number in range(60)]
NOISE = np.random.default_rng(1).normal(0, 0.02, 60)
SPACE = [
    Parameter("weight", float, 0.5, "", 0, 1, ()),
    Parameter("pool", int, 10, "", 0, 100, ()),
    Parameter("form", str, "a", "", None, None, ("a", "b", "c")),
    Parameter("on", bool, False, "", None, None, ()),
]
NOW = {"weight": 0.9, "pool": 10, "form": "a", "on": False}


def hill(setting: Mapping[str, Any]) -> Any:
    """Highest at a weight of 0.3, form b, on; questions differ a little."""
    height = 0.5 - (setting["weight"] - 0.3) ** 2 + 0.1 * (setting["form"] == "b") + 0.05 * setting["on"]
    return height + NOISE * (1 + setting["pool"] / 100)


def flat(setting: Mapping[str, Any]) -> Any:
    """Noise that has nothing to do with the setting, the same each time it is asked."""
    seed = int(abs(setting["weight"]) * 1e9) + setting["pool"]
    return np.random.default_rng(seed).random(60)


@pytest.mark.untraced
def test_a_better_setting_is_found_and_wins() -> None:
    found = optimise(hill, SPACE, NOW, GROUPS, trials=60, folds=3, seed=1)
    assert found.verdict.accepted
    assert found.verdict.setting["weight"] == pytest.approx(0.3, abs=0.15)
    assert (found.verdict.setting["form"], found.verdict.setting["on"]) == ("b", True)
    assert found.verdict.gain.low > 0.3
    assert found.impossible == 0
    assert found.tried <= 4 * 60


@pytest.mark.untraced
def test_where_nothing_is_to_be_found_nothing_is_accepted() -> None:
    found = optimise(flat, SPACE, NOW, GROUPS, trials=25, folds=3, seed=1)
    assert not found.verdict.accepted
    assert found.verdict.learnt_gain > 0


@pytest.mark.untraced
def test_the_same_seed_gives_the_same_setting() -> None:
    once, again = (optimise(hill, SPACE, NOW, GROUPS, trials=15, folds=2, seed=3) for _ in range(2))
    assert once == again
    assert once != optimise(hill, SPACE, NOW, GROUPS, trials=15, folds=2, seed=4)


def test_settings_that_cannot_be_are_passed_over_and_counted() -> None:
    def picky(setting: Mapping[str, Any]) -> Any:
        if setting["pool"] > 50:
            raise InvalidArgument("pool", setting["pool"], "at most 50")
        return hill(setting)

    found = optimise(picky, SPACE, NOW, GROUPS, trials=30, folds=2)
    assert found.impossible > 0
    assert found.verdict.setting["pool"] <= 50


@pytest.mark.untraced
def test_the_declared_parameters_of_a_recipe_are_a_space() -> None:
    names = ("vector_weight", "anchored", "fusion", "rrf_k", "vector_pool", "lexical_pool")
    space = [parameter for parameter in PARAMETERS if parameter.name in names]
    base = Recipe(name="base")
    current = {parameter.name: getattr(base, parameter.name) for parameter in space}

    def value(setting: Mapping[str, Any]) -> Any:
        return 1 - abs(base.changed(setting).vector_weight - 0.2) + NOISE

    found = optimise(value, space, current, GROUPS, trials=20, folds=2)
    assert set(found.verdict.setting) == set(current)
    base.changed(found.verdict.setting)


def test_without_optuna_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtra, match=r"pip install 'packages/memorata-lab\[tune\]'"):
        optimise(hill, SPACE, NOW, GROUPS)


def test_few_questions_say_how_many_more() -> None:
    with pytest.raises(NotEnoughData, match=r"5 groups .* 15 more"):
        optimise(hill, SPACE, NOW, GROUPS[:5])


@pytest.mark.parametrize(
    "changes",
    [
        {"parameters": []},
        {"parameters": [Parameter("weight", float, 0.5, "", None, None, ())], "current": {"weight": 0.5}},
        {"current": {"weight": 0.5}},
        {"current": NOW | {"weight": 2.0}},
        {"current": NOW | {"form": "z"}},
        {"current": NOW | {"more": 1}},
        {"trials": 0},
        {"seed": -1},
        {"seed": 2**32},
        {"objective": lambda setting: [0.5]},
        {"objective": lambda setting: [float("nan")] * 60},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "objective": hill,
        "parameters": SPACE,
        "current": NOW,
        "groups": GROUPS,
        "trials": 2,
        "folds": 2,
    }
    with pytest.raises(InvalidArgument):
        optimise(**good | changes)


def test_a_current_setting_that_cannot_be_is_refused() -> None:
    def never(setting: Mapping[str, Any]) -> Any:
        raise InvalidArgument("pool", 0, "something else")

    with pytest.raises(InvalidArgument, match="a setting that the objective can value"):
        optimise(never, SPACE, NOW, GROUPS)
