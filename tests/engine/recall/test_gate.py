from collections.abc import Callable

import numpy as np
import pytest

from memorata.engine import Recipe
from memorata.engine.recall.fusion import Evidence
from memorata.engine.recall.query import RecallContext
from memorata.engine.recall.ranking import gate
from memorata.model import Place

Make = Callable[..., RecallContext]
ITEMS = [{"content": f"memory {number}", "confidence": 0.5 + number / 10} for number in range(4)]
# By meaning: 0 and 1 are found. By words, of at most 10: 1 and 2. Nothing found 3.
NOBODY = np.zeros(4, np.bool_)
EVIDENCE = Evidence(np.array([0.8, 0.3, -np.inf, -np.inf]), np.array([0.0, 0.4, 5.0, 0.0]), 10.0, NOBODY)


def passed(context: RecallContext, **changes: object) -> tuple[list[bool], list[str]]:
    recipe = Recipe(name="x", **changes)  # type: ignore[arg-type]
    confidence = context.view.records(np.arange(4))["confidence"]
    mask, missed = gate(recipe, context, EVIDENCE, confidence)
    return mask.tolist(), [" and ".join(map(str, missed(position))) for position in range(4)]


def test_meaning_or_words_are_enough(context: Make) -> None:
    mask, reasons = passed(context(ITEMS, "x", least_similarity=0.6))
    assert mask == [True, False, True, False]
    assert reasons[1] == (
        "similarity 0.300 is below 0.600 and its words are 4.0% of the best possible match, below 5.0%"
    )
    assert reasons[3] == "it shares no word with the question"


def test_the_thresholds_are_included(context: Make) -> None:
    assert passed(context(ITEMS, "x", least_similarity=0.3))[0] == [True, True, True, False]
    assert passed(context(ITEMS, "x", least_similarity=0.9), least_match=0.04)[0][1]


def test_words_alone_may_not_be_enough(context: Make) -> None:
    mask, reasons = passed(context(ITEMS, "x", least_similarity=0.6), only_vectors_pass=True)
    assert mask == [True, False, False, False]
    # Half of the best possible match would have been enough, so that is not what it missed.
    assert reasons[2] == "its similarity is not known"
    mask, reasons = passed(
        context(ITEMS, "x", least_similarity=0.6), only_vectors_pass=True, least_match=0.04
    )
    assert (mask[1], reasons[1]) == (False, "similarity 0.300 is below 0.600")


def test_certainty_is_asked_of_all(context: Make) -> None:
    mask, reasons = passed(context(ITEMS, "x", least_similarity=0.6), least_confidence=0.65)
    assert mask == [False, False, True, False]
    assert reasons[0] == "confidence 0.50 is below 0.65"


@pytest.mark.parametrize("changes", [{"vector_pool": 0}, {}])
def test_without_vectors_words_decide(context: Make, changes: dict[str, int]) -> None:
    vector = None if not changes else np.zeros(512, np.float32)
    asked = context(ITEMS, "x", least_similarity=0.6, vector=vector)
    assert passed(asked, **changes)[0] == [False, False, True, False]


def test_one_that_another_leg_speaks_for_passes_beside_others_that_pass_by_themselves(
    context: Make,
) -> None:
    spoken_for = Evidence(EVIDENCE.cosines, EVIDENCE.matches, 10.0, np.array([False, False, False, True]))
    confidence = np.ones(4)
    asked = context(ITEMS, "x", least_similarity=0.6)
    mask, _ = gate(Recipe(name="x"), asked, spoken_for, confidence)
    assert mask.tolist() == [True, False, True, True]
    mask, _ = gate(
        Recipe(name="x", least_match=1.0), context(ITEMS, "x", least_similarity=0.9), spoken_for, confidence
    )
    assert not mask.any()


def test_a_time_or_place_that_was_asked_for_is_enough(context: Make) -> None:
    spoken_for = Evidence(EVIDENCE.cosines, EVIDENCE.matches, 10.0, np.array([False, False, False, True]))
    for changes in ({"about_time": True}, {"here": Place(0, 0)}):
        asked = context(ITEMS, "x", least_similarity=0.9, **changes)
        mask, _ = gate(Recipe(name="x", least_match=1.0), asked, spoken_for, np.ones(4))
        assert mask.tolist() == [False, False, False, True]
