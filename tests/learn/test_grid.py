from math import comb
from typing import Any

import numpy as np
import pytest

from memorata.evaluate.metrics import ndcg
from memorata.learn.features import reranked
from memorata.learn.grid import search_grid, tune_families, tune_weights, weight_grid
from memorata.learn.judged import Judged
from memorata.learn.simulation import simulated_log
from memorata.model.errors import InvalidArgument, NotEnoughData

GRID = weight_grid(["meaning", "words"])
LOG = simulated_log(80, best=0.3, seed=1)
JUDGED = Judged.of(LOG.recalls, LOG.gains)


@pytest.mark.parametrize(("names", "steps"), [(["a"], 5), (["a", "b"], 10), (["a", "b", "c"], 4)])
def test_the_grid_is_every_weighting_that_sums_to_one(names: list[str], steps: int) -> None:
    grid = weight_grid(names, steps=steps)
    assert len(grid) == comb(steps + len(names) - 1, len(names) - 1)
    assert len({tuple(setting.values()) for setting in grid}) == len(grid)
    for setting in grid:
        assert list(setting) == names
        assert sum(setting.values()) == pytest.approx(1)


def test_every_setting_is_scored_on_every_question() -> None:
    found = search_grid(JUDGED, GRID, k=5)
    assert found.values.shape == (11, len(JUDGED.questions))
    by_id = {each.recall_id: each for each in LOG.recalls}
    for row in (0, 4, 10):
        for column in (0, 7):
            question = JUDGED.questions[column]
            ranking = reranked(by_id[question], GRID[row])
            assert found.values[row, column] == pytest.approx(ndcg(ranking, LOG.gains[question], 5))
    assert found.best() == int(found.means.argmax())


def test_a_known_best_weight_is_found_and_accepted() -> None:
    verdict = tune_weights(JUDGED, {"meaning": 0.8, "words": 0.2})
    assert verdict.accepted
    assert verdict.setting["meaning"] == pytest.approx(0.3, abs=0.15)
    assert verdict.gain.low > 0
    assert verdict.luck < 0.025
    assert len(verdict.folds) == 5


def test_what_is_already_best_stays() -> None:
    # All the weight on the only column there is: nothing to gain.
    verdict = tune_weights(JUDGED, {"meaning": 0.3, "words": 0.7}, [{"meaning": 0.3, "words": 0.7}])
    assert not verdict.accepted
    assert verdict.reason.startswith("no change")


def test_the_folds_choose_without_what_they_judge() -> None:
    log = simulated_log(60, best=None, seed=3)
    judged = Judged.of(log.recalls, log.gains)
    current = {"meaning": 0.5, "words": 0.5}
    verdict = tune_weights(judged, current)
    table = search_grid(judged, [current, *GRID])
    sizes = {fold.questions for fold in verdict.folds}
    assert sizes == {12}
    assert all(fold.learnt_gain >= 0 for fold in verdict.folds)
    assert verdict.gain.mean < table.means.max() - table.means[0]


def test_tuning_on_five_rows_says_how_many_more() -> None:
    log = simulated_log(5, best=0.3, seed=1)
    with pytest.raises(NotEnoughData, match=r"5 groups of questions with a relevant result .* 15 more"):
        tune_weights(Judged.of(log.recalls, log.gains), {"meaning": 1.0})


def test_the_same_seed_gives_the_same_verdict() -> None:
    assert tune_weights(JUDGED, {"meaning": 0.8}, seed=4) == tune_weights(JUDGED, {"meaning": 0.8}, seed=4)


def test_of_families_the_better_one_is_chosen_by_folds_inside_folds() -> None:
    # The second family sees scales turned to noise; it has many settings to be lucky with.
    random = np.random.default_rng(5)
    noisy = Judged(
        JUDGED.questions,
        JUDGED.groups,
        JUDGED.names,
        random.random(JUDGED.values.shape),
        JUDGED.gains,
        JUDGED.bounds,
        JUDGED.ideals,
        0,
    )
    families = {"noise": (noisy, weight_grid(JUDGED.names, steps=40)), "real": (JUDGED, GRID)}
    family, verdict = tune_families(families, ("noise", {"meaning": 0.5, "words": 0.5}))
    assert family == "real"
    assert verdict.accepted
    assert verdict.setting["meaning"] == pytest.approx(0.3, abs=0.15)


def test_one_family_in_use_and_best_stays() -> None:
    only = {"meaning": 0.3, "words": 0.7}
    family, verdict = tune_families({"real": (JUDGED, [only])}, ("real", only))
    assert (family, verdict.accepted) == ("real", False)


@pytest.mark.parametrize("changes", [{"names": []}, {"names": ["a", "a"]}, {"names": "ab"}, {"steps": 0}])
def test_what_is_no_grid_is_refused(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"names": ["a", "b"], "steps": 2}
    with pytest.raises(InvalidArgument):
        weight_grid(**good | changes)


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument):
        search_grid(JUDGED, [])
    with pytest.raises(InvalidArgument):
        search_grid(JUDGED, [{"graph": 1.0}])
    with pytest.raises(NotEnoughData):
        search_grid(Judged.of([], {}), GRID)
    with pytest.raises(InvalidArgument):
        tune_families({}, ("real", {}))
    with pytest.raises(InvalidArgument):
        tune_families({"real": (JUDGED, GRID)}, ("other", {}))
    fewer = simulated_log(30, best=0.3, seed=1)
    with pytest.raises(InvalidArgument, match="the same questions"):
        tune_families(
            {"real": (JUDGED, GRID), "less": (Judged.of(fewer.recalls, fewer.gains), GRID)}, ("real", GRID[0])
        )
