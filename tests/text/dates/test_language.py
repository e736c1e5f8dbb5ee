"""Tables of time words, the expressions that rules written with them become, and dates in figures."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.dates import time_expressions
from memorata.text.dates.language import (
    DIGITS,
    NUMERIC,
    NUMERIC_DAY_FIRST,
    DateLanguage,
    named,
    numbered,
    read_language,
    single_words,
)

ENGLISH, GERMAN, RUSSIAN = map(read_language, ("english", "german", "russian"))


def test_tables_number_their_words() -> None:
    assert numbered("a, b; c", first=1) == {"a": 1, "b": 1, "c": 2}
    assert numbered("9: new  year,\n sylvester; 12: x") == {"new year": 9, "sylvester": 9, "x": 12}
    assert named("0: dies(e|en), letzt(|e)") == {"diese": "0", "diesen": "0", "letzt": "0", "letzte": "0"}


@pytest.mark.parametrize("words", [ENGLISH.vocabulary, RUSSIAN.vocabulary, GERMAN.vocabulary])
def test_every_language_names_the_whole_calendar(words: object) -> None:
    for name, values in (
        ("month", range(1, 13)),
        ("weekday", range(7)),
        ("season", range(4)),
        ("which", (-1, 0, 1)),
    ):
        assert set(getattr(words, name).values()) == set(values)


def test_a_value_is_figures_or_a_word_however_spaced() -> None:
    assert ENGLISH.vocabulary.value("number", "12") == 12
    assert ENGLISH.vocabulary.value("number", "a  couple\nof") == 2
    assert ENGLISH.vocabulary.value("holiday", "new year’s eve") == 1231
    assert ENGLISH.vocabulary.value("of_year", "last") == -1


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
    assert (ENGLISH.vocabulary.compiled("in {number} {unit}").search(text) is not None) is found


def test_a_year_is_not_a_count() -> None:
    year = ENGLISH.vocabulary.compiled("{year}{uncounted}")
    assert year.search("in 2022, people") is not None
    assert year.search("2022 people") is None
    assert year.search("2022%") is None
    assert year.search("2022.5") is None


def test_what_a_rule_needs_is_its_rarest_table_or_digits() -> None:
    assert "may" in ENGLISH.vocabulary.triggers("{which} {month}")
    assert "weeks" in ENGLISH.vocabulary.triggers("{number} {unit} ago")
    assert ENGLISH.vocabulary.triggers("{year}") == {DIGITS}
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
    match = ENGLISH.prepositions.before.search(before)
    assert match is not None
    assert (match["preposition"], match["article"], match["part"]) == (preposition, article, part)


ALL = [ENGLISH, RUSSIAN, GERMAN, NUMERIC, NUMERIC_DAY_FIRST]


@pytest.mark.parametrize("language", ALL)
def test_every_rule_compiles_and_needs_something(language: DateLanguage) -> None:
    assert len(language.compiled_rules) == len(language.rules)
    for rule in language.compiled_rules:
        assert rule.triggers
        assert rule.expression.search("") is None


def test_expressions_wait_until_they_are_needed() -> None:
    fresh = DateLanguage(ENGLISH.vocabulary, ENGLISH.prepositions, ENGLISH.rules)
    assert "yesterday" in fresh.triggers
    assert not any("expression" in vars(rule) for rule in fresh.compiled_rules)


def test_triggers_are_words_and_prepositions_count_beside_digits() -> None:
    assert {"yesterday", "may", "weeks"} <= ENGLISH.triggers
    assert DIGITS not in ENGLISH.triggers
    assert "since" not in ENGLISH.triggers
    assert "since" in ENGLISH.beside_digits
    assert NUMERIC.triggers == frozenset()


@pytest.mark.parametrize(
    ("text", "count", "unit"),
    [("two days ", "two", "days"), ("the week ", None, "week"), ("shortly ", None, None)],
)
def test_a_measure_stands_before_before(text: str, count: str | None, unit: str | None) -> None:
    match = ENGLISH.measure.search(text)
    assert match is not None
    assert (match["number"], match["unit"]) == (count, unit)


def test_other_words_measure_nothing() -> None:
    assert ENGLISH.measure.search("we met ") is None


NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)
DAYS = st.dates(date(1500, 1, 1), date(2098, 12, 31))


@given(
    day=DAYS,
    form=st.sampled_from(["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"]),
)
def test_a_day_comes_back_from_its_figures(day: date, form: str) -> None:
    text = datetime(day.year, day.month, day.day).strftime(form)
    [found] = time_expressions(f"on {text} we met", NOW)
    assert found.period.start.date() == day
    assert found.phrase == text


@given(day=DAYS)
def test_slashes_are_read_where_only_one_order_is_possible(day: date) -> None:
    clear = day.day > 12 or day.day == day.month
    for text in (f"{day.day}/{day.month}/{day.year}", f"{day.month}/{day.day}/{day.year}"):
        found = time_expressions(text, NOW)
        assert [each.period.start.date() for each in found] == ([day] if clear else [])
    [first] = time_expressions(f"{day.day}/{day.month}/{day.year}", NOW, "german")
    assert first.period.start.date() == day


@pytest.mark.parametrize(("text", "month"), [("Q3 2024", 7), ("q1/2024", 1), ("2024Q4", 10), ("2024-Q2", 4)])
def test_quarters(text: str, month: int) -> None:
    [found] = time_expressions(text, NOW)
    assert found.period.start == datetime(2024, month, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2023-13-01", "2023-02-30", "32.01.2023", "1.2.3.2023", "555-2023-05-11", "2023-05-071", "v2023-05",
        "example.org/2023-05-07/", "12/31/23", "1,2023-05", "2023-05-07-01", "0123-05-07", "Q5 2024",
    ],
)  # fmt: skip
def test_other_figures_are_left_alone(text: str) -> None:
    assert time_expressions(text, NOW) == ()
