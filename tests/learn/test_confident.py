"""Several recalls, one answer: agreement is confidence, and a caller may require it."""

import pytest

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.learn.confident import confident_recall
from memorata.model import Source
from memorata.model.errors import InvalidArgument


def test_meaning_and_words_that_disagree_make_little_confidence(engine: Engine) -> None:
    found = confident_recall(engine, "what of thingav?", limit=1)
    assert found.samples == ("as asked", "by meaning alone", "by words alone")
    assert found.agreement.confidence == pytest.approx(1 / 3)
    assert found.agreement.support == pytest.approx({"thingaw": 2 / 3, "thingav": 1 / 3})
    assert len(engine.recalls()) == 1  # only what was asked is logged


def test_a_caller_may_require_agreement(engine: Engine) -> None:
    refused = confident_recall(engine, "what of thingav?", limit=1, require=0.5)
    assert refused.recall.hits == ()
    assert refused.refused == "the answers agree to 0.33, below 0.50"
    kept = confident_recall(engine, "what of thingav?", limit=2, support=1.0)
    assert all(kept.agreement.support[hit.memory.id] == 1 for hit in kept.recall)


def test_other_words_are_samples_too(engine: Engine) -> None:
    found = confident_recall(
        engine, "what of thingav?", variants=["thingav, please"], changes={"vector_weight": 0.0}, limit=1
    )
    assert found.samples[1] == "as 'thingav, please'"
    assert found.recall.hits[0].memory.id == "thingav"


def test_one_sample_is_none() -> None:
    with open_engine(":memory:", embedder=None) as engine:
        engine.remember("tea")
        with pytest.raises(InvalidArgument, match="variants must be at least one"):
            confident_recall(engine, "tea")
        assert confident_recall(engine, "tea", variants=["some tea"]).agreement.confidence == 1
        with pytest.raises(InvalidArgument, match="require"):
            confident_recall(engine, "tea", require=2)


def test_sessions_are_kept_as_far_as_their_hits_are() -> None:
    with open_engine(":memory:", embedder="lexical") as memory:
        said = [f"tea with Anna, cup {cup}" for cup in range(3)] + ["Anna sails"]
        for place, content in enumerate(said):
            memory.remember(content, source=Source(session="kitchen", position=place), duplicates="off")
        memory.remember("tea for Bob", source=Source(session="garden"))
        # One session was asked for, and it has three hits.
        found = confident_recall(memory, "tea with Anna", limit=1, sessions=True)
        assert [len(each.hits) for each in found.recall.sessions] == [3]
        assert set(found.agreement.support) >= {hit.memory.id for hit in found.recall}
        strict = confident_recall(
            memory, "tea with Anna", variants=["Bob"], limit=2, sessions=True, support=0.8
        )
        held = [hit for each in strict.recall.sessions for hit in each.hits]
        assert held == list(strict.recall.hits)
        assert 0 < len(held) < len(memory.recall("tea with Anna", limit=2, sessions=True))
