from collections.abc import Callable

import pytest

from memorata.engine import RECIPES, Recipe
from memorata.engine.recall.fusion import ExtraLeg, fuse
from memorata.engine.recall.legs import entity_leg, search, with_seeds
from memorata.engine.recall.query import RecallContext
from memorata.engine.recall.ranking import run

Make = Callable[..., RecallContext]
TEXTS = ["green tea", "Green tea!", "black tea with milk", "tea", "coffee", "a walk in the park"]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.name)
def test_every_recipe_explains_every_score_exactly(context: Make, recipe: Recipe) -> None:
    asked = context(TEXTS, "green tea with milk", least_similarity=-1.0)
    ranked = run(recipe.changed({"deduplicate": False}), asked)
    assert ranked.slots.size >= 4
    for position, score in enumerate(ranked.scores.tolist()):
        why = ranked.explain(position)
        assert why.value == score
        assert why.adds_up()


def test_the_same_content_is_shown_once_the_best_of_it(context: Make) -> None:
    ranked = run(Recipe(name="x"), context(TEXTS, "green tea"))
    assert 0 in ranked.slots
    assert 1 not in ranked.slots
    both = run(Recipe(name="x", deduplicate=False), context(TEXTS, "green tea"))
    assert {0, 1} <= set(both.slots.tolist())


def test_nothing_found_is_nothing_ranked(context: Make) -> None:
    ranked = run(Recipe(name="x", vector_pool=0), context(TEXTS, "zebra"))
    assert ranked.slots.size == 0
    assert ranked.refused is None


def test_the_best_refused_is_named(context: Make) -> None:
    ranked = run(
        Recipe(name="x", only_vectors_pass=True), context(TEXTS, "green zebra", least_similarity=1.0)
    )
    assert ranked.slots.size == 0
    assert ranked.refused is not None
    assert ranked.refused_explain is not None
    assert ranked.refused_explain().value == ranked.refused_score
    assert ranked.missed is not None
    assert ranked.missed()[0].measure == "similarity"


def test_diversity_changes_the_order_and_not_the_scores(context: Make) -> None:
    texts = ["tea tea green", "tea green tea hot", "tea cake recipe"]
    asked = context(texts, "green tea")
    plain, diverse = (run(Recipe(name="x", diversity=kind, trade=0.3), asked) for kind in ("none", "mmr"))
    assert set(plain.slots.tolist()) == set(diverse.slots.tolist())
    assert plain.slots.tolist() != diverse.slots.tolist()
    by_slot = dict(zip(plain.slots.tolist(), plain.scores.tolist(), strict=True))
    assert [by_slot[slot] for slot in diverse.slots.tolist()] == diverse.scores.tolist()
    assert diverse.explain(1).value == diverse.scores[1]


def test_one_session_may_be_kept_from_filling_the_list(context: Make) -> None:
    items = [
        {
            "content": f"tea {'tea ' * (5 - number)}{number}",
            "source": {"session": "s1" if number < 3 else "s2"},
        }
        for number in range(5)
    ]
    items.append({"content": "tea of no session"})
    ranked = run(Recipe(name="x", per_session=1, vector_pool=0), context(items, "tea"))
    sessions = ["s1", "s1", "s1", "s2", "s2", None]
    assert [sessions[slot] for slot in ranked.slots.tolist()][:3] != ["s1", "s1", "s1"]
    assert sorted(ranked.slots.tolist()) == [0, 1, 2, 3, 4, 5]


NAMED = [
    {"content": "The song was written by Maria Silva", "entities": ["Maria Silva"]},
    {"content": "Maria Silva was born in Porto", "entities": ["Maria Silva", "Porto"]},
    {"content": "Porto has a bridge", "entities": ["Porto"]},
    {"content": "A song about rain"},
]


def test_the_names_leg_of_the_default_is_a_quarter_beside_meaning_and_words(context: Make) -> None:
    recipe, asked = RECIPES["balanced"], context(NAMED, "who wrote the song", least_similarity=-1.0)
    legs = search(recipe, asked)
    first = fuse(recipe, asked, legs)
    shared = entity_leg(recipe, asked, first.slots, first.scores)
    assert shared.slots.size
    seeds = fuse(recipe, asked, legs).slots[: recipe.graph_seeds]
    by_hand = fuse(recipe, asked, legs.with_leg(ExtraLeg("graph", with_seeds(shared, seeds), 0.25)))
    plain = {"session_weight": 0.0, "machine_weight": 1.0, "quality": "none", "temporal": "none"}
    ranked = run(recipe.changed(plain), asked)
    assert ranked.slots.tolist() == by_hand.slots.tolist()
    assert ranked.scores.tolist() == by_hand.scores.tolist()


@pytest.mark.parametrize("graph", ["names", "walk", "paths", "communities"])
def test_a_graph_leg_brings_in_what_shares_no_word_and_explains_it_exactly(context: Make, graph: str) -> None:
    recipe = Recipe(name="x", vector_pool=0, graph=graph, graph_seeds=1)
    asked = context(NAMED, "written song")
    if graph == "paths":
        told = [NAMED[0], {"content": "It rains a lot", "entities": ["Porto"]}]
        asked = context(told, "the song of Maria Silva", [("Maria Silva", "born_in", "Porto")])
    if graph == "communities":
        recipe = recipe.changed({"lexical_pool": 1})
        told = [{"content": f"tea {word}", "entities": ["Anna", "Ben"]} for word in ("pot", "cup", "urn")]
        asked = context([*told, "rain", "snow"], "tea")
    without, ranked = run(recipe.changed({"graph": "none"}), asked), run(recipe, asked)
    brought = set(ranked.slots.tolist()) - set(without.slots.tolist())
    assert brought
    for position, score in enumerate(ranked.scores.tolist()):
        why = ranked.explain(position)
        assert why.value == score
        assert why.adds_up()
    assert run(recipe.changed({"graph_weight": 0.0}), asked).scores.tolist() == without.scores.tolist()


def test_the_walk_does_not_vouch_for_where_it_started(context: Make) -> None:
    recipe = Recipe(name="x", graph="walk", graph_seeds=1, only_vectors_pass=True)
    ranked = run(recipe, context(NAMED[:1], "written song", least_similarity=1.0))
    assert ranked.slots.size == 0
    assert ranked.refused == 0


def test_what_the_gate_refuses_leads_nowhere(context: Make) -> None:
    longer = "A long note that mentions, among very many other things, one song"
    asked = context(["A song about rain", *NAMED[:2], longer], "song about rain")
    recipe = Recipe(name="x", vector_pool=0, graph="names", least_match=0.5)
    assert run(recipe, asked).slots.tolist() == [0]
    assert set(run(recipe.changed({"least_match": 0.0}), asked).slots.tolist()) == {0, 1, 2, 3}


def test_a_seed_is_not_said_to_be_found_by_the_names_of_others(context: Make) -> None:
    ranked = run(Recipe(name="x", vector_pool=0, graph="names"), context(NAMED[:2], "written song"))
    seed, led_to = (str(ranked.explain(position)) for position in (0, 1))
    assert "by a shared name" in led_to
    assert "by a shared name" not in seed
    assert "the first, from which the others follow" in seed
