"""Russian beyond the labelled list: every case of every month, and words that only look like times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memorata.text.dates import time_expressions
from memorata.text.dates.language import read_language

NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)


def test_every_form_of_a_month_with_a_year() -> None:
    for form, month in WORDS.month.items():
        [expression] = time_expressions(f"{form} 2021 года", NOW, "russian")
        assert expression.period.start == datetime(2021, month, 1, tzinfo=UTC), form


WORDS = read_language("russian").vocabulary


@pytest.mark.parametrize(
    ("text", "phrase", "first"),
    [
        ("7-го мая 2023", "7-го мая 2023", "2023-05-07"),
        ("в 1990-х годах", "1990-х годах", "1990-01-01"),
        ("в 3 квартале 2024", "3 квартале 2024", "2024-07-01"),
        ("осенью прошлого года", "осенью прошлого года", "2022-09-01"),
        ("в конце 2022 года", "конце 2022 года", "2022-09-01"),
        ("этим летом", "этим летом", "2023-06-01"),
        ("в следующую пятницу", "следующую пятницу", "2023-11-17"),
        ("в пятницу на прошлой неделе", "пятницу на прошлой неделе", "2023-11-10"),
        ("год назад", "год назад", "2022-11-15"),
        ("на днях", "на днях", "2023-11-01"),
        ("вечером вчера", "вечером вчера", "2023-11-14"),
    ],
)
def test_the_same_in_other_words(text: str, phrase: str, first: str) -> None:
    [found] = time_expressions(text, NOW, "russian")
    assert (found.phrase, found.period.start.date().isoformat()) == (phrase, first)


@pytest.mark.parametrize(
    "text", ["с Марта", "до 2000 человек", "через забор", "в среду передачи", "пара дней"]
)
def test_no_time_is_meant(text: str) -> None:
    assert time_expressions(text, NOW, "russian") == ()


@pytest.mark.parametrize("text", ["три недели и два дня назад", "год и месяц назад"])
def test_the_rest_of_a_longer_time_is_not_a_time(text: str) -> None:
    assert time_expressions(text, NOW, "russian") == ()
