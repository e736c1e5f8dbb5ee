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
        ("¿Quién llamó ayer a las 15:00?", "ayer a las 15:00", "2026-05-06T15:00", 15),
        ("Cosa ho detto due ore fa?", "due ore fa", "2026-05-07T14:30", 0),
        ("Chi ha chiamato ieri alle 15?", "ieri alle 15", "2026-05-06T15:00", 60),
        ("O que eu disse há duas horas?", "há duas horas", "2026-05-07T14:30", 0),
        ("Quem ligou ontem às 15h?", "ontem às 15h", "2026-05-06T15:00", 60),
        ("Wat heb ik twee uur geleden gezegd?", "twee uur geleden", "2026-05-07T14:30", 0),
        ("Wie heeft mij gisteren om 15 uur gebeld?", "gisteren om 15 uur", "2026-05-06T15:00", 60),
        ("Vad sa jag för två timmar sedan?", "för två timmar sedan", "2026-05-07T14:30", 0),
        ("Vem ringde igår klockan 15?", "igår klockan 15", "2026-05-06T15:00", 60),
        ("Что я сказал два часа назад?", "два часа назад", "2026-05-07T14:30", 0),
        ("Кто звонил вчера в 15:00?", "вчера в 15:00", "2026-05-06T15:00", 15),
        ("我两小时前说了什么？", "两小时前", "2026-05-07T14:30", 0),
        ("昨天下午三点谁打了电话？", "昨天下午三点", "2026-05-06T15:00", 60),
        ("30分前に何を言いましたか", "30分前", "2026-05-07T16:00", 0),
        ("昨日の午後3時に誰が電話しましたか", "昨日の午後3時", "2026-05-06T15:00", 60),
        ("2시간 전에 내가 뭐라고 했지?", "2시간 전", "2026-05-07T14:30", 0),
        ("어제 오후 3시에 누가 전화했어?", "어제 오후 3시", "2026-05-06T15:00", 60),
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
