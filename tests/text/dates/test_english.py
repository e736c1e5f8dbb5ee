"""English beyond the labelled list: other spellings, other orders, other words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memorata.text.dates import time_expressions

NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "phrase", "first"),
    [
        ("May the 4th, 2022", "May the 4th, 2022", "2022-05-04"),
        ("Sept. 3, 2022", "Sept. 3, 2022", "2022-09-03"),
        ("on 3rd of March last year", "3rd of March last year", "2022-03-03"),
        ("last week on Monday", "last week on Monday", "2023-11-06"),
        ("over Christmas", "Christmas", "2022-12-25"),
        ("New Year’s Eve 2020", "New Year’s Eve 2020", "2020-12-31"),
        ("this past summer", "this past summer", "2023-06-01"),
        ("between March 3 and 5", "between March 3 and 5", "2023-03-03"),
        ("a couple of months ago", "a couple of months ago", "2023-09-16"),
        ("the fall of 2020", "the fall of 2020", "2020-09-01"),
        ("the first weekend of August", "the first weekend of August", "2023-08-05"),
        ("in the nineties", "nineties", "1990-01-01"),
        ("during 1997–2015", "1997–2015", "1997-01-01"),
        ("YESTERDAY", "YESTERDAY", "2023-11-14"),
    ],
)
def test_the_same_in_other_words(text: str, phrase: str, first: str) -> None:
    [found] = time_expressions(text, NOW, "english")
    assert (found.phrase, found.period.start.date().isoformat()) == (phrase, first)


@pytest.mark.parametrize(
    "text",
    ["in one night", "the Christmas carols", "this fall from grace", "over 2000 steps", "the coming weeks"],
)
def test_no_time_is_meant(text: str) -> None:
    assert time_expressions(text, NOW, "english") == ()


@pytest.mark.parametrize(
    "text",
    ["three weeks and two days ago", "a year and a few months ago", "two years and a couple of weeks ago"],
)
def test_the_rest_of_a_longer_time_is_not_a_time(text: str) -> None:
    assert time_expressions(text, NOW, "english") == ()


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("How early may a meeting start?", []),
        ("in early may", ["early may"]),
        ("Early May, I think", ["Early May"]),
    ],
)
def test_asking_for_leave_names_no_month(text: str, phrases: list[str]) -> None:
    assert [each.phrase for each in time_expressions(text, NOW)] == phrases
