from typing import Any

import numpy as np
import pytest

from memorata.learn.luck import luck
from memorata.model.errors import InvalidArgument


def luck_slowly(table: Any, chosen: int, samples: int, seed: int) -> float:
    """Draw by draw, setting by setting."""
    count = table.shape[1]
    random = np.random.default_rng(seed)
    drawn = [row for _ in range(samples // 200) for row in random.integers(0, count, (200, count))]
    errors = [np.std(row, ddof=1) / count**0.5 for row in table]
    height = np.mean(table[chosen]) / errors[chosen]
    higher = 0
    for picks in drawn:
        best = max((row[picks].mean() - row.mean()) / error for row, error in zip(table, errors, strict=True))
        higher += bool(best >= height - 1e-9)
    return (1 + higher) / (samples + 1)


def test_it_is_what_drawing_one_by_one_gives() -> None:
    table = np.random.default_rng(3).normal(0.05, 0.2, (4, 30))
    for chosen in range(4):
        assert luck(table, chosen, samples=400, seed=5) == pytest.approx(luck_slowly(table, chosen, 400, 5))


def test_of_one_setting_it_is_the_one_sided_p_value() -> None:
    random = np.random.default_rng(4)
    found = [luck(random.normal(0, 1, (1, 60)), 0, samples=500, seed=seed) for seed in range(400)]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_the_best_of_many_that_are_no_better_is_seldom_taken_for_better() -> None:
    random = np.random.default_rng(5)
    taken = alone = 0
    for seed in range(200):
        table = random.normal(0, 1, (40, 60))
        best = int(table.mean(axis=1).argmax())
        taken += luck(table, best, samples=500, seed=seed) <= 0.05
        alone += luck(table[best : best + 1], 0, samples=500, seed=seed) <= 0.05
    assert taken / 200 <= 0.08
    assert alone / 200 > 0.6


def test_a_hundred_settings_that_are_the_same_count_as_one() -> None:
    row = np.random.default_rng(6).normal(0.3, 1, 60)
    assert luck(np.tile(row, (100, 1)), 7) == luck(row[np.newaxis], 0)


def test_the_current_setting_itself_is_no_gain() -> None:
    assert luck([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]], 0) == 1.0
    assert luck([[0.1, 0.1, 0.1]], 0, samples=99) == 0.01


@pytest.mark.parametrize(
    ("table", "chosen"),
    [([], 0), ([[0.1]], 0), ([[0.1, 0.2]], 1), ([[0.1, float("nan")]], 0), ([[0.1, 0.2]], -1)],
)
def test_bad_arguments(table: Any, chosen: Any) -> None:
    with pytest.raises(InvalidArgument):
        luck(table, chosen)
