"""The lexical leg: scores and statistics by hand."""

import math

import pytest

from memorata.store.store import Store
from memorata.testing.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    direction,
    entry,
    found_ids,
    query,
    recalled,
)


def test_words_are_scored_by_bm25_over_what_may_be_seen(store: Store) -> None:
    """Check scores by hand, and that hidden memories count for nothing."""
    store.add(
        [
            entry("a", "tea tea milk cup"),
            entry("b", "tea cup cup cup"),
            entry("c", "cup cup cup cup"),
            entry("hidden", "tea " * 50),
        ]
    )
    store.forget(HERE, ["hidden"], NOW)
    with store.view(HERE, NOW) as view:
        found = view.search(query("tea"), 10)
        assert found_ids(view, found) == ["a", "b"]
        idf = math.log((3 - 2 + 0.5) / (2 + 0.5) + 1)
        assert found.scores == pytest.approx([idf * 2 * 2.2 / (2 + 1.2), idf * 2.2 / (1 + 1.2)])
        assert view.document_frequencies(["tea", "cup", "none"]) == (3, {"tea": 2, "cup": 3, "none": 0})


def test_fields_have_lists_and_weights_of_their_own(store: Store) -> None:
    """Check that a field of weight 0 is not looked at, and that weights multiply."""
    store.add([entry("a", "tea milk"), entry("b", "cup milk", tags=("tea",))])
    with store.view(HERE, NOW) as view:
        assert found_ids(view, view.search(query("tea"), 10)) == ["a"]
        assert found_ids(view, view.search(query("tea", tags=1.0, content=0.0), 10)) == ["b"]
        single, double = (view.search(query("tea", tags=weight), 10).scores[0] for weight in (1.0, 2.0))
        assert double == pytest.approx(2 * single)
        assert view.document_frequencies(["tea"], field="tags") == (2, {"tea": 1})


def test_equal_scores_keep_the_order_of_writing(store: Store) -> None:
    """Check ties, also where the limit cuts through them and between two terms."""
    names = [f"m{number}" for number in range(12)]
    store.add([entry(name, ("milk", "tea")[number % 2]) for number, name in enumerate(names)])
    with store.view(HERE, NOW) as view:
        for terms in (("tea", "milk"), ("milk", "tea")):
            for limit in (1, 5, 12):
                assert found_ids(view, view.search(query(*terms), limit)) == names[:limit]


def test_excluded_words_exclude(store: Store) -> None:
    """Check that a memory with an excluded word in its content is not found, however good it is."""
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("a", "tea coffee"), entry("b", "tea cup"), entry("c", "coffee", tags=("tea",))])
    store.add([entry(f"d{n}", "coffee", direction(1)) for n in range(20)])
    store.add([entry("e", "tea", direction(1, 1)), entry("f", "milk", tags=("coffee",))])
    with store.view(HERE, NOW) as view:
        found = view.search(query("tea", "coffee", excluded=["coffee"]), 10)
        assert found_ids(view, found) == ["e", "b"]
        # The exclusion counts before anything is selected: nearer ones cannot take all the room.
        assert found_ids(view, view.search(direction(1)[0], 3, ["coffee"])) == ["e"]


def test_details_add_up_and_outlive_the_view(store: Store) -> None:
    """Check that an explanation says what was true when it was asked for, whatever is written later."""
    store.add([entry("a", "tea milk"), entry("b", "tea tea cup cup cup")])
    with store.view(HERE, NOW) as view:
        found = view.search(query("tea", "milk"), 10)
        ids = found_ids(view, found)
        assert found.detail is not None
        before = found.detail(found.slots)
    assert before.scores.tolist() == found.scores.tolist()
    assert before.names == ("tea in content", "milk in content")
    store.purge(HERE, ["a"])
    store.add([entry("c", "tea " * 9)])
    assert recalled(store)[0] == ["c", "b"]
    after = found.detail(found.slots)
    assert ids == ["a", "b"]
    assert after.parts.tolist() == before.parts.tolist()
