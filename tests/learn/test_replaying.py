"""The log under another recipe: metrics, moves, and how far the log can be trusted."""

from collections.abc import Callable

import numpy as np
import pytest

from memorata.engine import Engine
from memorata.learn.replay import Moved
from memorata.learn.replaying import replay_log
from memorata.model.errors import InvalidArgument, NotEnoughData

Ask = Callable[..., None]


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
