"""What learning promises, shown on people who are not there. ``benchmarks/learning.py`` runs more of it."""

import numpy as np
import pytest
from benchmarks.simulation import (
    Clicks,
    peeking_trials,
    questions_needed,
    simulated_clicks,
    simulated_log,
    simulated_users,
    tuning_trials,
)
from tests.profile import chosen

from memorata.model.errors import InvalidArgument


@pytest.mark.untraced
def test_tuning_recovers_a_known_best_weight_from_noisy_feedback() -> None:
    found = tuning_trials(20, 150, best=0.3, current=0.8, wrong=0.1)
    assert found.accepted >= 0.95
    assert float(np.median(found.weights)) == pytest.approx(0.3, abs=0.05)
    assert (np.abs(found.weights - 0.3) <= 0.2).mean() >= 0.95


@pytest.mark.untraced
def test_without_signal_tuning_changes_nothing() -> None:
    found = tuning_trials(60, 60, best=None, current=0.5, seed=900)
    assert found.accepted <= 0.05


def test_what_is_already_best_is_not_changed() -> None:
    found = tuning_trials(20, 60, best=0.5, current=0.5, seed=300)
    assert found.accepted <= 0.05


@pytest.mark.untraced
def test_looking_every_day_names_a_false_winner_in_at_most_5_percent_of_experiments() -> None:
    found = peeking_trials(chosen(500, 2_000), users=120, days=21)
    assert found.always_valid <= 0.05
    # The usual test, looked at as often, is wrong far more often; looked at once it keeps its word.
    assert found.fixed > 0.10
    assert found.single_look == pytest.approx(0.05, abs=0.02)


@pytest.mark.untraced
def test_a_real_difference_is_found_by_looking_every_day() -> None:
    found = peeking_trials(100, lift=0.15, users=200, days=28, seed=50_000)
    assert found.always_valid > 0.9
    assert found.days < 28


@pytest.mark.untraced
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


def test_the_same_seed_gives_the_same_people() -> None:
    once, again, other = (simulated_log(5, best=0.3, seed=seed) for seed in (1, 1, 2))
    assert once.relevant.tolist() == again.relevant.tolist()
    assert once.relevant.tolist() != other.relevant.tolist()
    assert simulated_users(9, 4, seed=1).clicked.tolist() == simulated_users(9, 4, seed=1).clicked.tolist()
    first, second = (simulated_clicks(20, seed=3, blur=0.1, other_blur=0.3) for _ in range(2))
    assert first.credits.tolist() == second.credits.tolist()


def test_the_known_weight_ranks_best_and_without_signal_none_does() -> None:
    for best, expected in ((0.3, True), (None, False)):
        log = simulated_log(400, best=best, seed=1, wrong=0.0)
        values = [log.ndcg(alpha).mean() for alpha in (0.0, 0.3, 1.0)]
        assert bool(values[1] > max(values[0], values[2]) + 0.05) is expected
        assert expected or np.ptp(values) < 0.05


def test_users_have_the_means_that_were_asked_for_and_never_undo_anything() -> None:
    totals = simulated_users(4_000, 10, seed=1, click_rate=0.4, rating=3.0, empty_rate=0.1)
    last = totals.questions[-1].sum()
    assert totals.clicked[-1].sum() / last == pytest.approx(0.4, abs=0.02)
    assert totals.empty[-1].sum() / last == pytest.approx(0.1, abs=0.02)
    assert totals.stars[-1].sum() / totals.ratings[-1].sum() == pytest.approx(3.0, abs=0.1)
    assert (np.diff(totals.questions, axis=0) >= 0).all()


@pytest.mark.untraced
def test_the_same_ranking_twice_is_preferred_by_nobody() -> None:
    clicks = simulated_clicks(4_000, seed=1, blur=0.2, other_blur=0.2)
    assert abs(clicks.credits.mean()) < 0.04
    assert abs(clicks.first.mean() - clicks.second.mean()) < 0.04


def test_bad_arguments_of_simulation() -> None:
    with pytest.raises(InvalidArgument):
        simulated_log(-1, best=0.3, seed=1)
    with pytest.raises(InvalidArgument):
        simulated_log(1, best=0.3, seed=1, candidates=3)
    with pytest.raises(InvalidArgument):
        simulated_users(0, 1, seed=1)
    with pytest.raises(InvalidArgument):
        simulated_clicks(0, seed=1, blur=0.1, other_blur=0.2)
