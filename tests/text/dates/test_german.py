"""German beyond the labelled list: every form of every month, and words that only look like times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memorata.text.dates import time_expressions
from memorata.text.dates.language import read_language

NOW = datetime(2023, 11, 15, 14, 30, tzinfo=UTC)
WORDS = read_language("german").vocabulary


@pytest.mark.parametrize(("form", "month"), sorted(WORDS.month.items()))
def test_every_form_of_a_month_with_a_year(form: str, month: int) -> None:
    [found] = time_expressions(f"{form.title()} 2021", NOW, "german")
    assert found.period.start == datetime(2021, month, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "phrase", "first"),
    [
        ("vergangene Woche", "vergangene Woche", "2023-11-06"),
        ("am 7.Mai 2023", "7.Mai 2023", "2023-05-07"),
        ("Dienstag letzter Woche", "Dienstag letzter Woche", "2023-11-07"),
        ("im Herbst letzten Jahres", "Herbst letzten Jahres", "2022-09-01"),
        ("in den 1980er-Jahren", "1980er-Jahren", "1980-01-01"),
        ("im 3. Quartal 2024", "3. Quartal 2024", "2024-07-01"),
        ("Anfang 2022", "Anfang 2022", "2022-01-01"),
        ("nächsten Montag", "nächsten Montag", "2023-11-20"),
        ("zwischen dem 3. und 5. März", "zwischen dem 3. und 5. März", "2023-03-03"),
        ("vor etwa drei Jahren", "vor etwa drei Jahren", "2020-11-15"),
        ("heute früh", "heute früh", "2023-11-15"),
        ("in letzter Zeit", "in letzter Zeit", "2023-11-01"),
    ],
)
def test_the_same_in_other_words(text: str, phrase: str, first: str) -> None:
    [found] = time_expressions(text, NOW, "german")
    assert (found.phrase, found.period.start.date().isoformat()) == (phrase, first)


@pytest.mark.parametrize(
    "text", ["jeden morgen", "Guten Morgen, Anna", "vor 2000 Leuten", "letztes Jahr der Schule"]
)
def test_no_time_is_meant(text: str) -> None:
    assert time_expressions(text, NOW, "german") == ()
