import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.capitalised_names import Evidence
from memorata.text.tokens import WORD, WordSpans


def is_name(text: str, language: str = "english") -> bool:
    """Return whether the first capitalised word is a name by its evidence."""
    spans = WordSpans(text)
    first = next(at for at, word in enumerate(spans.words) if word.capital)
    return Evidence(spans, language).is_name(first)


@pytest.mark.parametrize(
    "text",
    [
        "we saw Anna",
        "Anna likes tea",
        "Anna called",
        "Anna's tea",
        "Anna and Ben",
        "Anna, Ben",
        "Toby ate it. I told Toby",
        "NASA",
        "GitHub down",
    ],
)
def test_names(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "Cats chase mice",
        "Dinner was late",
        "Toby",
        "Toby ate it",
        "Rust is fine, but rust spreads",
        "TV is off",
        "X marks it",
        "I think",
        "Running helps",
    ],
)
def test_no_names(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize("text", ["wir fahren nach Bremen", "wir kamen mit Katrin", "Peter wohnt hier"])
def test_german_names(text: str) -> None:
    assert is_name(text, "german")


@pytest.mark.parametrize(
    "text",
    ["ich mag den Tisch", "ich mag Tische", "sie kam mit Freunden", "er ist in Eile", "Wohnungen sind rar"],
)
def test_german_nouns(text: str) -> None:
    assert not is_name(text, "german")


def test_a_german_word_that_comes_back_without_an_article() -> None:
    assert is_name("gestern sah Sven fern, und heute schläft Sven", "german")
    assert not is_name("gestern kam Post, und die Post war nass", "german")


def test_a_language_without_a_list_believes_only_its_own_text() -> None:
    assert not is_name("Sven sover nu", "swedish")
    assert is_name("Sven sover. Jag ser Sven", "swedish")


def test_words_stand_where_they_say() -> None:
    text = "So, naïve Zoe\u0308 has 2 cats."
    spans = WordSpans(text)
    assert [word.text for word in spans.words] == ["So", "naïve", "Zoe\u0308", "has", "cats"]
    for at, word in enumerate(spans.words):
        start, end = spans.span(at, at)
        assert text[start:end] == word.text
    start, end = spans.span(1, 2)
    assert text[start:end] == "naïve Zoe\u0308"
    assert spans.gaps == ["", ", ", " ", " ", " 2 "]


@given(st.text() | st.text(st.characters(max_codepoint=127)) | st.text("Ab_1 ."))
def test_words_and_gaps_are_those_of_the_expression_whatever_the_alphabet(text: str) -> None:
    spans = WordSpans(text)
    assert [word.text for word in spans.words] == WORD.findall(text)
    assert spans.gaps == re.split(WORD, text)[:-1]


def test_a_text_without_words() -> None:
    assert (WordSpans("1, 2!").words, WordSpans("").gaps) == ([], [])


def starts_with_its_last_word(text: str) -> bool:
    spans = WordSpans(text)
    return spans.starts(len(spans.words) - 1)


@pytest.mark.parametrize(
    "text",
    ["One. Two", "One! “Two", "one\nTwo", "one: Two", "one (Two)", "one - Two", 'he said "Two', "a… Two"],
)
def test_where_a_sentence_starts(text: str) -> None:
    assert starts_with_its_last_word(text)


@pytest.mark.parametrize("text", ["one Two", "one, Two", "J. Two", "Dr. Two", "St. Two", "one-Two", "O'Two"])
def test_where_none_starts(text: str) -> None:
    assert not starts_with_its_last_word(text)


def test_days_and_months_count_as_small() -> None:
    assert [word.capital for word in WordSpans("On Monday Anna May left").words] == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_a_brand_may_have_its_capital_second() -> None:
    assert [word.capital for word in WordSpans("iPhone eBay Anna apple aB").words] == [
        True,
        True,
        True,
        False,
        False,
    ]
