import pytest

from memorata.text.name_evidence import Evidence
from memorata.text.word_spans import WordSpans


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
