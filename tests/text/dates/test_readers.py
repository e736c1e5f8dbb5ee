"""Readers: what the groups of a match mean together, and when they mean nothing."""

from __future__ import annotations

from datetime import date

import pytest

from memorata.text.dates import calendar
from memorata.text.dates import readers as read
from memorata.text.dates.language import read_language
from memorata.text.dates.readers import Phrase, Reader, Reading

ENGLISH, GERMAN, RUSSIAN = (read_language(name).vocabulary for name in ("english", "german", "russian"))

TODAY = date(2023, 11, 15)


def reading(reader: Reader, pattern: str, text: str, words: object = ENGLISH) -> Reading | None:
    """Return what a reader makes of the match of a pattern."""
    assert words in (ENGLISH, GERMAN, RUSSIAN)
    vocabulary = next(each for each in (ENGLISH, GERMAN, RUSSIAN) if each is words)
    match = vocabulary.compiled(pattern).search(text.lower())
    assert match is not None
    return reader(Phrase(match, text, vocabulary, TODAY, False))


@pytest.mark.parametrize(
    ("reader", "pattern", "text", "strong"),
    [
        (read.day, "{month} {day}", "May 7", True),
        (read.day, "{month} {day}", "may 7", False),
        (read.day, "{month} {day}, {year}", "may 7, 2023", True),
        (read.month, "{month} {year}", "may 2023", True),
        (read.month, "{month}", "May", False),
        (read.weekday, "{which} {weekday}", "last Friday", True),
        (read.weekday, "{weekday}", "Friday", False),
        (read.season, "{season} {year}", "summer 2021", True),
        (read.season, "{season}", "summer", False),
        (read.holiday, "{holiday} {year}", "Christmas 2021", True),
        (read.holiday, "{holiday}", "Christmas", False),
        (read.year, "year {year}", "year 2021", True),
        (read.bare_year, "{year}", "2021", False),
        (read.decade, "(?P<decade>1990)s", "1990s", True),
        (read.decade, "(?P<decade>90)s", "90s", False),
    ],
)
def test_what_could_be_something_else_is_weak(reader: Reader, pattern: str, text: str, strong: bool) -> None:
    found = reading(reader, pattern, text)
    assert found is not None
    assert found.strong is strong


def test_case_tells_words_apart() -> None:
    assert reading(read.month, "{which} {month}", "this May") is not None
    assert reading(read.month, "{which} {month}", "this may") is None
    assert reading(read.month, "{month}", "в марте", RUSSIAN) is not None
    assert reading(read.month, "{month}", "Марта", RUSSIAN) is None
    assert reading(read.fixed, "{fixed}", "bis morgen", GERMAN) is not None
    assert reading(read.fixed, "{fixed}", "der Morgen", GERMAN) is None
    assert reading(read.fixed, "{fixed}", "Morgen regnet es", GERMAN) is not None
    assert reading(read.fixed, "{fixed}", "Morgen!", GERMAN) is None


def test_a_phrase_without_a_year_can_be_moved_to_another() -> None:
    found = reading(read.day_range, "{day} to {last} {month}", "3 to 5 March")
    assert found is not None
    assert found.every_year is not None
    assert found.every_year(2020) == calendar.Days(date(2020, 3, 3), date(2020, 3, 6))


@pytest.mark.parametrize(
    ("reader", "pattern", "text"),
    [
        (read.day, "{day} {month} {year}", "30 February 2023"),
        (read.day_range, "{day} to {last} {month}", "5 to 3 March"),
        (read.year_range, "{year}-{last_year}", "2022-2020"),
        (read.ago, "{number} {unit} ago", "9999 years ago"),
    ],
)
def test_impossible_dates_raise(reader: Reader, pattern: str, text: str) -> None:
    with pytest.raises((ValueError, OverflowError)):
        reading(reader, pattern, text)


def test_what_no_calendar_has_is_no_reading() -> None:
    assert reading(read.which_unit, "{which} {unit}", "last day") is None
    assert reading(read.quarter, "{ordinal} quarter {year}", "last quarter 2023") is None
    assert reading(read.ahead, "in {number} {unit}", "not seen in two weeks") is None


def test_a_round_hundred_before_2000_is_a_century() -> None:
    for text, years in (("1800", 100), ("1900", 100), ("1990", 10), ("2000", 10)):
        found = reading(read.decade, rf"(?P<decade>{text})s", f"{text}s")
        assert found is not None
        assert found.days == calendar.years(int(text), years)


def test_slashes() -> None:
    pattern = r"(?P<first>\d+)/(?P<second>\d+)/{year}"
    for text, day in (("13/5/2023", 13), ("5/13/2023", 13), ("5/5/2023", 5)):
        found = reading(read.slashed_day, pattern, text)
        assert found is not None
        assert found.days == calendar.one_day(date(2023, 5, day))
    assert reading(read.slashed_day, pattern, "7/5/2023") is None
    first = reading(read.slashed_day_first, pattern, "7/5/2023")
    assert first is not None
    assert first.days == calendar.one_day(date(2023, 5, 7))
