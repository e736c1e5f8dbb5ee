"""Times of the clock in queries."""

from datetime import UTC, datetime, timedelta

import pytest

from memorata.text.dates import RuleAnchors

NOW = datetime(2026, 5, 7, 16, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("query", "phrase", "start", "minutes"),
    [
        ("What did I say two hours ago?", "two hours ago", "2026-05-07T14:30", 0),
        ("What did I say 90 minutes ago?", "90 minutes ago", "2026-05-07T15:00", 0),
        ("What happened in the last 30 minutes?", "the last 30 minutes", "2026-05-07T16:00", 30),
        ("What happened in the past hour?", "the past hour", "2026-05-07T15:30", 60),
        ("Who called at 3 pm?", "at 3 pm", "2026-05-07T15:00", 60),
        ("Who called at 18:45?", "at 18:45", "2026-05-06T18:45", 15),
        ("Who called yesterday at 9 am?", "yesterday at 9 am", "2026-05-06T09:00", 60),
        ("Was habe ich vor drei Stunden gesagt?", "vor drei Stunden", "2026-05-07T13:30", 0),
        ("Wer hat gestern um 15 Uhr angerufen?", "gestern um 15 Uhr", "2026-05-06T15:00", 60),
        ("Qu'est-ce que j'ai dit il y a deux heures ?", "il y a deux heures", "2026-05-07T14:30", 0),
    ],
)
def test_a_time_of_the_clock(query: str, phrase: str, start: str, minutes: int) -> None:
    found = RuleAnchors().anchor(query, NOW)
    assert found is not None
    assert found.phrase == phrase
    assert found.period.start == datetime.fromisoformat(f"{start}+00:00")
    assert found.period.end - found.period.start == timedelta(minutes=minutes)


@pytest.mark.parametrize("query", ["Who is at 30 Main Street?", "How long is two hours?", "We met at 5."])
def test_no_time_of_the_clock(query: str) -> None:
    assert RuleAnchors().anchor(query, NOW) is None
