from collections.abc import Callable

import numpy as np
import pytest

from recollect.engine import Recipe
from recollect.engine.candidates import explain_fused, fuse, score_by, search
from recollect.engine.situation import Situation
from recollect.rank import FUSIONS
from recollect.store.port import Found

Make = Callable[..., Situation]
TEXTS = ["green tea", "black tea with milk", "coffee", "a walk in the park"]


def test_each_leg_finds_its_own(situation: Make) -> None:
    legs = search(Recipe(name="x"), situation(TEXTS, "green tea"))
    assert legs.lexical.slots.tolist() == [0, 1]
    assert legs.vector.slots[0] == 0
    assert legs.lexical.ceiling > 0


def test_a_leg_with_no_pool_is_not_asked(situation: Make) -> None:
    asked = situation(TEXTS, "green tea")
    assert search(Recipe(name="x", vector_pool=0), asked).vector.slots.size == 0
    assert search(Recipe(name="x", lexical_pool=0), asked).lexical.slots.size == 0


def test_pools_bound_what_is_found(situation: Make) -> None:
    legs = search(Recipe(name="x", vector_pool=2, lexical_pool=1), situation(TEXTS, "tea"))
    assert (legs.vector.slots.size, legs.lexical.slots.size) == (2, 1)


def test_an_excluded_word_is_excluded_from_every_leg(situation: Make) -> None:
    legs = search(Recipe(name="x"), situation(TEXTS, "tea -milk"))
    assert 1 not in legs.lexical.slots
    assert 1 not in legs.vector.slots


def test_a_quoted_phrase_lifts_a_text_over_one_with_the_same_words(situation: Make) -> None:
    texts = ["tea green tea leaves green", "a cup of green tea, please, and some cake for the others"]
    plain = search(Recipe(name="x"), situation(texts, "green tea")).lexical
    texts[0] = "tea leaves that are green, tea"
    quoted = search(Recipe(name="x"), situation(texts, '"green tea"')).lexical
    assert plain.slots[0] == 0
    assert quoted.slots[0] == 1


def test_rare_names_in_the_question_weigh_more(situation: Make) -> None:
    contents = [{"content": f"Ben had tea number {number}", "entities": ["Ben"]} for number in range(20)]
    contents.append({"content": "Anna had tea", "entities": ["Anna"]})
    asked = situation(contents, "Ben Anna tea")
    plain, boosted = (search(Recipe(name="x", entity_weight=weight), asked).lexical for weight in (0, 3))
    assert plain.slots[0] == boosted.slots[0] == 20
    assert boosted.scores[0] / boosted.scores[1] > plain.scores[0] / plain.scores[1]


@pytest.mark.parametrize("fusion", sorted(FUSIONS))
def test_every_fusion_explains_itself_exactly(situation: Make, fusion: str) -> None:
    recipe = Recipe(name="x", fusion=fusion, forgetting=fusion == "alpha_blend", anchored=True)
    asked = situation(TEXTS, "green tea with milk")
    legs = search(recipe, asked)
    fused = fuse(recipe, asked, legs)
    explain = explain_fused(fused, legs)
    assert set(fused.ids) == {0, 1, 2, 3}
    for position, score in enumerate(fused.scores.tolist()):
        why = explain(position)
        assert why.value == score
        assert {part.label for part in why.parts} >= {"meaning", "words"}


def test_an_explanation_names_rank_score_and_words(situation: Make) -> None:
    recipe, asked = Recipe(name="x"), situation(TEXTS, "green tea")
    legs = search(recipe, asked)
    fused = fuse(recipe, asked, legs)
    text = str(explain_fused(fused, legs)(0))
    assert "rank 1 of 2" in text
    assert "green in content" in text
    last = str(explain_fused(fused, legs)(len(fused.ids) - 1))
    assert "not found by this leg" in last


def test_a_lone_leg_has_all_the_weight(situation: Make) -> None:
    asked = situation(TEXTS, "green tea")
    recipe = Recipe(name="x", vector_pool=0, vector_weight=1.0)
    assert fuse(recipe, asked, search(recipe, asked)).scores[0] == 1.0


def test_what_a_leg_gave_to_each() -> None:
    found = Found(np.array([7, 3, 5]), np.array([0.9, 0.5, 0.1]))
    assert score_by(found, np.array([3, 4, 7, 9]), -1.0).tolist() == [0.5, -1.0, 0.9, -1.0]
    assert score_by(Found(np.zeros(0, np.intp), np.zeros(0)), np.array([1]), 0.0).tolist() == [0.0]
