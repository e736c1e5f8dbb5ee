import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from inspect import signature
from typing import Any

import numpy as np
import pytest

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.engine import RECIPES, Recipe
from memorata.engine.recall.fusion import ExtraLeg, Legs, fuse
from memorata.engine.recall.legs import search
from memorata.engine.recall.query import RecallContext
from memorata.index.candidates import LegCandidates
from memorata.index.vectors import Vectors
from memorata.model import Period, Place
from memorata.rank import FUSIONS, Leg


@pytest.fixture(scope="module")
def many() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember_many([f"green tea number {number}" for number in range(400)], duplicates="off")
        yield memory


Make = Callable[..., RecallContext]
NONE = (np.zeros(0, np.intp), np.zeros(0))
TEXTS = ["green tea", "black tea with milk", "coffee", "a walk in the park"]


def test_each_leg_finds_its_own(context: Make) -> None:
    legs = search(Recipe(name="x"), context(TEXTS, "green tea"))
    assert legs.lexical.slots.tolist() == [0, 1]
    assert legs.vector.slots[0] == 0
    assert legs.lexical.ceiling > 0


def test_a_leg_with_no_pool_is_not_asked(context: Make) -> None:
    asked = context(TEXTS, "green tea")
    assert search(Recipe(name="x", vector_pool=0), asked).vector.slots.size == 0
    assert search(Recipe(name="x", lexical_pool=0), asked).lexical.slots.size == 0


def test_pools_bound_what_is_found(context: Make) -> None:
    legs = search(Recipe(name="x", vector_pool=2, lexical_pool=1), context(TEXTS, "tea"))
    assert (legs.vector.slots.size, legs.lexical.slots.size) == (2, 1)


def test_an_excluded_word_is_excluded_from_every_leg(context: Make) -> None:
    legs = search(Recipe(name="x"), context(TEXTS, "tea -milk"))
    assert 1 not in legs.lexical.slots
    assert 1 not in legs.vector.slots


def test_a_quoted_phrase_lifts_a_text_over_one_with_the_same_words(context: Make) -> None:
    texts = ["tea green tea leaves green", "a cup of green tea, please, and some cake for the others"]
    plain = search(Recipe(name="x"), context(texts, "green tea")).lexical
    texts[0] = "tea leaves that are green, tea"
    quoted = search(Recipe(name="x"), context(texts, '"green tea"')).lexical
    assert plain.slots[0] == 0
    assert quoted.slots[0] == 1


@pytest.mark.parametrize(
    ("asked", "lifted"),
    [
        ('lake "green tea"', [0]),  # however its words are apart
        ('lake "Green   TEA"', [0]),
        ('lake "art"', [2]),  # and not in a party
        ('lake "東京"', [4]),  # nothing shows where words end
    ],
)
def test_a_quoted_phrase_stands_in_a_text_as_words(context: Make, asked: str, lifted: list[int]) -> None:
    texts = [
        "green\ntea at the lake",
        "evergreen teapots at the lake",
        "lake art",
        "a party at the lake",
        "lake 昨日東京に行った",
    ]
    bare, worth = (
        search(Recipe(name="x", vector_pool=0, phrase_weight=weight), context(texts, asked)).lexical
        for weight in (0, 5)
    )
    before = dict(zip(bare.slots.tolist(), bare.scores.tolist(), strict=True))
    after = dict(zip(worth.slots.tolist(), worth.scores.tolist(), strict=True))
    assert [slot for slot in sorted(after) if after[slot] > before[slot]] == lifted


def test_rare_names_in_the_question_weigh_more(context: Make) -> None:
    contents = [{"content": f"Ben had tea number {number}", "entities": ["Ben"]} for number in range(20)]
    contents.append({"content": "Anna had tea", "entities": ["Anna"]})
    asked = context(contents, "Ben Anna tea")
    plain, boosted = (search(Recipe(name="x", entity_weight=weight), asked).lexical for weight in (0, 3))
    assert plain.slots[0] == boosted.slots[0] == 20
    assert boosted.scores[0] / boosted.scores[1] > plain.scores[0] / plain.scores[1]


@pytest.mark.parametrize("fusion", sorted(FUSIONS))
def test_every_fusion_explains_itself_exactly(context: Make, fusion: str) -> None:
    recipe = Recipe(name="x", fusion=fusion, forgetting=fusion == "alpha_blend", anchored=True)
    asked = context(TEXTS, "green tea with milk")
    legs = search(recipe, asked)
    fused = fuse(recipe, asked, legs)
    assert set(fused.slots.tolist()) == {0, 1, 2, 3}
    for position, score in enumerate(fused.scores.tolist()):
        why = fused.explain(position)
        assert why.value == score
        assert {part.label for part in why.parts} >= {"vector", "lexical"}


def test_an_explanation_names_rank_score_and_words(context: Make) -> None:
    recipe, asked = Recipe(name="x"), context(TEXTS, "green tea")
    legs = search(recipe, asked)
    fused = fuse(recipe, asked, legs)
    text = str(fused.explain(0))
    assert "rank 1 of 2" in text
    assert "green in content" in text
    last = str(fused.explain(fused.slots.size - 1))
    assert "not found by this leg" in last


def test_a_lone_leg_has_all_the_weight(context: Make) -> None:
    asked = context(TEXTS, "green tea")
    recipe = Recipe(name="x", vector_pool=0, vector_weight=1.0)
    assert fuse(recipe, asked, search(recipe, asked)).scores[0] == 1.0


def test_a_walk_that_comes_by_what_points_away_is_measured_from_there(context: Make) -> None:
    asked = context(TEXTS, "tea")
    legs = Legs(
        LegCandidates(np.array([0]), np.array([0.9])),
        LegCandidates(np.array([1]), np.array([2.0]), ceiling=2.0),
    )
    walked = ExtraLeg("walk", LegCandidates(np.array([0, 2, 3]), np.array([0.5, 0.2, -0.1])), 1.0)
    fused = fuse(Recipe(name="x", anchored=True), asked, legs.with_leg(walked))
    by_slot = {
        slot: {part.label: part.value for part in fused.explain(at).parts}["walk"]
        for at, slot in enumerate(fused.slots.tolist())
    }
    # Half of the weight of all three, from -0.1 at nothing to 0.5 at all of it.
    assert by_slot == pytest.approx({0: 0.5, 1: 0.0, 2: 0.25, 3: 0.0})


def test_no_text_is_held_to_all_the_words_of_a_long_query(context: Make) -> None:
    legs = Legs(
        LegCandidates(np.array([0]), np.array([0.9])),
        LegCandidates(np.array([1]), np.array([2.0]), ceiling=8.0),
    )
    words = []
    for query in ("tea " * 3, " ".join(f"word{number}" for number in range(24))):
        fused = fuse(Recipe(name="x", anchored=True), context(TEXTS, query), legs)
        (at,) = np.flatnonzero(fused.slots == 1)
        words.append({part.label: part.value for part in fused.explain(int(at)).parts}["lexical"])
    # A quarter of a full match of one word; of 24, twelve are one. Words have half of all the weight.
    assert words == pytest.approx([0.5 / 4, 0.5 / 2])


def test_what_each_leg_said_of_each(context: Make) -> None:
    legs = Legs(
        LegCandidates(np.array([7, 3, 5]), np.array([0.9, 0.5, 0.1])),
        LegCandidates(np.array([3, 8]), np.array([4.0, 2.0]), ceiling=5.0),
    )
    fused = fuse(Recipe(name="x", fusion="rrf"), context(TEXTS, "tea"), legs)
    said = fused.evidence()
    by_slot = dict(
        zip(fused.slots.tolist(), zip(said.cosines.tolist(), said.matches.tolist(), strict=True), strict=True)
    )
    assert by_slot == {7: (0.9, 0.0), 3: (0.5, 4.0), 5: (0.1, 0.0), 8: (-np.inf, 2.0)}
    assert said.ceiling == 5.0
    backwards = said.take(np.arange(3, -1, -1))
    assert backwards.cosines.tolist() == said.cosines.tolist()[::-1]


def test_a_leg_that_was_not_asked_says_nothing(context: Make) -> None:
    recipe, asked = Recipe(name="x", vector_pool=0), context(TEXTS, "green tea")
    said = fuse(recipe, asked, search(recipe, asked)).evidence()
    assert said.cosines.tolist() == [-np.inf, -np.inf]
    assert (said.matches > 0).all()


@pytest.mark.parametrize("fusion", sorted(FUSIONS))
def test_the_parameters_of_a_recipe_reach_the_fusion_that_declares_them(context: Make, fusion: str) -> None:
    """Changing a parameter of the recipe changes the scores if, and only if, the fusion has it."""
    changes: dict[str, tuple[str, Any]] = {
        "k": ("rrf_k", 7.0),
        "rank_base": ("rrf_base", 0),
        "normaliser": ("normaliser", "rank_based"),
        "coverage": ("coverage", "leg"),
        "budget": ("blend_budget", 3.0),
        "threshold": ("blend_threshold", 0.05),
    }
    asked = context(TEXTS, "green tea with milk")
    plain = Recipe(name="x", fusion=fusion)
    legs = search(plain, asked)
    taken = set(signature(FUSIONS[fusion]).parameters)
    for argument, (field, value) in changes.items():
        before, after = (fuse(recipe, asked, legs) for recipe in (plain, replace(plain, **{field: value})))
        same = dict(zip(before.slots, before.scores, strict=True)) == dict(
            zip(after.slots, after.scores, strict=True)
        )
        assert same is (argument not in taken), argument


@pytest.mark.parametrize("fusion", sorted(FUSIONS))
def test_it_is_what_the_fusion_makes_of_the_legs(context: Make, fusion: str) -> None:
    recipe = Recipe(name="x", fusion=fusion, vector_weight=0.5)
    asked = context(TEXTS, "green tea with milk")
    legs = search(recipe, asked)
    lists: list[Leg[int]] = [Leg(found.slots, found.scores) for found in (legs.vector, legs.lexical)]
    share: dict[str, object] = {"weights": [0.5, 0.5]}
    if fusion == "alpha_blend":
        share = {"alpha": 0.5, "budget": recipe.blend_budget, "threshold": recipe.blend_threshold}
    expected = FUSIONS[fusion](lists, **share)
    found = fuse(recipe, asked, legs)
    assert found.slots.tolist() == expected.ids
    assert found.scores.tolist() == expected.scores.tolist()


TALK = [
    {
        "content": "Where did you buy that teapot?",
        "source": {"speaker": "Ben", "session": "s", "position": 0},
    },
    {"content": "In Lisbon, last year.", "source": {"speaker": "Anna", "session": "s", "position": 1}},
    {"content": "It rained all day.", "source": {"speaker": "Anna", "session": "t", "position": 0}},
]


def test_an_answer_is_found_by_the_words_of_the_question_before_it(context: Make) -> None:
    asked = context(TALK, "teapot")
    alone = search(Recipe(name="x", vector_pool=0), asked)
    assert alone.lexical.slots.tolist() == [0]
    read = search(Recipe(name="x", vector_pool=0, context_before=0.7), asked)
    assert read.lexical.slots.tolist() == [0, 1]
    why = read.lexical.detail
    assert why is not None
    assert why(read.lexical.slots).scores.tolist() == pytest.approx(read.lexical.scores.tolist())


def test_what_one_leg_found_is_scored_by_the_other_if_the_recipe_is_complete(context: Make) -> None:
    asked = context([*TEXTS, "a teapot of green glass"], "green tea")
    some = search(Recipe(name="x", vector_pool=1, lexical_pool=5), asked)
    every = search(Recipe(name="x", vector_pool=1, lexical_pool=5, complete=True), asked)
    assert some.vector.slots.size == 1
    assert set(every.vector.slots.tolist()) == set(some.lexical.slots.tolist())
    assert every.lexical.scores.tolist() == pytest.approx(some.lexical.scores.tolist())


def test_what_is_excluded_does_not_come_back_as_a_neighbour(context: Make) -> None:
    asked = context(TALK, "teapot -lisbon")
    read = search(Recipe(name="x", vector_pool=0, context_before=0.7), asked)
    assert read.lexical.slots.tolist() == [0]


def test_a_time_that_was_asked_for_has_a_leg_of_its_own(context: Make) -> None:
    then = datetime(2020, 5, 7, tzinfo=UTC)
    items = [{"content": "a walk", "valid_from": then}, {"content": "a swim"}]
    week = Period(then - timedelta(days=3), then + timedelta(days=3))
    asked = context(items, "what was it", period=week, about_time=True)
    (leg,) = search(Recipe(name="x"), asked).more
    assert (leg.name, leg.candidates.slots.tolist(), leg.candidates.scores.tolist()) == (
        "temporal",
        [0],
        [1.0],
    )
    assert search(Recipe(name="x"), context(items, "what was it", period=week)).more == ()


def test_a_place_has_a_leg_of_its_own(context: Make) -> None:
    items = [
        {"content": "a walk", "place": Place(59.9, 10.7)},
        {"content": "a swim", "place": Place(38.7, -9.1)},
    ]
    (leg,) = search(Recipe(name="x"), context(items, "what", here=Place(38.71, -9.1))).more
    assert (leg.name, leg.candidates.slots.tolist()) == ("geo", [1, 0])
    fused = fuse(
        Recipe(name="x"),
        context(items, "what", here=Place(38.71, -9.1)),
        Legs(LegCandidates(*NONE), LegCandidates(*NONE), (leg,)),
    )
    assert fused.slots.tolist() == [1, 0]
    assert [part.label for part in fused.explain(0).parts] == ["vector", "lexical", "geo"]


def test_cyrillic_words_are_found_by_their_roots(context: Make) -> None:
    asked = context(["Ты любишь чай", "Мы едем домой"], "люблю")
    assert search(Recipe(name="x", vector_pool=0), asked).lexical.slots.tolist() == [0]
    assert search(Recipe(name="x", vector_pool=0, roots_weight=0.0), asked).lexical.slots.size == 0


def test_words_stand_in_for_the_meaning_of_what_waits_for_its_vector() -> None:
    now = datetime(2026, 5, 7, tzinfo=UTC)
    with memorata.open(":memory:", embedder="lexical", clock=lambda: now) as memory:
        memory.remember_many([f"green tea number {number}" for number in range(30)])
        memory.embedder = None
        memory.remember("green tea with milk from Assam", id="waits")
        memory.embedder = LexicalEmbedder()
        best = memory.recall("green tea with milk from Assam").hits[0]
    assert best.memory.id == "waits"
    assert "no vector of this embedder yet; its words stand in" in str(best.explain())
    assert best.explain().value == best.score


def test_what_shares_nothing_with_the_question_is_not_taken_for_unread(context: Make) -> None:
    """Where vectors are sparse, a memory found by its tag is often at a right angle to the question."""
    items: list[Any] = [f"green tea number {number}" for number in range(60)]
    items.append({"content": "Quite another matter", "tags": ["lena"]})
    asked = context(items, "tea lena")
    legs = search(Recipe(name="x", vector_pool=50, complete=True), asked)
    assert 60 in legs.lexical.slots.tolist()
    assert legs.unread.size == 0
    assert legs.vector.scores[legs.vector.slots == 60].tolist() == [0.0]


def test_what_shares_nothing_is_told_from_what_waits_for_its_vector() -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember_many([f"green tea number {number}" for number in range(60)])
        memory.remember("Quite another matter", id="read", tags=["lena"])
        memory.embedder = None
        memory.remember("Something else again", id="waits", tags=["lena"])
        memory.embedder = LexicalEmbedder()
        found = {hit.memory.id: str(hit.explain()) for hit in memory.recall("tea lena", limit=100)}
    assert "its words stand in" in found["waits"]
    assert "its words stand in" not in found["read"]


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("most", [1.0000002384185791, -1.0000001192092896])
def test_a_cosine_that_rounding_takes_beyond_one_is_one(
    context: Make, monkeypatch: pytest.MonkeyPatch, most: float, complete: bool
) -> None:
    asked = context(["green tea"], "green tea")
    beyond = np.array([most])
    monkeypatch.setattr(Vectors, "search", lambda *_: (np.array([0]), beyond))
    monkeypatch.setattr(Vectors, "cosines", lambda *_: beyond)
    recipe = Recipe(name="x", fusion="alpha_blend", complete=complete)
    legs = search(recipe, asked)
    assert legs.vector.scores.tolist() == [math.copysign(1.0, most)]
    assert fuse(recipe, asked, legs).slots.tolist() == [0]


def test_a_word_in_another_language_is_found_where_it_is_none_of_its_own(context: Make) -> None:
    german = ["Die Katze schläft auf dem Sofa.", "Der Hund ist im Garten."]
    for recipe in (Recipe(name="x"), Recipe(name="x", complete=True, context_before=0.7)):
        found = search(recipe, context(german, "Katzen")).lexical
        assert found.slots.tolist() == [0]
        assert found.detail is not None
        assert found.detail(found.slots).names == ("katz in content",)
    both = [*german, "Two Katzen were there"]
    assert search(Recipe(name="x"), context(both, "Katzen")).lexical.slots.tolist() == [2]


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_pools_follow_the_limit_on_every_recipe(many: memorata.Engine, name: str) -> None:
    result = many.recall("green tea", limit=300, recipe=name, min_confidence=0)
    assert len(result.hits) == 300
    assert not any("limit" in note for note in result.degraded)


def test_a_limit_above_what_was_searched_is_reported(many: memorata.Engine) -> None:
    fixed = {"pool_per_hit": 0, "vector_pool": 50, "lexical_pool": 50}
    result = many.recall("green tea", limit=300, recipe={"base": "bm25", **fixed, "vector_pool": 0})
    assert len(result.hits) == 50
    assert result.degraded == (
        "limit 300 is above the 50 candidates that each leg searched, of 400 memories",
    )
    assert many.recall("green tea", limit=50, recipe={"base": "bm25", **fixed}).degraded == ()
