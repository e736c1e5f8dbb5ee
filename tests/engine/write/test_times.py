from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata.engine.write.terms import PHRASE, dated, named_times
from memorata.model import Memory

SAID = datetime(2023, 5, 8, 14, 30, tzinfo=UTC)


def memory(content: str, **details: object) -> Memory:
    return Memory(id="m", content=content, created_at=SAID, **details)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "day", "phrase"),
    [
        ("I went to the museum yesterday.", datetime(2023, 5, 7, tzinfo=UTC), "yesterday"),
        ("The party is on 3 June 2023.", datetime(2023, 6, 3, tzinfo=UTC), "3 June 2023"),
        ("Мы виделись позавчера.", datetime(2023, 5, 6, tzinfo=UTC), "позавчера"),
    ],
)
def test_a_day_that_is_named_is_when_it_happened(content: str, day: datetime, phrase: str) -> None:
    found = dated(memory(content))
    assert found.valid_from == found.event_time == day
    assert found.metadata[PHRASE] == phrase
    assert found.content == content


@pytest.mark.parametrize("content", ["Last summer was warm.", "May I come in?", "tea"])
def test_what_is_vague_or_no_time_dates_nothing(content: str) -> None:
    assert dated(memory(content)).valid_from is None


def test_a_time_that_was_given_stays_and_so_does_what_ended_before() -> None:
    given = memory("We sailed yesterday.", valid_from=SAID)
    assert dated(given) is given
    ended = memory("We sailed yesterday.", valid_to=SAID - timedelta(days=9))
    assert dated(ended) is ended


def test_it_is_read_once_however_often_it_is_asked() -> None:
    assert named_times("We sailed yesterday.", SAID) is named_times("We sailed yesterday.", SAID)


def test_remembering_reads_dates_unless_told_not_to() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: SAID) as engine:
        assert engine.remember("We sailed yesterday.").event_time == datetime(2023, 5, 7, tzinfo=UTC)
        assert engine.admin.check() == []
    with memorata.open(
        ":memory:", embedder="lexical", clock=lambda: SAID, config={"read_dates": False}
    ) as engine:
        assert engine.remember("We sailed yesterday.").valid_from is None


def test_a_question_that_names_the_day_finds_it() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: SAID) as engine:
        engine.remember("We sailed yesterday.", id="sail")
        engine.remember("We cooked.", id="cook")
        assert engine.recall("What did we do on 7 May 2023?").hits[0].memory.id == "sail"
