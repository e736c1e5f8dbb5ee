from collections.abc import Callable

import numpy as np
import pytest

from memorata.engine import Recipe
from memorata.engine.recall.fusion import fuse
from memorata.engine.recall.legs import QUOTED, search, with_phrases
from memorata.engine.recall.query import RecallContext
from memorata.index.candidates import NO_CANDIDATES, LegCandidates

Make = Callable[..., RecallContext]
NOBODY = np.zeros(0, np.intp)


def test_what_stands_in_a_text_adds_the_largest_idf_for_each_phrase(context: Make) -> None:
    texts = ["green tea", "tea that is green", "green tea with milk"]
    asked = context(texts, 'cup "green tea" "with milk"')
    found = LegCandidates(np.array([1, 0, 2]), np.array([1.5, 1.0, 0.5]), ceiling=4.0)
    lifted = with_phrases(Recipe(name="x", phrase_weight=2), asked, found, NOBODY)
    largest = float(np.log(2.5 / 1.5 + 1))
    assert lifted.slots.tolist() == [2, 0, 1]
    assert lifted.scores.tolist() == pytest.approx([0.5 + 4 * largest, 1 + 2 * largest, 1.5])
    assert lifted.ceiling == 4.0
    kept = with_phrases(Recipe(name="x", phrase_weight=2, lexical_pool=1), asked, found, NOBODY)
    assert kept.slots.tolist() == [2]


def test_others_join_only_if_they_say_it(context: Make) -> None:
    asked = context(["Dave writes Go", "a party of gophers", "Go home"], '"Go"')
    joined = with_phrases(Recipe(name="x"), asked, NO_CANDIDATES, np.array([1, 2, 0]))
    assert joined.slots.tolist() == [2, 0]
    assert with_phrases(Recipe(name="x"), asked, NO_CANDIDATES, NOBODY).slots.size == 0


@pytest.mark.parametrize("complete", [False, True])
def test_a_quoted_phrase_of_words_that_no_list_has_is_found_among_what_meaning_finds(
    context: Make, complete: bool
) -> None:
    texts = ["Dave writes Go", "We go there", "a party of gophers", "Dave prefers C#"]
    recipe = Recipe(name="x", complete=complete)
    assert search(recipe, context(texts, "Go")).lexical.slots.size == 0
    asked = context(texts, '"Go"')
    legs = search(recipe, asked)
    assert sorted(legs.lexical.slots.tolist()) == [0, 1]
    assert legs.lexical.scores.tolist() == pytest.approx([np.log(3.5 / 1.5 + 1)] * 2)
    assert search(Recipe(name="x", phrase_weight=0), asked).lexical.slots.size == 0
    assert search(Recipe(name="x", lexical_pool=0), asked).lexical.slots.size == 0
    assert search(Recipe(name="x", vector_pool=0), asked).lexical.slots.size == 0


def test_a_list_of_words_that_is_not_complete_is_not_added_to(context: Make) -> None:
    texts = ["green tea", "tea", "tea leaves and more", "the hall"]
    legs = search(Recipe(name="x", lexical_pool=1), context(texts, 'green "the hall"'))
    assert 3 in legs.vector.slots
    assert legs.lexical.slots.size == 1


def test_what_a_quoted_phrase_is_worth_is_told(context: Make) -> None:
    texts = ["a language school", "Dave writes Go", "language and Go"]
    recipe = Recipe(name="x", complete=True)
    asked = context(texts, 'language "Go"')
    found = search(recipe, asked).lexical
    assert sorted(found.slots.tolist()) == [0, 1, 2]
    assert found.detail is not None
    told = found.detail(found.slots)
    assert told.names[-1] == QUOTED
    assert told.scores.tolist() == pytest.approx(found.scores.tolist())
    assert dict(zip(found.slots.tolist(), told.parts[-1].tolist(), strict=True)) == pytest.approx(
        {0: 0.0, 1: np.log(2.5 / 1.5 + 1), 2: np.log(2.5 / 1.5 + 1)}
    )
    said = [str(fuse(recipe, asked, search(recipe, asked)).explain(place)) for place in range(3)]
    assert sum("as it is quoted 0.98" in each for each in said) == 2
