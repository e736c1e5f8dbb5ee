"""Finding phrases: the longest of what overlaps, and prepositions that open, cut, move and join them."""

from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.dates import calendar
from memorata.text.dates.calendar import FIRST_DAY, Days, one_day
from memorata.text.dates.language import DIGITS, NUMERIC, read_language
from memorata.text.dates.phrases import (
    DateSpan,
    RuleMatch,
    apply_prepositions,
    date_words,
    find,
    has_no_trigger,
    longest,
    lowered,
    windows,
)
from memorata.text.dates.readers import Reading

ENGLISH = read_language("english")

TODAY = date(2023, 11, 15)
DAYS = one_day(TODAY)


@given(st.text())
def test_lower_case_moves_nothing(text: str) -> None:
    assert len(lowered(text)) == len(text)
    assert lowered(text) == text.lower() or len(text.lower()) != len(text)


def test_words_are_letters_and_one_mark_for_digits() -> None:
    assert date_words("in may 2023, two_three") == {"in", "may", "two", "three", DIGITS}


@given(st.text() | st.text(st.characters(max_codepoint=127)) | st.text("mMayY 2023_,٣\x1c"))
def test_words_are_those_of_an_expression(text: str) -> None:
    lower = lowered(text)
    wanted = set(re.findall(r"[^\W\d_]+", lower)) | ({DIGITS} if re.search(r"\d", lower) else set())
    # Where words have no spaces between them, their characters are words, too.
    unspaced = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
    wanted |= {character for word in wanted for character in word if unspaced.match(character)}
    assert date_words(lower) == wanted
    for triggers in (frozenset({"may", DIGITS}), frozenset({"may"}), frozenset[str]()):
        assert has_no_trigger(text, triggers) == triggers.isdisjoint(wanted)


@given(st.lists(st.sampled_from(["tea", "may", "12", "anna,", "\n"]), max_size=200).map(" ".join))
def test_windows_hold_every_triggers_word_and_cut_no_word(text: str) -> None:
    found = windows(text, frozenset({"may"}))
    position = -1
    for start, end in found:
        assert position < start < end <= len(text)
        assert start == 0 or text[start - 1].isspace()
        assert end == len(text) or text[end].isspace()
        position = end
    inside = " ".join(text[start:end] for start, end in found)
    assert inside.count("may") == text.count("may")
    assert inside.count("12") == text.count("12")


def test_windows_that_meet_are_one() -> None:
    text = "may " + "tea " * 20 + "x" * 60 + " " + "tea " * 20 + "may"
    assert windows(text, frozenset({"may"})) == [(0, len(text))]


def test_a_window_ends_a_hundred_characters_from_its_word() -> None:
    text = "tea " * 100 + "may " + "tea " * 100
    assert windows(text, frozenset({"may"})) == [(300, 503)]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)), max_size=20))
def test_the_longest_of_what_overlaps_stays(spans: list[tuple[int, int]]) -> None:
    found = [DateSpan(start, start + length, DAYS) for start, length in spans]
    kept = longest(found)
    slow: list[DateSpan] = []
    for one in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        if not any(one.start < other.end and other.start < one.end for other in slow):
            slow.append(one)
    assert kept == sorted(slow)


def test_a_date_that_does_not_exist_hides_its_parts() -> None:
    for text, count in (("30 february 2023", 0), ("28 february 2023", 1)):
        assert len(find(text, text, date_words(text), ENGLISH, (NUMERIC,), TODAY, False)) == count


TODAY = date(2023, 11, 15)
JUNE = Reading("month", calendar.month(2023, 6), False, lambda year: calendar.month(year, 6))
AUGUST = Reading("month", calendar.month(2024, 8))
FRIDAY = Reading("weekday", calendar.one_day(date(2023, 11, 10), 1), False)
TENTH = Reading("day", calendar.one_day(date(2023, 5, 10)))


def read(text: str, **readings: Reading) -> list[DateSpan]:
    """Return what is found in a text with the readings of some of its words."""
    atoms = [RuleMatch(text.index(word), text.index(word) + len(word), one) for word, one in readings.items()]
    return apply_prepositions(sorted(atoms, key=lambda atom: atom.start), text, ENGLISH, TODAY)


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
    assert read(text, june=JUNE, august=AUGUST) == [DateSpan(0, 23, Days(date(2024, 6, 1), date(2024, 9, 1)))]
    [found] = read("june to august", june=JUNE, august=AUGUST)
    assert found.days == Days(date(2024, 6, 1), date(2024, 9, 1))


def test_what_ends_before_it_starts_is_no_range() -> None:
    fixed = AUGUST._replace(days=calendar.month(2025, 1))
    found = read("from august to june", august=fixed, june=JUNE)
    assert [one.days for one in found] == [calendar.month(2025, 1)]


def test_a_weekday_stands_beside_a_day() -> None:
    for word, day in (("before", date(2023, 5, 5)), ("after", date(2023, 5, 12))):
        [found] = read(f"friday {word} tenth", friday=FRIDAY, tenth=TENTH)
        assert found == DateSpan(0, 12 + len(word) + 1, calendar.one_day(day))


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
