"""What learning promises, shown on people who are not there. ``benchmarks/learning.py`` runs more of it."""

import numpy as np
import pytest

from memorata.learn.simulated_trials import peeking_trials, questions_needed, tuning_trials
from memorata.learn.simulation import Clicks, simulated_clicks
from memorata.model.errors import InvalidArgument


def test_tuning_recovers_a_known_best_weight_from_noisy_feedback() -> None:
    found = tuning_trials(20, 150, best=0.3, current=0.8, wrong=0.1)
    assert found.accepted >= 0.95
    assert float(np.median(found.weights)) == pytest.approx(0.3, abs=0.05)
    assert (np.abs(found.weights - 0.3) <= 0.2).mean() >= 0.95


def test_without_signal_tuning_changes_nothing() -> None:
    found = tuning_trials(60, 60, best=None, current=0.5, seed=900)
    assert found.accepted <= 0.05


def test_what_is_already_best_is_not_changed() -> None:
    found = tuning_trials(20, 60, best=0.5, current=0.5, seed=300)
    assert found.accepted <= 0.05


def test_looking_every_day_names_a_false_winner_in_at_most_5_percent_of_2000_experiments() -> None:
    found = peeking_trials(2_000, users=120, days=21)
    assert found.always_valid <= 0.05
    # The usual test, looked at as often, is wrong far more often; looked at once it keeps its word.
    assert found.fixed > 0.10
    assert found.single_look == pytest.approx(0.05, abs=0.02)


def test_a_real_difference_is_found_by_looking_every_day() -> None:
    found = peeking_trials(100, lift=0.15, users=200, days=28, seed=50_000)
    assert found.always_valid > 0.9
    assert found.days < 28


def test_team_draft_needs_fewer_questions_than_a_b_for_the_same_power() -> None:
    clicks = simulated_clicks(6_000, seed=1, blur=0.2, other_blur=0.4)
    halves, draft = questions_needed(clicks)
    assert draft < halves / 2


def test_the_number_of_questions_is_that_of_the_textbook() -> None:
    # 60 % against 50 %: (1.96 + 0.84)² (0.24 + 0.25) / 0.1² = 385 in each half.
    clicks = Clicks(np.arange(10) < 6, np.arange(10) < 5, np.array([1, 1, 1, -1]))
    assert questions_needed(clicks, repeats=4_000)[0] == pytest.approx(2 * 385, rel=0.08)


def test_bad_arguments() -> None:
    clicks = Clicks(np.array([False, True]), np.array([True, True]), np.array([1, -1]))
    with pytest.raises(InvalidArgument, match="the first ranking has more"):
        questions_needed(clicks)
    with pytest.raises(InvalidArgument):
        tuning_trials(0, 60, best=0.3, current=0.5)
    with pytest.raises(InvalidArgument):
        peeking_trials(0)
