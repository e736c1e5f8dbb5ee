"""Prepositions: they open, cut, move and join phrases, and tell June the month from June the cousin."""

from __future__ import annotations

from datetime import date

import pytest

from memorata.text import calendar_periods as calendar
from memorata.text.calendar_periods import FIRST_DAY, Days
from memorata.text.date_prepositions import Atom, Found, joined
from memorata.text.date_readers import Reading
from memorata.text.dates_en import ENGLISH

TODAY = date(2023, 11, 15)
JUNE = Reading("month", calendar.month(2023, 6), False, lambda year: calendar.month(year, 6))
AUGUST = Reading("month", calendar.month(2024, 8))
FRIDAY = Reading("weekday", calendar.one_day(date(2023, 11, 10), 1), False)
TENTH = Reading("day", calendar.one_day(date(2023, 5, 10)))


def read(text: str, **readings: Reading) -> list[Found]:
    """Return what is found in a text with the readings of some of its words."""
    atoms = [Atom(text.index(word), text.index(word) + len(word), one) for word, one in readings.items()]
    return joined(sorted(atoms, key=lambda atom: atom.start), text, ENGLISH, TODAY)


@pytest.mark.parametrize(
    ("text", "phrase", "days"),
    [
        ("in june", "june", calendar.month(2023, 6)),
        ("since june", "since june", Days(date(2023, 6, 1), date(2023, 11, 16))),
        ("before june", "before june", Days(FIRST_DAY, date(2023, 6, 1))),
        ("after june", "after june", Days(date(2023, 7, 1), date(2023, 11, 16))),
        ("until june", "until june", Days(FIRST_DAY, date(2023, 7, 1))),
        ("early june", "early june", Days(date(2023, 6, 1), date(2023, 6, 11))),
        ("two days before june", "two days before june", calendar.one_day(date(2023, 5, 30), 2)),
        ("a week after june", "a week after june", calendar.one_day(date(2023, 7, 7), 5)),
    ],
)
def test_a_preposition_makes_a_phrase(text: str, phrase: str, days: Days) -> None:
    [found] = read(text, june=JUNE)
    assert (text[found.start : found.end], found.days) == (phrase, days)


@pytest.mark.parametrize("text", ["june", "my cousin june", "with june", "on june", "shortly before june"])
def test_without_one_it_is_not_believed(text: str) -> None:
    assert read(text, june=JUNE) == []


def test_a_range_takes_its_year_from_the_end() -> None:
    text = "between june and august"
    assert read(text, june=JUNE, august=AUGUST) == [Found(0, 23, Days(date(2024, 6, 1), date(2024, 9, 1)))]
    [found] = read("june to august", june=JUNE, august=AUGUST)
    assert found.days == Days(date(2024, 6, 1), date(2024, 9, 1))


def test_what_ends_before_it_starts_is_no_range() -> None:
    fixed = AUGUST._replace(days=calendar.month(2025, 1))
    found = read("from august to june", august=fixed, june=JUNE)
    assert [one.days for one in found] == [calendar.month(2025, 1)]


def test_a_weekday_stands_beside_a_day() -> None:
    for word, day in (("before", date(2023, 5, 5)), ("after", date(2023, 5, 12))):
        [found] = read(f"friday {word} tenth", friday=FRIDAY, tenth=TENTH)
        assert found == Found(0, 12 + len(word) + 1, calendar.one_day(day))


def test_a_range_of_weekdays_begins_in_the_week_before_if_it_must() -> None:
    thursday = Reading("weekday", calendar.one_day(date(2023, 11, 9), 1), False)
    [found] = read("from friday to thursday", friday=FRIDAY, thursday=thursday)
    assert found.days == Days(date(2023, 11, 3), date(2023, 11, 10), 1)


def test_a_range_cannot_begin_on_a_day_that_its_year_has_not() -> None:
    leap = Reading(
        "day", calendar.one_day(date(2020, 2, 29)), True, lambda year: calendar.one_day(date(year, 2, 29))
    )
    assert [one.days for one in read("from leap to tenth", leap=leap, tenth=TENTH)] == [leap.days, TENTH.days]


def test_what_the_calendar_cannot_hold_is_left_out() -> None:
    early = Reading("day", calendar.one_day(date(1, 1, 3)))
    assert read("two weeks before early", early=early) == []


def test_a_pair_that_the_calendar_cannot_hold_is_none() -> None:
    monday = Reading("weekday", calendar.one_day(date(1, 1, 1)))
    friday = Reading("weekday", calendar.one_day(date(1, 1, 5)))
    first = Reading("day", calendar.one_day(date(1, 1, 1)))
    assert [one.days for one in read("from friday to monday", friday=friday, monday=monday)] == [
        friday.days,
        monday.days,
    ]
    assert read("the monday before first", monday=monday, first=first)[0].days == monday.days


def test_far_words_join_nothing() -> None:
    assert len(read("from june, and much later to august", june=JUNE, august=AUGUST)) == 2


def test_a_list_shares_its_preposition() -> None:
    weak = AUGUST._replace(strong=False)
    assert len(read("in june and august", june=JUNE, august=weak)) == 2
    assert len(read("in june when august", june=JUNE, august=weak)) == 1
