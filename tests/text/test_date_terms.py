"""The words of a date: as many as are known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.period import Period
from memorata.text.date_terms import date_terms
from memorata.text.dates import time_expressions

NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("today", "15 november 2023 wednesday"),
        ("вчера", "14 november 2023 tuesday"),
        ("7. Mai 2023", "7 may 2023 sunday"),
        ("last weekend", "11 12 november 2023 saturday sunday"),
        (
            "from 30 December 2022 to 1 January 2023",
            "30 31 1 december january 2022 2023 friday saturday sunday",
        ),
        ("from 3 to 6 March", "march 2023"),
        ("three days ago", "november 2023"),
        ("in May 2023", "may 2023"),
        ("last month", "october 2023"),
        ("Q3 2024", "july august september 2024"),
        ("between November 2022 and January 2023", "november december january 2022 2023"),
        ("between May 2022 and August 2022", "2022"),
        ("last summer", "2023"),
        ("in 2022", "2022"),
        ("from 2018 to 2020", "2018 2019 2020"),
        ("from 2018 to 2021", ""),
        ("two years ago", "2021"),
        ("a decade ago", ""),
        ("recently", "2023"),
        ("before 2020", ""),
    ],
)
def test_as_much_is_said_as_is_known(text: str, words: str) -> None:
    [found] = time_expressions(text, NOW)
    assert date_terms(found.period) == words


def test_days_are_those_of_the_zone() -> None:
    tokyo = timezone(timedelta(hours=9))
    [found] = time_expressions("today", datetime(2023, 5, 8, 1, tzinfo=tokyo))
    assert date_terms(found.period, tokyo) == "8 may 2023 monday"
    assert date_terms(found.period) == "7 8 may 2023 sunday monday"


def test_an_instant_is_a_day() -> None:
    assert date_terms(Period.around(datetime(2023, 5, 7, tzinfo=UTC), timedelta(0))) == "7 may 2023 sunday"


def test_what_the_zone_does_not_hold_has_no_words() -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    assert date_terms(Period(first, first + timedelta(days=1)), timezone(-timedelta(hours=5))) == ""


@given(
    start=st.datetimes(timezones=st.just(UTC)),
    length=st.timedeltas(timedelta(0), timedelta(days=5000)),
    tolerance=st.timedeltas(timedelta(0), timedelta(days=400)),
)
def test_no_word_comes_twice_and_none_is_invented(
    start: datetime, length: timedelta, tolerance: timedelta
) -> None:
    end = start if start.year > 9980 else start + length
    words = date_terms(Period(start, end, tolerance)).split()
    assert len(words) == len(set(words))
    years = [word for word in words if word.isdigit() and len(word) == 4]
    assert (
        not words
        or start.year < 1000
        or years == [str(year) for year in range(int(years[0]), int(years[-1]) + 1)]
    )
    assert len(words) <= 12
