import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import (
    boosted_query,
    entity_base,
    inverse_document_frequency,
    phrase_bonus,
    repeats,
)

WORDS = st.lists(st.sampled_from(["anna", "ben", "tea", "cup", "rain", "sea"]), max_size=6)


class Counts:
    """The statistics of a list of texts, counted one by one."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.texts = texts
        self.document_count = len(texts)
        self.average_length = sum(map(len, texts)) / len(texts) if texts else 0.0

    def document_frequency(self, term: str) -> int:
        return sum(term in text for text in self.texts)


def slow_repeats(df: int, total: int, base: int) -> int:
    """The formula read off the page; halves round up."""
    if df == 0:
        return 1
    idf = math.log((total - df + 0.5) / (df + 0.5) + 1)
    wanted = base * min(1.0, idf / math.log(total + 1))
    below = math.floor(wanted)
    return max(1, below + (1 if wanted - below >= 0.5 else 0))


@pytest.mark.parametrize(("df", "ratio", "times"), [(28, 0.0245, 1), (2, 0.7332, 12), (1, 0.8819, 15)])
def test_the_worked_values_of_thirty_memories_and_a_base_of_seventeen(
    df: int, ratio: float, times: int
) -> None:
    assert inverse_document_frequency(df, 30) / math.log(31) == pytest.approx(ratio, abs=5e-5)
    assert repeats(df, document_count=30, base=17) == times


@pytest.mark.parametrize(
    ("weight", "base"), [(0, 0), (0.1, 1), (0.2, 1), (0.21, 2), (1, 5), (2.2, 11), (3.4, 17), (3.41, 18)]
)
def test_the_base_is_five_times_the_weight_rounded_up(weight: float, base: int) -> None:
    assert entity_base(weight) == base


def test_a_weight_reached_in_steps_is_the_one_that_was_meant() -> None:
    assert 0.2 * 3 * 5 > 3
    assert entity_base(0.2 * 3) == entity_base(0.6) == 3
    assert [entity_base(0.2 * steps) for steps in range(50)] == list(range(50))


@given(st.integers(1, 5_000), st.integers(0, 60), st.data())
def test_repeats_are_the_formula_read_off_the_page(total: int, base: int, data: st.DataObject) -> None:
    df = data.draw(st.integers(0, total))
    found = repeats(df, total, base)
    assert found == slow_repeats(df, total, base)
    assert 1 <= found <= max(base, 1)


def test_a_term_no_text_has_is_not_boosted() -> None:
    assert repeats(0, 30, 17) == repeats(0, 0, 17) == 1


def test_a_rare_name_is_repeated_and_one_that_is_everywhere_is_not() -> None:
    texts = Counts([["anna", "tea"]] + [["ben", "tea"]] * 29)
    found = boosted_query(["anna", "ben", "tea"], {"anna", "ben"}, texts, entity_weight=3.4)
    assert found == {"anna": 15, "ben": 1, "tea": 1}


def test_layered_queries_give_other_words_a_base_of_their_own() -> None:
    texts = Counts([["anna", "tea"], ["rain", "sea"]] + [["ben", "tea"]] * 28)
    found = boosted_query(
        ["sea", "anna", "snow", "tea", "carl"],
        ["anna", "carl"],
        texts,
        entity_weight=3.4,
        corpus_base=3,
        unknown_base=2,
    )
    # sea is as rare as anna: round(3 · 0.8819) = 3; tea is everywhere; carl is a name that no text has.
    assert found == {"sea": 3, "anna": 15, "snow": 2, "tea": 1, "carl": 1}


def test_each_term_is_treated_once_in_order_of_first_appearance() -> None:
    found = boosted_query(["tea", "anna", "tea"], ["anna"], Counts([["anna"], ["tea"]]))
    assert list(found) == ["tea", "anna"]


@given(WORDS, WORDS, st.lists(WORDS, max_size=6), st.integers(0, 30), st.integers(1, 5), st.integers(1, 5))
def test_every_term_counts_by_its_own_base(
    tokens: list[str], names: list[str], texts: list[list[str]], fifths: int, word: int, unknown: int
) -> None:
    expected = {}
    for term in tokens:
        df = sum(term in text for text in texts)
        if term in names:
            expected[term] = slow_repeats(df, len(texts), fifths)
        elif df:
            expected[term] = slow_repeats(df, len(texts), word)
        else:
            expected[term] = unknown
    found = boosted_query(
        tokens,
        names,
        Counts(texts),
        entity_weight=fifths / 5,
        corpus_base=word,
        unknown_base=unknown,
    )
    assert found == expected


def test_a_phrase_is_worth_the_largest_idf_of_the_collection() -> None:
    # N = 30: ln(29.5 / 1.5 + 1)
    largest = math.log(29.5 / 1.5 + 1)
    assert phrase_bonus(1, 30) == pytest.approx(largest, abs=1e-15)
    assert phrase_bonus(3, 30, strength=0.5) == pytest.approx(1.5 * largest, abs=1e-15)
    assert largest >= max(inverse_document_frequency(df, 30) for df in range(31))


def test_no_phrase_no_worth_or_no_texts_add_nothing() -> None:
    assert phrase_bonus(0, 30) == phrase_bonus(2, 30, strength=0) == phrase_bonus(2, 0) == 0.0


def test_the_defaults_and_their_declarations() -> None:
    def declared(function: object) -> dict[str, tuple[object, ...]]:
        assert callable(function)
        return {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(function)}

    assert declared(entity_base) == {"entity_weight": (float, 1.0, 0, 10)}
    assert declared(boosted_query) == {
        "entity_weight": (float, 1.0, 0, 10),
        "corpus_base": (int, 1, 1, 10),
        "unknown_base": (int, 1, 1, 10),
    }
    assert declared(phrase_bonus) == {"strength": (float, 1.0, 0, 5)}
    assert entity_base() == 5


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="entity_weight must be a number of at least 0, got -1"):
        entity_base(-1)
    with pytest.raises(InvalidArgument, match="base must be a whole number of at least 0"):
        repeats(1, 2, -1)
    with pytest.raises(InvalidArgument, match="corpus_base must be a whole number of at least 1"):
        boosted_query(["tea"], [], Counts([]), corpus_base=0)
    with pytest.raises(InvalidArgument, match="strength must be a number of at least 0"):
        phrase_bonus(1, 30, strength=-0.5)
