"""Finding phrases: lower case in place, windows around telling words, the longest of what overlaps."""

from __future__ import annotations

import re
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from memorata.text.calendar_periods import one_day
from memorata.text.date_phrases import find, longest, lowered, names_none, windows, words_within
from memorata.text.date_prepositions import Found
from memorata.text.date_vocabulary import DIGITS
from memorata.text.dates_en import ENGLISH
from memorata.text.dates_numeric import NUMERIC

TODAY = date(2023, 11, 15)
DAYS = one_day(TODAY)


@given(st.text())
def test_lower_case_moves_nothing(text: str) -> None:
    assert len(lowered(text)) == len(text)
    assert lowered(text) == text.lower() or len(text.lower()) != len(text)


def test_words_are_letters_and_one_mark_for_digits() -> None:
    assert words_within("in may 2023, two_three") == {"in", "may", "two", "three", DIGITS}


@given(st.text() | st.text(st.characters(max_codepoint=127)) | st.text("mMayY 2023_,٣\x1c"))
def test_words_are_those_of_an_expression(text: str) -> None:
    lower = lowered(text)
    wanted = set(re.findall(r"[^\W\d_]+", lower)) | ({DIGITS} if re.search(r"\d", lower) else set())
    assert words_within(lower) == wanted
    for telling in (frozenset({"may", DIGITS}), frozenset({"may"}), frozenset[str]()):
        assert names_none(text, telling) == telling.isdisjoint(wanted)


@given(st.lists(st.sampled_from(["tea", "may", "12", "anna,", "\n"]), max_size=200).map(" ".join))
def test_windows_hold_every_telling_word_and_cut_no_word(text: str) -> None:
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
    found = [Found(start, start + length, DAYS) for start, length in spans]
    kept = longest(found)
    slow: list[Found] = []
    for one in sorted(found, key=lambda each: (each.start - each.end, each.start)):
        if not any(one.start < other.end and other.start < one.end for other in slow):
            slow.append(one)
    assert kept == sorted(slow)


def test_a_date_that_does_not_exist_hides_its_parts() -> None:
    for text, count in (("30 february 2023", 0), ("28 february 2023", 1)):
        assert len(find(text, text, words_within(text), ENGLISH, (NUMERIC,), TODAY, False)) == count
