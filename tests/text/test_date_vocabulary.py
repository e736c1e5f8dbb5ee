"""Tables of time words, and the expressions that rules written with them become."""

from __future__ import annotations

import pytest

from memorata.text.date_vocabulary import DIGITS, inflected, single_words, spelled, table
from memorata.text.dates_de import WORDS as GERMAN
from memorata.text.dates_en import PREPOSITIONS
from memorata.text.dates_en import WORDS as ENGLISH
from memorata.text.dates_ru import WORDS as RUSSIAN


def test_tables_number_their_words() -> None:
    assert table("a,b", "c", first=1) == {"a": 1, "b": 1, "c": 2}
    assert spelled("new year, sylvester", 9) == {"new year": 9, "sylvester": 9}
    assert inflected("dies letzt", "e|en") == "diese,diesen,letzte,letzten"


@pytest.mark.parametrize("words", [ENGLISH, RUSSIAN, GERMAN])
def test_every_language_names_the_whole_calendar(words: object) -> None:
    for name, values in (
        ("month", range(1, 13)),
        ("weekday", range(7)),
        ("season", range(4)),
        ("which", (-1, 0, 1)),
    ):
        assert set(getattr(words, name).values()) == set(values)


def test_a_value_is_figures_or_a_word_however_spaced() -> None:
    assert ENGLISH.value("number", "12") == 12
    assert ENGLISH.value("number", "a  couple\nof") == 2
    assert ENGLISH.value("holiday", "new year’s eve") == 1231
    assert ENGLISH.value("of_year", "last") == -1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in 2 weeks", True),
        ("in  two\tweeks", True),
        ("in 2weeks", False),
        ("in 1.2 weeks", False),
        ("within 2 weeks", False),
        ("in 2 weeks1", False),
    ],
)
def test_expressions_stand_between_word_boundaries(text: str, found: bool) -> None:
    assert (ENGLISH.compiled("in {number} {unit}").search(text) is not None) is found


def test_a_year_is_not_a_count() -> None:
    year = ENGLISH.compiled("{year}{uncounted}")
    assert year.search("in 2022, people") is not None
    assert year.search("2022 people") is None
    assert year.search("2022%") is None
    assert year.search("2022.5") is None


def test_what_a_rule_needs_is_its_rarest_table_or_digits() -> None:
    assert "may" in ENGLISH.needed("{which} {month}")
    assert "weeks" in ENGLISH.needed("{number} {unit} ago")
    assert ENGLISH.needed("{year}") == {DIGITS}
    assert single_words(["new year's eve", "4."]) == {"year", DIGITS}


@pytest.mark.parametrize(
    ("before", "preposition", "article", "part"),
    [
        ("we met in ", "in", None, None),
        ("since the ", "since", "the", None),
        ("in the early ", "in", "the", "early"),
        ("end of the ", None, None, "end of"),
        ("bathe ", None, None, None),
        ("", None, None, None),
    ],
)
def test_what_stands_before_a_phrase(
    before: str, preposition: str | None, article: str | None, part: str | None
) -> None:
    match = PREPOSITIONS.before.search(before)
    assert match is not None
    assert (match["preposition"], match["article"], match["part"]) == (preposition, article, part)
