"""How well the best candidate stands by itself: numbers that can be compared between questions."""

from datetime import UTC, datetime

import numpy as np
import pytest

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.engine.recall.result import support

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def engine() -> Engine:
    memory = open_engine(":memory:", embedder="lexical", clock=lambda: NOW)
    memory.remember_many(["Anna prefers green tea.", "Bob sails to Crete.", "The build server is slow."])
    return memory


def test_nothing_supports_nothing() -> None:
    assert support(None) == 0.0


def test_it_is_the_mean_of_what_meaning_and_words_say_of_the_best(engine: Engine) -> None:
    found = engine.recall("Which tea does Anna prefer?", recipe={"least_match": 0.0})
    trace = found.trace
    assert trace is not None
    legs = {
        name: dict(zip(slots.tolist(), scores.tolist(), strict=True)) for name, slots, scores in trace.legs
    }
    noise, ceiling = trace.moment.noise, trace.moment.ceiling
    by_hand = [
        (
            np.clip((legs["vector"].get(slot, -1.0) - noise) / (1 - noise), 0, 1)
            + min(legs["lexical"].get(slot, 0.0) / ceiling, 1)
        )
        / 2
        for slot in range(3)
    ]
    assert found.support == pytest.approx(max(by_hand))
    assert 0 < found.support <= 1


def test_words_alone_have_the_whole_say_where_there_is_no_meaning(engine: Engine) -> None:
    found = engine.recall("green tea", recipe="bm25")
    assert found.trace is not None
    (_, _, words) = next(leg for leg in found.trace.legs if leg[0] == "lexical")
    assert found.support == pytest.approx(min(float(words[0]) / found.trace.moment.ceiling, 1))


@pytest.mark.parametrize("recipe", ["balanced", "fast", "bm25", "vector", "azure", "haia"])
def test_what_is_known_is_supported_better_than_what_is_not(engine: Engine, recipe: str) -> None:
    known = engine.recall("Which green tea does Anna prefer?", recipe=recipe)
    unknown = engine.recall("Who stole the moon from Carol?", recipe=recipe)
    assert known.support > unknown.support
    assert "support" in known.as_dict()
