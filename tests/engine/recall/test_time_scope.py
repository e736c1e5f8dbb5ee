"""A period that a query names restricts the search, and the result says to what."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import memorata
from memorata.model import InvalidArgument, Period
from memorata.model.query import When
from memorata.rank.temporal import nearness

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)  # a Tuesday
DAY = timedelta(days=1)


@pytest.fixture
def memory() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        yield engine


def ids(found: memorata.RecallResult) -> list[str]:
    return [hit.memory.id for hit in found]


def dinners(memory: memorata.Engine, **days: int) -> None:
    """Dinners, each so many days ago."""
    for name, ago in days.items():
        memory.remember(f"We had {name} for dinner.", id=name, created_at=NOW - ago * DAY)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("What did we have for dinner last week?", ["rice", "soup"]),
        ("What did we have for dinner three days ago?", ["rice"]),
        ("What did we have for dinner yesterday?", ["fish"]),
        ("What did we have for dinner in September?", ["cake"]),
        ("What did we have for dinner between 1 and 9 March 2026?", ["stew"]),
        ("Was we had for dinner am 7. März 2026?", ["stew"]),
    ],
)
def test_a_named_period_restricts(memory: memorata.Engine, query: str, wanted: list[str]) -> None:
    dinners(memory, fish=1, rice=3, soup=6, cake=60, stew=255)
    found = memory.recall(query)
    assert ids(found)[0] in wanted
    assert "cake" not in ids(found) or wanted == ["cake"]
    assert "stew" not in ids(found) or wanted == ["stew"]
    assert found.period is not None
    assert (found.period.restricts, found.period.empty) == (True, False)
    assert found.period.inside >= 1
    assert found.period.note.startswith("kept to “")


def test_where_nothing_is_inside_that_is_said_and_the_closest_comes_first(memory: memorata.Engine) -> None:
    dinners(memory, cake=60, stew=255, tart=1)
    found = memory.recall("What did we have for dinner in June?")
    assert found.period is not None
    assert (found.period.restricts, found.period.empty, found.period.inside) == (False, True, 0)
    assert found.period.note == (
        "nothing found of “June” (2026-06-01 to 2026-06-30); what is closest in time comes first"
    )
    assert ids(found)[0] == "cake"
    assert set(ids(found)) == {"cake", "stew", "tart"}


def test_a_query_of_nothing_but_an_empty_time_finds_the_closest(memory: memorata.Engine) -> None:
    dinners(memory, cake=60, stew=255)
    assert ids(memory.recall("What happened in June?"))[:1] == ["cake"]


def test_what_names_the_time_counts_whenever_it_was_said(memory: memorata.Engine) -> None:
    dinners(memory, cake=60)
    memory.remember("In 2022 we had dinner in Porto.", id="porto", created_at=NOW - 90 * DAY)
    memory.remember("In 2019 we had dinner in Oslo.", id="oslo", created_at=NOW - 90 * DAY)
    found = memory.recall("Where did we have dinner in 2022?")
    assert ids(found)[0] == "porto"
    assert found.period is not None
    assert not found.period.restricts  # nothing was told in 2022


def test_what_was_learnt_before_a_long_period_may_hold_in_it(memory: memorata.Engine) -> None:
    memory.remember("Priya lives in Trieste.", id="trieste", created_at=datetime(2026, 1, 28, tzinfo=UTC))
    memory.remember("Priya lives in Ghent.", id="ghent", created_at=datetime(2026, 9, 28, tzinfo=UTC))
    memory.remember("It rained.", created_at=datetime(2026, 2, 5, tzinfo=UTC))
    found = ids(memory.recall("Where did Priya live in February?"))
    assert (found[0], "ghent" in found) == ("trieste", False)
    assert ids(memory.recall("Where did Priya live in October?"))[0] == "ghent"


def test_a_month_that_has_nothing_yet_may_be_the_next(memory: memorata.Engine) -> None:
    memory.remember("Camille flies to Iceland on 12 December.", id="iceland", created_at=NOW - 3 * DAY)
    found = memory.recall("Where does Camille fly in December?")
    assert found.period is not None
    assert found.period.start == datetime(2026, 12, 1, tzinfo=UTC)
    assert ids(found) == ["iceland"]


@pytest.mark.parametrize(
    "query",
    [
        "We had a dinner party last night. What should I cook for the next dinner?",
        "I am back. What is the plan for dinner today?",
        "What did we have for dinner recently?",
    ],
)
def test_a_time_that_is_told_or_goes_on_restricts_nothing(memory: memorata.Engine, query: str) -> None:
    dinners(memory, fish=1, cake=60, stew=255)
    found = memory.recall(query)
    assert set(ids(found)) == {"fish", "cake", "stew"}
    assert found.period is None or not found.period.restricts


def test_the_explanation_says_what_the_time_did(memory: memorata.Engine) -> None:
    dinners(memory, soup=6, cake=60)
    why = str(memory.recall("What did we have for dinner last week?").hits[0].explain())
    assert "of the time asked for, nearness 1.00" in why
    late = str(memory.recall("What did we have for dinner ten days ago?").hits[0].explain())
    assert "3 days after the time asked for" in late


def test_no_period_no_word_of_it(memory: memorata.Engine) -> None:
    dinners(memory, soup=6)
    assert memory.recall("What did we have for dinner?").period is None
    assert memory.recall("dinner last week", recipe={"temporal": "none"}).period is None


def test_since_and_until_leave_out_the_rest(memory: memorata.Engine) -> None:
    dinners(memory, fish=1, soup=6, cake=60)
    memory.remember("We planned a dinner.", id="plan", created_at=NOW, valid_from=NOW + 30 * DAY)
    ask = "What about dinner?"
    assert set(ids(memory.recall(ask, when=When(since=NOW - 7 * DAY)))) == {"fish", "soup", "plan"}
    assert set(ids(memory.recall(ask, when=When(until=NOW - 5 * DAY)))) == {"soup", "cake"}
    assert ids(memory.recall(ask, when=When(since=NOW - 7 * DAY, until=NOW - 5 * DAY))) == ["soup"]
    assert ids(memory.recall(ask, when=When(since=NOW - 6 * DAY, until=NOW - 6 * DAY))) == []
    with pytest.raises(InvalidArgument, match="since"):
        memory.recall(ask, when=When(since=datetime(2026, 1, 1)))


def test_an_empty_namespace_has_nothing_of_any_time(memory: memorata.Engine) -> None:
    found = memory.recall("What did we do last week?")
    assert ids(found) == []
    assert memory.recall("tea", when=When(since=NOW)).hits == ()


@pytest.mark.parametrize(
    ("query", "wanted", "left_out"),
    [
        ("What did I buy before my trip to Porto?", "boots", "wine"),
        ("What did I buy after my trip to Porto?", "wine", "boots"),
        ("What did I buy since the trip to Porto?", "wine", "boots"),
    ],
)
def test_a_time_named_by_an_event_is_that_of_its_memory(
    memory: memorata.Engine, query: str, wanted: str, left_out: str
) -> None:
    memory.remember("I buy boots.", id="boots", created_at=NOW - 200 * DAY)
    memory.remember("The trip to Porto was great.", id="porto", created_at=NOW - 100 * DAY)
    memory.remember("I buy wine.", id="wine", created_at=NOW - 5 * DAY)
    found = memory.recall(query)
    # What was bought long before the trip may still have been there after it, and comes later.
    assert ids(found)[0] == wanted
    assert "porto" not in ids(found)
    assert left_out == "boots" or left_out not in ids(found)
    assert found.period is not None
    assert (found.period.event, found.period.phrase) == ("porto", query[15:-1])
    assert memory.recall("What did I buy before my wedding?").period is None


def test_an_event_was_when_its_text_says(memory: memorata.Engine) -> None:
    memory.remember("I fly to Porto from 3 to 9 March 2026.", id="porto", created_at=NOW - 300 * DAY)
    memory.remember("It was warm.", id="warm", created_at=datetime(2026, 3, 5, tzinfo=UTC))
    found = memory.recall("How was it during my trip to Porto?")
    assert found.period is not None
    assert (found.period.start.date(), found.period.event) == (datetime(2026, 3, 3).date(), "porto")


def slow_nearness(created: float, event: float, named: bool, start: float, end: float) -> float:
    """The rule, one memory at a time, in days and without a tolerance."""
    told = 1.0 if start <= created <= end else 0.0
    reach = min(max(7.0, (end - start) / 4), 90.0)
    if 0 < created - end < reach:
        told = max(told, 0.9 * (1 - (created - end) / reach))
    if created != event:
        told *= 0.7
    near = max(told, 1.0 if start <= event <= end else 0.0, 0.8 if named else 0.0)
    if end - start >= 14 and created <= end:
        half_life = min(1.5 * (end - start), 60.0)
        near = max(near, 0.8 * 0.5 ** (max(0.0, start - created) / half_life))
    return near


@pytest.mark.parametrize("length", [1, 7, 31, 365])
def test_nearness_is_the_rule_one_memory_at_a_time(length: int) -> None:
    random = np.random.default_rng(length)
    created = random.integers(-400, 400, 200).astype(np.float64)
    event = np.where(random.random(200) < 0.5, created, random.integers(-400, 400, 200))
    named = random.random(200) < 0.2
    start = datetime(2026, 1, 1, tzinfo=UTC)
    period, zero = Period(start, start + length * DAY), start.timestamp()
    found = nearness(zero + created * 86_400, zero + event * 86_400, named, period)
    slow = [slow_nearness(*each, 0.0, float(length)) for each in zip(created, event, named, strict=True)]
    assert found.tolist() == pytest.approx(slow)
