"""The pieces of a bar are together as long as the score, whatever the recipe did to it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine import Engine
from memorata.engine.recipes import RECIPES
from memorata.model.hit import Explanation
from memorata_server.web.search import Piece, contributions, segments


def leaf(label: str, value: float) -> Explanation:
    return Explanation.leaf(label, value)


def pairs(why: Explanation) -> list[tuple[str, float]]:
    return [(piece.label, piece.value) for piece in contributions(why)]


def test_a_sum_is_its_parts() -> None:
    assert pairs(Explanation.of("sum", "relevance", [leaf("vector", 0.5), leaf("lexical", 0.25)])) == [
        ("vector", 0.5),
        ("lexical", 0.25),
    ]


def test_a_factor_below_one_holds_everything_back_alike() -> None:
    both = Explanation.of("sum", "relevance", [leaf("vector", 0.5), leaf("lexical", 0.25)])
    assert pairs(Explanation.of("product", "with quality", [both, leaf("quality factor", 0.5)])) == [
        ("vector", 0.25),
        ("lexical", 0.125),
    ]


def test_what_a_factor_above_one_adds_is_its_own() -> None:
    assert pairs(Explanation.of("product", "with time", [leaf("vector", 0.5), leaf("time factor", 1.5)])) == [
        ("vector", 0.5),
        ("time factor", 0.25),
    ]


def test_two_factors_above_one_come_one_after_the_other() -> None:
    parts = [leaf("relevance", 1.0), leaf("time factor", 1.5), leaf("place factor", 2.0)]
    assert pairs(Explanation.of("product", "boosted", parts)) == [
        ("relevance", 1.0),
        ("time factor", 0.5),
        ("place factor", 1.5),
    ]


def test_a_weight_takes_a_share_and_is_no_signal() -> None:
    assert pairs(Explanation.of("product", "relevance", [leaf("weight", 2.0), leaf("vector", 0.5)])) == [
        ("vector", 1.0)
    ]


def test_a_ratio_divides_what_is_above_it() -> None:
    both = Explanation.of("sum", "relevance", [leaf("vector", 1.0), leaf("lexical", 0.5)])
    assert pairs(Explanation.of("ratio", "relative to the best", [both, leaf("best", 2.0)])) == [
        ("vector", 0.5),
        ("lexical", 0.25),
    ]


def test_of_two_the_larger_speaks() -> None:
    assert pairs(Explanation.of("max", "better", [leaf("vector", 0.5), leaf("lexical", 0.75)])) == [
        ("lexical", 0.75)
    ]


def test_a_signal_that_comes_twice_is_one_piece() -> None:
    assert pairs(Explanation.of("sum", "relevance", [leaf("lexical", 0.5), leaf("lexical", 0.25)])) == [
        ("lexical", 0.75)
    ]


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_the_pieces_make_the_score_of_every_recipe(engine: Engine, recipe: str) -> None:
    for hit in engine.recall("what tea does Anna drink in March?", recipe=recipe):
        total = math.fsum(piece.value for piece in contributions(hit.explanation))
        assert total == pytest.approx(hit.score, abs=1e-12)


values = st.floats(0, 2)
labels = st.sampled_from(["vector", "lexical", "time factor", "weight", "relevance"])
leaves = st.builds(Explanation.leaf, labels, values)


@given(
    st.recursive(
        leaves,
        lambda inner: (
            st.builds(
                Explanation.of,
                st.sampled_from(["sum", "max"]),
                st.just("node"),
                st.lists(inner, min_size=1, max_size=3),
            )
            | st.builds(lambda part, factor: Explanation.of("product", "node", [part, factor]), inner, leaves)
        ),
        max_leaves=8,
    )
)
def test_the_pieces_make_the_score_of_any_tree(why: Explanation) -> None:
    assert math.fsum(piece.value for piece in contributions(why)) == pytest.approx(why.value, abs=1e-9)


def test_segments_stand_one_after_the_other() -> None:
    bar = segments([Piece("vector", 0.5), Piece("none", 0.0), Piece("lexical", 0.25)], most=0.75, width=30)
    assert [(each.label, each.start, each.width) for each in bar] == [
        ("vector", 0.0, 20.0),
        ("lexical", 20.0, 10.0),
    ]


def test_nothing_is_drawn_of_nothing() -> None:
    assert segments([Piece("vector", 0.5)], most=0.0) == ()


def test_a_factor_above_one_is_a_piece_of_its_own() -> None:
    vector, lexical = Explanation.leaf("vector", 0.5), Explanation.leaf("lexical", 0.25)
    legs = Explanation.of("sum", "relevance", [vector, lexical])
    timely = Explanation.of("product", "with time", [legs, Explanation.leaf("time factor", 1.2)])
    pieces = [(piece.label, round(piece.value, 4)) for piece in contributions(timely)]
    assert pieces == [("vector", 0.5), ("lexical", 0.25), ("time factor", 0.15)]
    drawn = segments([Piece("vector", 0.5), Piece("lexical", 0.25)], most=1.0)
    assert [(each.start, each.width) for each in drawn] == [(0.0, 50.0), (50.0, 25.0)]
