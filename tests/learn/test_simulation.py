import numpy as np
import pytest

from memorata.learn.judged import Judged
from memorata.learn.simulation import simulated_clicks, simulated_log, simulated_users
from memorata.model.errors import InvalidArgument


def test_the_same_seed_gives_the_same_people() -> None:
    once, again, other = (simulated_log(5, best=0.3, seed=seed) for seed in (1, 1, 2))
    assert once.gains == again.gains
    assert once.gains != other.gains
    assert simulated_users(9, 4, seed=1).clicked.tolist() == simulated_users(9, 4, seed=1).clicked.tolist()
    first, second = (simulated_clicks(20, seed=3, blur=0.1, other_blur=0.3) for _ in range(2))
    assert first.credits.tolist() == second.credits.tolist()


def test_the_known_weight_ranks_best_and_without_signal_none_does() -> None:
    for best, expected in ((0.3, True), (None, False)):
        log = simulated_log(400, best=best, seed=1, wrong=0.0)
        judged = Judged.of(log.recalls, log.gains)
        values = [judged.ndcg({"meaning": alpha, "words": 1 - alpha}).mean() for alpha in (0.0, 0.3, 1.0)]
        assert bool(values[1] > max(values[0], values[2]) + 0.05) is expected
        assert expected or np.ptp(values) < 0.05


def test_users_have_the_means_that_were_asked_for_and_never_undo_anything() -> None:
    totals = simulated_users(4_000, 10, seed=1, click_rate=0.4, rating=3.0, empty_rate=0.1)
    last = totals.questions[-1].sum()
    assert totals.clicked[-1].sum() / last == pytest.approx(0.4, abs=0.02)
    assert totals.empty[-1].sum() / last == pytest.approx(0.1, abs=0.02)
    assert totals.stars[-1].sum() / totals.ratings[-1].sum() == pytest.approx(3.0, abs=0.1)
    assert (np.diff(totals.questions, axis=0) >= 0).all()


def test_the_same_ranking_twice_is_preferred_by_nobody() -> None:
    clicks = simulated_clicks(4_000, seed=1, blur=0.2, other_blur=0.2)
    assert abs(clicks.credits.mean()) < 0.04
    assert abs(clicks.first.mean() - clicks.second.mean()) < 0.04


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument):
        simulated_log(-1, best=0.3, seed=1)
    with pytest.raises(InvalidArgument):
        simulated_log(1, best=0.3, seed=1, candidates=3)
    with pytest.raises(InvalidArgument):
        simulated_users(0, 1, seed=1)
    with pytest.raises(InvalidArgument):
        simulated_clicks(0, seed=1, blur=0.1, other_blur=0.2)
