import pytest

from recollect.text.word_spans import word_spans


def test_words_stand_where_they_say() -> None:
    text = "So, naïve Zoe\u0308 has 2 cats."
    spans = word_spans(text)
    assert [word.text for word in spans] == ["So", "naïve", "Zoe\u0308", "has", "cats"]
    assert all(text[word.start : word.end] == word.text for word in spans)
    assert [word.gap for word in spans] == ["", ", ", " ", " ", " 2 "]


@pytest.mark.parametrize(
    "text",
    ["One. Two", "One! “Two", "one\nTwo", "one: Two", "one (Two)", "one - Two", 'he said "Two', "a… Two"],
)
def test_where_a_sentence_starts(text: str) -> None:
    assert word_spans(text)[-1].starts


@pytest.mark.parametrize("text", ["one Two", "one, Two", "J. Two", "Dr. Two", "St. Two", "one-Two", "O'Two"])
def test_where_none_starts(text: str) -> None:
    assert not word_spans(text)[-1].starts


def test_days_and_months_count_as_small() -> None:
    assert [word.capital for word in word_spans("On Monday Anna May left")] == [
        True,
        False,
        True,
        False,
        False,
    ]


def test_a_brand_may_have_its_capital_second() -> None:
    assert [word.capital for word in word_spans("iPhone eBay Anna apple aB")] == [
        True,
        True,
        True,
        False,
        False,
    ]
