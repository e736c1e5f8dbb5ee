"""The confidence of hits: between 0 and 1, told from the evidence, and the same on every interface."""

from __future__ import annotations

import math

import numpy as np
import pytest

import memorata
from memorata.engine import RECIPES, Engine
from memorata.engine.recall.confidence import (
    BIAS,
    FEATURES,
    RECALL_BIAS,
    RECALL_WEIGHTS,
    WEIGHTS,
    LegScores,
    answer_features,
)
from memorata.model import Hit
from memorata.service.codec import recall_json


@pytest.fixture
def engine() -> Engine:
    memory = memorata.open(":memory:", embedder="lexical")
    memory.remember_many(
        [
            {"content": "Anna lives in Porto", "source": {"speaker": "Anna", "session": "s", "position": 0}},
            {"content": "Ben lives in Lisbon", "source": {"speaker": "Ben", "session": "s", "position": 1}},
            {"content": "Green tea is good", "source": {"speaker": "Ben", "session": "s", "position": 2}},
        ],
        duplicates="off",
    )
    return memory


def test_a_confidence_is_the_logistic_of_its_features(engine: Engine) -> None:
    result = engine.recall("Where does Anna live in Porto?")
    estimates = result.estimates
    assert estimates is not None
    rows = estimates.features[list(estimates.order)]
    assert rows.shape == (len(result.hits), len(FEATURES))
    for hit, row in zip(result.hits, rows.tolist(), strict=True):
        logit = BIAS + sum(weight * value for weight, value in zip(WEIGHTS, row, strict=True))
        assert hit.confidence == pytest.approx(1 / (1 + math.exp(-logit)))
        assert 0 < hit.confidence < 1
    assert result.hits[0].confidence == max(hit.confidence for hit in result.hits)
    logit = RECALL_BIAS + float(estimates.of_recall @ RECALL_WEIGHTS)
    assert result.confidence == pytest.approx(1 / (1 + math.exp(-logit)))


def test_what_another_tells_than_is_named_is_less_sure(engine: Engine) -> None:
    right, wrong = engine.recall("Where does Anna live in Porto?"), engine.recall("Where is Ben in Porto?")
    assert wrong.hits[0].memory.source.speaker == "Anna"
    assert wrong.confidence < right.confidence
    assert wrong.hits[0].confidence < right.hits[0].confidence


def test_too_unlikely_an_answer_is_not_shown_and_what_it_missed_is_told(engine: Engine) -> None:
    shown = engine.recall("Where does Anna live?")
    least = (1 + shown.confidence) / 2
    refused = engine.recall("Where does Anna live?", recipe={"min_confidence": least})
    assert (refused.hits, refused.confidence) == ((), shown.confidence)
    assert [(hit.id, hit.refused) for hit in refused.refused] == [(hit.id, True) for hit in shown.hits]
    assert refused.rejected is not None
    (missed,) = refused.rejected.missed
    assert (missed.measure, missed.value, missed.least) == ("answer", shown.confidence, least)
    assert "likely, below" in refused.rejected.reason
    assert refused.rejected.hit.memory == shown.hits[0].memory
    ungated = RECIPES["balanced"].changed({"min_confidence": 1.0}).ungated()
    assert len(engine.recall("Where does Anna live?", recipe=ungated)) == 3


def test_nothing_found_is_nothing_to_be_sure_of(engine: Engine) -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        memory.remember("Anna lives in Porto")
        nothing = memory.recall("zebra")
    assert nothing.confidence == 0.0
    assert nothing.estimates is not None
    assert nothing.estimates.answered() == 0.0
    hit = engine.recall("tea").hits[0]
    assert Hit(hit.memory, hit.score, hit.explain).confidence == 0.0


def test_words_alone_have_a_confidence_too() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        memory.remember("The key is under the mat")
        assert 0 < memory.recall("where is the key?").confidence < 1


def test_interfaces_tell_it(engine: Engine) -> None:
    result = engine.recall("Where does Anna live?")
    data = recall_json(result)
    assert data["confidence"] == result.confidence
    assert [hit["confidence"] for hit in data["hits"]] == [hit.confidence for hit in result.hits]


def test_a_hit_says_in_one_sentence_why_it_is_here(engine: Engine) -> None:
    hit = engine.recall("Where does Anna live in Porto?").hits[0]
    assert hit.reason.startswith("Found by ")
    assert "“Porto”" in hit.reason
    assert hit.reason.endswith(f"; said by Anna, {hit.memory.event_time.date()}.")
    assert recall_json(engine.recall("Porto"), explain=True)["hits"][0]["reason"].startswith("Found by ")


def test_memories_that_a_small_store_lacks_count_as_usual_others() -> None:
    legs = LegScores(1.0, np.zeros(2), np.zeros(2), None)
    rows = answer_features(legs, np.array([0.8, 0.4]), [0, 1], [0.8, 0.4], 0.0)
    # Of five others there is one, and 0.75 of the best stands for each of the four that are missing.
    assert rows[:, FEATURES.index("score above the other best")] == pytest.approx(
        [1 - (0.5 + 4 * 0.75) / 5, 0.5 - (1 + 4 * 0.75) / 5]
    )
