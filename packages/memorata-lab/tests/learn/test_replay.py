"""The log under another recipe: metrics, moves, and how far the log can be trusted."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine import Engine
from memorata.model.errors import InvalidArgument, NotEnoughData
from memorata_lab.evaluate.metrics import ndcg
from memorata_lab.learn.replay import Moved, compare_rankings, replay_log

Ask = Callable[..., None]
SHOWN = {"r1": ("a", "b", "c")}
TURNED = {"r1": ("c", "b", "a")}


def shuffled(count: int, seed: int) -> dict[str, tuple[str, ...]]:
    random = np.random.default_rng(seed)
    return {f"r{number}": tuple(random.permutation(list("abcdefgh"))) for number in range(count)}


def test_what_moved_is_told_result_by_result() -> None:
    found = compare_rankings(SHOWN, TURNED)
    assert found.changed == 1
    assert found.moved == (Moved("r1", "c", 3, 1), Moved("r1", "a", 1, 3))
    assert (found.judged, dict(found.gains)) == (0, {})


def test_what_leaves_or_enters_the_first_few_has_no_rank_there() -> None:
    found = compare_rankings(SHOWN, TURNED, depth=1)
    assert found.moved == (Moved("r1", "c", None, 1), Moved("r1", "a", 1, None))


def test_the_settings_that_were_in_use_move_nothing() -> None:
    found = compare_rankings(SHOWN, SHOWN, {"r1": {"a": 1}})
    assert (found.changed, found.moved) == (0, ())
    assert {name: gain.mean for name, gain in found.gains.items()} == {
        "ndcg@10": 0,
        "mrr@10": 0,
        "recall@10": 0,
    }


def test_metrics_are_compared_over_what_was_judged() -> None:
    before = shuffled(50, 1)
    # What is relevant stands first afterwards, and every fifth recall was not judged.
    relevant = {name: {"c": 1.0} for number, name in enumerate(before) if number % 5}
    after = {name: ("c", *(item for item in ids if item != "c")) for name, ids in before.items()}
    found = compare_rankings(before, after, relevant, measures=["ndcg@10"])
    gains = [
        ndcg(after[name], relevant[name], 10) - ndcg(before[name], relevant[name], 10) for name in relevant
    ]
    assert (found.recalls, found.judged) == (50, len(gains))
    assert found.gains["ndcg@10"].mean == pytest.approx(sum(gains) / len(gains))
    assert found.gains["ndcg@10"].low > 0


def test_two_settings_can_be_compared_with_each_other() -> None:
    one, other = shuffled(50, 1), shuffled(50, 2)
    relevant = {name: {"a": 1.0, "b": 1.0} for name in one}
    there, back = compare_rankings(one, other, relevant), compare_rankings(other, one, relevant)
    assert there.gains["mrr@10"].mean == pytest.approx(-back.gains["mrr@10"].mean)
    assert there.changed == back.changed


@given(st.permutations("abcdefgh"), st.integers(1, 8))
def test_going_back_moves_everything_back(items: Sequence[str], depth: int) -> None:
    shown, turned = {"r": tuple("abcdefgh")}, {"r": tuple(items)}
    there, back = compare_rankings(shown, turned, depth=depth), compare_rankings(turned, shown, depth=depth)
    assert {(move.item, move.before, move.after) for move in there.moved} == {
        (move.item, move.after, move.before) for move in back.moved
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"depth": 0},
        {"measures": ["ndgc@10"]},
        {"measures": "ndcg@10"},
        {"relevant": [1]},
        {"seed": -1, "relevant": {"r1": {"a": 1}}},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"before": SHOWN, "after": TURNED}
    with pytest.raises(InvalidArgument):
        compare_rankings(**good | changes)


def test_a_replay_says_what_would_have_been_better(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    engine.recall("what of thingcv?")
    found = replay_log(engine, changes={"vector_weight": 0.2})
    assert (found.replay.recalls, found.replay.judged, found.replay.changed, found.faithful) == (3, 2, 3, 3)
    assert found.replay.gains["ndcg@10"].mean == pytest.approx(1 - 1 / np.log2(3))
    assert found.replay.moved[0] == Moved(found.replay.moved[0].recall_id, "thingav", 2, 1)
    assert found.recipe.vector_weight == 0.2
    assert found.kept == ()


def test_the_recipe_as_it_was_changes_nothing(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv"])
    found = replay_log(engine)
    assert found.replay.changed == 0
    assert found.replay.gains["mrr@10"].mean == 0


def test_a_shipped_recipe_says_what_it_could_not_change(engine: Engine, ask: Ask) -> None:
    ask(["thingav"])
    assert "k1" in replay_log(engine, "memini").kept
    with pytest.raises(InvalidArgument, match="one that needs no search"):
        replay_log(engine, changes={"k1": 2.0})
    with pytest.raises(InvalidArgument, match="recipe must be one of"):
        replay_log(engine, "nothing")


def test_an_empty_log_is_too_little(engine: Engine) -> None:
    with pytest.raises(NotEnoughData, match="0 logged recalls are too few"):
        replay_log(engine)


def test_only_the_latest_are_replayed_if_asked(engine: Engine, ask: Ask) -> None:
    ask(["thingav", "thingbv", "thingcv"])
    assert replay_log(engine, limit=2).replay.recalls == 2
