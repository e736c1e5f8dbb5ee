from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata.engine.recall.legs import not_excluded, search, without_excluded
from memorata.engine.recall.query import RecallContext, parse_query
from memorata.engine.recipes import RECIPES, Recipe
from memorata.index.candidates import LegCandidates
from memorata.model import Period, Place
from memorata.text import RuleClassifier

Make = Callable[..., RecallContext]
TEXTS = ["a cup of green tea", "tea that is green", "Green  TEA again", "evergreen tea", "tea with milk"]
LATER = datetime(2100, 1, 1, tzinfo=UTC)
THERE = Place(38.7, -9.1)


def test_only_what_says_it_together_is_left_out(context: Make) -> None:
    asked = context(TEXTS, 'tea -"green tea"')
    assert not_excluded(asked, np.arange(5)).tolist() == [1, 3, 4]
    both = context(TEXTS, 'tea -"green tea" -milk')
    assert not_excluded(both, np.arange(5)).tolist() == [1, 3]
    assert not_excluded(context(TEXTS, "tea"), np.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_an_option_of_a_command_is_no_word_that_must_not_occur(context: Make) -> None:
    texts = ["cmake -DBUILD=Release .", "DBUILD=Release is a macro", "the x and -DBUILD=Release"]
    asked = context(texts, "cmake -DBUILD=Release")
    assert not_excluded(asked, np.arange(3)).tolist() == [0, 2]
    assert not_excluded(context(texts, 'cmake -"and -DBUILD=Release"'), np.arange(3)).tolist() == [0, 1]


@pytest.mark.parametrize("recipe", [Recipe(name="x"), Recipe(name="x", complete=True, context_before=0.7)])
def test_every_leg_leaves_it_out(context: Make, recipe: Recipe) -> None:
    legs = search(recipe, context(TEXTS, 'tea -"green tea"'))
    assert sorted(legs.lexical.slots.tolist()) == [1, 3, 4]
    assert sorted(legs.vector.slots.tolist()) == [1, 3, 4]


def test_it_is_not_found_as_a_neighbour_or_by_its_time_or_place(context: Make) -> None:
    then = datetime(2020, 5, 7, tzinfo=UTC)
    items: list[dict[str, Any]] = [
        {"content": text, "valid_from": then, "place": THERE, "source": {"session": "s", "position": place}}
        for place, text in enumerate(TEXTS)
    ]
    asked = context(items, 'milk -"green tea"', period=Period(then, then), about_time=True, here=THERE)
    legs = search(Recipe(name="x", context_before=0.7), asked)
    for name, found in legs.named():
        assert not {0, 2} & set(found.slots.tolist()), name
    assert {leg.name for leg in legs.more} == {"temporal", "geo"}


def test_what_is_left_out_does_not_take_the_places_of_others(context: Make) -> None:
    texts = [*(f"green tea {number}" for number in range(40)), "tea, which can be green, and milk and sugar"]
    legs = search(Recipe(name="x", vector_pool=2, lexical_pool=2), context(texts, 'green tea -"green tea"'))
    assert legs.lexical.slots.tolist() == legs.vector.slots.tolist() == [40]


@given(said=st.lists(st.booleans(), max_size=40), limit=st.integers(0, 12), by_words=st.booleans())
def test_the_best_that_may_be_returned_are_those_of_all_that_were_found(
    said: list[bool], limit: int, by_words: bool
) -> None:
    texts = ["a green tea" if each else "tea" for each in said]
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember_many(texts, duplicates="off")
        with memory.store.view("default", LATER) as view:
            query = parse_query("cup -green" if by_words else 'cup -"green tea"', memory.analyser)
            context = RecallContext(view, query, RuleClassifier(), None, 0, 0, LATER, None)
            calls: list[int] = []

            def find(count: int) -> LegCandidates:
                calls.append(count)
                slots = np.arange(min(count, len(texts)))
                return LegCandidates(slots, -slots.astype(float), ceiling=7.0)

            found = without_excluded(context, find, limit, words=by_words)
    wanted = [slot for slot, each in enumerate(said) if not each][:limit]
    assert found.slots.tolist() == wanted
    assert found.scores.tolist() == [-float(slot) for slot in wanted]
    assert found.ceiling == 7.0
    assert calls[0] == limit


def test_a_leg_is_asked_once_where_nothing_is_excluded(context: Make) -> None:
    found = LegCandidates(np.array([3]), np.array([1.0]))
    assert without_excluded(context(TEXTS, "tea"), lambda count: found, 9, words=True) is found


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_no_recipe_answers_with_what_must_not_occur(recipe: str) -> None:
    texts = [
        {"content": "Anna drinks green tea in Porto", "entities": ["Anna", "Porto"]},
        {"content": "Anna drinks tea that is green", "entities": ["Anna"]},
        {"content": "In Porto one pours green tea for Anna", "entities": ["Anna", "Porto"]},
        {"content": "Anna drinks coffee in Porto", "entities": ["Anna", "Porto"]},
    ]
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember_many(texts)
        found = memory.recall('What does Anna drink? -"green tea"', recipe=recipe, min_confidence=0)
        contents = {hit.memory.content for hit in found}
    assert "Anna drinks tea that is green" in contents
    assert not {text for text in contents if "green tea" in text}
