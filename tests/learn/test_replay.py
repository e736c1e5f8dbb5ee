from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.evaluate.metrics import ndcg
from memorata.learn.features import Features, reranked
from memorata.learn.replay import Moved, ranking, replay, weighted
from memorata.learn.simulation import simulated_log
from memorata.model.errors import InvalidArgument

LOGGED = Features("r1", ["a", "b", "c"], {"meaning": [0.9, 0.5, 0.1], "words": [0.0, 2.0, 7.0]})


def test_what_moved_is_told_result_by_result() -> None:
    found = replay([LOGGED], weighted({"words": 1.0}))
    assert found.changed == 1
    assert found.moved == (Moved("r1", "c", 3, 1), Moved("r1", "a", 1, 3))
    assert (found.judged, dict(found.gains)) == (0, {})


def test_what_leaves_or_enters_the_first_few_has_no_rank_there() -> None:
    found = replay([LOGGED], weighted({"words": 1.0}), depth=1)
    assert found.moved == (Moved("r1", "c", None, 1), Moved("r1", "a", 1, None))


def test_the_settings_that_were_in_use_move_nothing() -> None:
    found = replay([LOGGED], weighted({"meaning": 1.0}), {"r1": {"a": 1}})
    assert (found.changed, found.moved) == (0, ())
    assert {name: gain.mean for name, gain in found.gains.items()} == {
        "ndcg@10": 0,
        "mrr@10": 0,
        "recall@10": 0,
    }


def test_metrics_are_compared_over_what_was_judged() -> None:
    log = simulated_log(50, best=0.3, seed=1)
    weights = {"meaning": 0.3, "words": 0.7}
    found = replay(log.recalls, weighted(weights), log.gains, measures=["ndcg@10"])
    gains = []
    for each in log.recalls:
        said = log.gains[each.recall_id]
        if said:
            gains.append(ndcg(reranked(each, weights), said, 10) - ndcg(each.ids, said, 10))
    assert (found.recalls, found.judged) == (50, len(gains))
    assert found.gains["ndcg@10"].mean == pytest.approx(sum(gains) / len(gains))
    assert found.gains["ndcg@10"].low > 0


def test_two_settings_can_be_compared_with_each_other() -> None:
    log = simulated_log(50, best=0.3, seed=1)
    one, other = weighted({"meaning": 0.3, "words": 0.7}), weighted({"meaning": 1.0})
    there = replay(log.recalls, one, log.gains, baseline=other)
    back = replay(log.recalls, other, log.gains, baseline=one)
    assert there.gains["mrr@10"].mean == pytest.approx(-back.gains["mrr@10"].mean)
    assert there.changed == back.changed


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(1, 8))
def test_going_back_moves_everything_back(scores: list[int], depth: int) -> None:
    logged = Features("r", [f"m{place}" for place in range(len(scores))], {"x": [float(s) for s in scores]})
    there = replay([logged], weighted({"x": 1.0}), depth=depth)
    back = replay(
        [logged],
        lambda each: [-float(place) for place in range(len(each.ids))],
        baseline=weighted({"x": 1.0}),
        depth=depth,
    )
    assert {(move.item, move.before, move.after) for move in there.moved} == {
        (move.item, move.after, move.before) for move in back.moved
    }


def test_any_scorer_will_do() -> None:
    assert ranking(LOGGED, lambda each: each.column("words") * each.column("meaning")) == ("b", "c", "a")
    assert replay([], weighted({})).recalls == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"depth": 0},
        {"measures": ["ndgc@10"]},
        {"measures": "ndcg@10"},
        {"relevant": [1]},
        {"scorer": lambda each: [1.0]},
        {"scorer": lambda each: [float("nan")] * 3},
        {"scorer": weighted({"graph": 1.0})},
        {"seed": -1, "relevant": {"r1": {"a": 1}}},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"logged": [LOGGED], "scorer": weighted({"words": 1.0})}
    with pytest.raises(InvalidArgument):
        replay(**good | changes)
