from collections.abc import Callable

import numpy as np
import pytest

from memorata.engine import Recipe
from memorata.engine.recall.legs import entity_leg
from memorata.engine.recall.query import RecallContext

Make = Callable[..., RecallContext]
RECIPE = Recipe(name="x", graph="names", graph_seeds=1)
BEST, SCORES = np.array([0]), np.array([0.9])


def notes(**more: object) -> list[dict[str, object]]:
    return [
        {"content": "The song was written by Maria Silva", "entities": ["Maria Silva"], **more},
        {"content": "Maria Silva was born in Porto", "entities": ["Maria Silva", "Porto"]},
        {"content": "Porto has a bridge", "entities": ["Porto"]},
        {"content": "Nobody sang"},
    ]


def test_a_name_leads_from_the_best_to_what_it_does_not_say(context: Make) -> None:
    found = entity_leg(RECIPE, context(notes(), "where was the author of the song born"), BEST, SCORES)
    assert found.slots.tolist() == [1]
    assert found.detail is not None
    assert found.detail(found.slots).names == ("maria silva in names",)


def test_a_name_that_the_question_says_leads_nowhere_new(context: Make) -> None:
    assert entity_leg(RECIPE, context(notes(), "Maria Silva, her song"), BEST, SCORES).slots.size == 0


def test_a_name_that_is_only_part_of_a_word_is_not_one_that_the_question_says(context: Make) -> None:
    of_art = [
        {"content": "The song was written for Art", "entities": ["Art"]},
        {"content": "Art was born in Porto", "entities": ["Art"]},
    ]
    assert entity_leg(RECIPE, context(of_art, "the song of the party"), BEST, SCORES).slots.tolist() == [1]
    assert entity_leg(RECIPE, context(of_art, "the song for art"), BEST, SCORES).slots.size == 0


def test_what_must_not_occur_is_not_led_to(context: Make) -> None:
    asked = context(notes(), 'where was the author of the song born -"in Porto"')
    assert entity_leg(RECIPE, asked, BEST, SCORES).slots.size == 0


def test_a_conversation_is_followed_through_its_session_instead(context: Make) -> None:
    spoken = notes(source={"session": "s"})
    assert entity_leg(RECIPE, context(spoken, "who was born"), BEST, SCORES).slots.size == 0


def test_a_name_that_everybody_mentions_leads_nowhere(context: Make) -> None:
    crowd = [{"content": f"note {number}", "entities": ["Everywhere"]} for number in range(12)]
    assert entity_leg(RECIPE, context(crowd, "which"), BEST, SCORES).slots.size == 0


@pytest.mark.parametrize("scores", [[], [0.0]])
def test_without_anything_found_there_is_nothing_to_start_from(context: Make, scores: list[float]) -> None:
    found = entity_leg(RECIPE, context(notes(), "x"), BEST[: len(scores)], np.array(scores))
    assert found.slots.size == 0
