"""Dates in figures: one meaning, or none."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.dates import time_expressions

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
