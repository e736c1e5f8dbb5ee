from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorata.model import InvalidArgument
from memorata_lab.evaluate.significance import (
    Difference,
    Interval,
    draw_means,
    macro_means,
    paired_bootstrap,
    reality_check,
)

SAMPLES = 10_000


def bootstrap_mean(values: Any, *, samples: int = SAMPLES, seed: int = 0, level: float = 0.95) -> Interval:
    """The mean of one column, with its interval."""
    column = [[value] for value in values] if isinstance(values, list) else np.asarray(values)[:, np.newaxis]
    return draw_means(column, samples=samples, seed=seed).intervals(level)[0]


values = st.lists(st.floats(-100, 100), min_size=1, max_size=8)


def drawn_slowly(column: list[float], samples: int, seed: int) -> list[float]:
    """The means of every draw, one number at a time."""
    picks = np.random.default_rng(seed).integers(0, len(column), size=(samples, len(column)))
    return [fmean(column[pick] for pick in row) for row in picks.tolist()]


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    column = [0.1, 0.9, 0.4, 0.3, 0.7, 0.2]
    assert bootstrap_mean(column, seed=3) == bootstrap_mean(column, seed=3)
    assert bootstrap_mean(column, seed=3, samples=99) != bootstrap_mean(column, seed=4, samples=99)


def test_the_interval_is_that_of_all_possible_draws() -> None:
    column = [0.0, 0.0, 0.5, 1.0]
    every = [fmean(draw) for draw in product(column, repeat=4)]
    low, high = np.quantile(every, [0.05, 0.95])
    found = bootstrap_mean(column, level=0.9)
    assert [found.mean, found.low, found.high] == pytest.approx([0.375, low, high])


def test_of_many_values_the_interval_is_that_of_the_normal_distribution() -> None:
    column = np.random.default_rng(7).normal(2.0, 3.0, size=900)
    error = 1.96 * column.std() / 30
    found = bootstrap_mean(column)
    assert found.low == pytest.approx(found.mean - error, abs=0.02)
    assert found.high == pytest.approx(found.mean + error, abs=0.02)


def test_a_higher_level_is_a_wider_interval() -> None:
    column = [0.1, 0.9, 0.4, 0.3, 0.7, 0.2]
    narrow, wide = bootstrap_mean(column, level=0.5), bootstrap_mean(column, level=0.99)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


def test_one_value_has_an_interval_of_no_width_and_proves_nothing() -> None:
    assert bootstrap_mean([0.5]) == Interval(0.5, 0.5, 0.5)
    assert paired_bootstrap([1.0], [0.0]) == Difference(1.0, 1.0, 1.0, 1.0)


def test_p_is_never_less_than_so_few_questions_can_show() -> None:
    assert paired_bootstrap([1, 1, 1, 1], [0, 0, 0, 0]).p == 2**-3
    assert paired_bootstrap([1] * 30, [0] * 30, samples=999).p == pytest.approx(2 / 1000)


def test_equal_runs_do_not_differ() -> None:
    assert paired_bootstrap([0.2, 0.8], [0.2, 0.8]) == Difference(0.0, 0.0, 0.0, 1.0)


def test_draws_that_cancel_out_count_on_both_sides_whatever_rounding_leaves_of_them() -> None:
    whole, tenths = [1, 2, -3, 4], [0.1, 0.2, -0.3, 0.4]
    assert 0.1 + 0.2 - 0.3 != 0
    assert paired_bootstrap(tenths, [0] * 4).p == paired_bootstrap(whole, [0] * 4).p < 1


def test_p_is_the_share_of_all_draws_beyond_0_twice() -> None:
    ours = [1.0, 1.0, 0.5, 0.0, 0.2]
    every = [fmean(draw) for draw in product([o - 0.25 for o in ours], repeat=5)]
    expected = 2 * sum(mean <= 0 for mean in every) / len(every)
    assert paired_bootstrap(ours, [0.25] * 5, samples=40_000).p == pytest.approx(expected, abs=0.01)


def test_p_and_interval_agree() -> None:
    random = np.random.default_rng(5)
    for shift in np.linspace(-0.4, 0.4, 17):
        found = paired_bootstrap(random.normal(shift, 1.0, size=80), np.zeros(80), samples=2000)
        if abs(found.p - 0.05) > 0.002:
            assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_under_the_null_hypothesis_a_low_p_is_as_rare_as_it_says() -> None:
    random = np.random.default_rng(11)
    rejected = 0
    for _ in range(200):
        ours, baseline = random.normal(size=(2, 60))
        rejected += paired_bootstrap(ours, baseline, samples=400).p < 0.05
    assert rejected == pytest.approx(10, abs=9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9))
def test_the_baseline_against_ours_is_the_same_with_its_sign_turned(pairs: list[tuple[int, int]]) -> None:
    ours, baseline = ([pair[side] / 4 for pair in pairs] for side in (0, 1))
    there, back = paired_bootstrap(ours, baseline, samples=200), paired_bootstrap(baseline, ours, samples=200)
    assert (back.mean, back.p) == (-there.mean, there.p)
    assert [back.low, back.high] == pytest.approx([-there.high, -there.low])


@given(values, st.integers(1, 60), st.integers(0, 9))
def test_draws_are_those_of_a_plain_loop(column: list[float], samples: int, seed: int) -> None:
    found = draw_means([[value, -value] for value in column], samples=samples, seed=seed)
    expected = np.array(drawn_slowly(column, samples, seed))
    assert found.drawn == pytest.approx(np.column_stack([expected, -expected]), abs=1e-9)
    assert found.mean == pytest.approx([fmean(column), -fmean(column)], abs=1e-9)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 5))
def test_more_draws_than_are_held_at_once_are_still_those_of_a_plain_loop(seed: int) -> None:
    column = np.random.default_rng(1).random(30_000).tolist()
    found = draw_means([[value] for value in column], samples=5, seed=seed).drawn[:, 0]
    assert found == pytest.approx(drawn_slowly(column, 5, seed))


def test_a_macro_mean_gives_each_group_the_same_say() -> None:
    large, small = draw_means([[1.0]] * 99, seed=1), draw_means([[0.0], [0.5]], seed=2)
    macro = macro_means([large, small])
    assert macro.mean.tolist() == [0.625]
    assert macro.count == 101
    assert macro.intervals()[0] == Interval(0.625, 0.5, 0.75)
    assert macro.drawn == pytest.approx((large.drawn + small.drawn) / 2)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"values": []}, "values"),
        ({"values": [1, float("nan")]}, "values[1]"),
        ({"values": ["a"]}, "values"),
        ({"values": [True]}, "values"),
        ({"values": [1.7e308, 1.7e308]}, "values"),
        ({"samples": 0}, "samples"),
        ({"samples": 1.5}, "samples"),
        ({"seed": -1}, "seed"),
        ({"level": 1.1}, "level"),
        ({"level": float("nan")}, "level"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        bootstrap_mean(**dict[str, Any]({"values": [1, 2], "samples": 10} | arguments))
    assert caught.value.argument == named


@pytest.mark.parametrize(
    ("ours", "baseline", "named"),
    [
        ([1, 2], [1], "baseline"),
        ([], [], "values"),
        ([1.7e308], [-1.7e308], "ours"),
        ([1], [float("inf")], "baseline[0]"),
    ],
)
def test_runs_that_cannot_be_paired_are_refused(ours: Any, baseline: Any, named: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        paired_bootstrap(ours, baseline)
    assert caught.value.argument == named


def test_a_macro_mean_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="groups must be at least one group"):
        macro_means([])


def check_slowly(table: Any, chosen: int, samples: int, seed: int) -> float:
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
        assert reality_check(table, chosen, samples=400, seed=5) == pytest.approx(
            check_slowly(table, chosen, 400, 5)
        )


def test_of_one_setting_it_is_the_one_sided_p_value() -> None:
    random = np.random.default_rng(4)
    found = [reality_check(random.normal(0, 1, (1, 60)), 0, samples=500, seed=seed) for seed in range(400)]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_the_best_of_many_that_are_no_better_is_seldom_taken_for_better() -> None:
    random = np.random.default_rng(5)
    taken = alone = 0
    for seed in range(200):
        table = random.normal(0, 1, (40, 60))
        best = int(table.mean(axis=1).argmax())
        taken += reality_check(table, best, samples=500, seed=seed) <= 0.05
        alone += reality_check(table[best : best + 1], 0, samples=500, seed=seed) <= 0.05
    assert taken / 200 <= 0.08
    assert alone / 200 > 0.6


def test_a_hundred_settings_that_are_the_same_count_as_one() -> None:
    row = np.random.default_rng(6).normal(0.3, 1, 60)
    assert reality_check(np.tile(row, (100, 1)), 7) == reality_check(row[np.newaxis], 0)


def test_the_current_setting_itself_is_no_gain() -> None:
    assert reality_check([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]], 0) == 1.0
    assert reality_check([[0.1, 0.1, 0.1]], 0, samples=99) == 0.01


@pytest.mark.parametrize(
    ("table", "chosen"),
    [([], 0), ([[0.1]], 0), ([[0.1, 0.2]], 1), ([[0.1, float("nan")]], 0), ([[0.1, 0.2]], -1)],
)
def test_bad_arguments(table: Any, chosen: Any) -> None:
    with pytest.raises(InvalidArgument):
        reality_check(table, chosen)


def test_a_difference_is_shown_with_its_interval() -> None:
    assert str(Difference(0.125, 0.05, 0.2, 0.01)) == "+0.1250 [+0.0500, +0.2000] p 0.0100"
