"""Appointments by the time of the event: what is planned in a period first, and a note where nothing is."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

import memorata
from memorata.engine import Engine

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)
"""A Wednesday."""


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["lexical", "builtin"])
def memory(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Engine]:
    with memorata.open(":memory:", embedder=request.param, clock=clock) as engine:
        yield engine


@pytest.fixture
def agenda(memory: Engine, clock: Clock) -> Engine:
    for days, text in (
        (400, "The rota for next week: Anna on Monday, appointments desk on Tuesday."),
        (300, "We moved to Valencia on 3 March 2026."),
        (300, "I had a cat named Tom."),
        (100, "My cat is called Minka."),
        (40, "I had an appointment at the tax office."),
        (40, "Ann likes appointments in the morning."),
        (2, "I have a dentist appointment on 25 November at nine."),
        (2, "I bought a lamp."),
    ):
        clock.now = NOW - timedelta(days=days)
        memory.remember(text)
    clock.now = NOW
    return memory


def test_a_period_ahead_has_what_is_planned_in_it(agenda: Engine) -> None:
    result = agenda.recall("Do I have any appointments next week?")
    assert [hit.memory.content for hit in result.hits] == [
        "I have a dentist appointment on 25 November at nine."
    ]
    assert result.period is not None
    assert (result.period.restricts, result.period.empty, result.period.inside) == (True, False, 1)


def test_a_period_ahead_without_plans_says_so(agenda: Engine) -> None:
    result = agenda.recall("Do I have any appointments in December?")
    assert result.period is not None
    assert (result.period.start.year, result.period.empty) == (2026, True)
    assert result.period.note.startswith("nothing found of “December” (2026-12-01 to 2026-12-31)")
    assert result.period.note in str(result)


def test_a_move_dates_what_was_before_it(agenda: Engine) -> None:
    result = agenda.recall("What was my cat called before we moved?")
    assert result.period is not None
    assert (result.period.phrase, result.period.end.date()) == ("before we moved", date(2026, 3, 3))
    assert result.hits[0].memory.content == "I had a cat named Tom."
    # Of a race nothing is known.
    assert agenda.recall("What was my cat called before we raced?").period is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("The plumber comes on Monday.", date(2026, 11, 23)),
        ("The plumber is coming on Monday.", date(2026, 11, 23)),
        ("I see the dentist on Tuesday.", date(2026, 11, 24)),
        ("The plumber will come on Thursday.", date(2026, 11, 19)),
        ("Der Klempner kommt am Montag.", date(2026, 11, 23)),
        ("Wir treffen Anna am Dienstag.", date(2026, 11, 24)),
        ("El fontanero viene el lunes.", date(2026, 11, 23)),
        ("The plumber came on Friday.", date(2026, 11, 13)),
        ("I met Ann on Thursday.", date(2026, 11, 12)),
        ("The plumber repaired the sink on Thursday.", date(2026, 11, 12)),
        ("Der Klempner kam am Donnerstag.", date(2026, 11, 12)),
        ("El fontanero vino el jueves.", date(2026, 11, 12)),
        ("On Monday we have dinner with the Schmidts.", date(2026, 11, 23)),
        ("Dinner with Bob on Monday.", date(2026, 11, 23)),
        ("Party at Tom's on Tuesday!", date(2026, 11, 24)),
        ("Am Montag essen wir mit den Schmidts.", date(2026, 11, 23)),
        ("Am Dienstag fliege ich nach Wien.", date(2026, 11, 24)),
        ("Ich möchte am Montag ins Kino.", date(2026, 11, 23)),
        ("Das Treffen ist am Montag geplant.", date(2026, 11, 23)),
        ("El lunes cenamos con los Schmidt.", date(2026, 11, 23)),
        ("El lunes comeremos con Ana.", date(2026, 11, 23)),
        ("Todavía tengo que ir al médico el lunes.", date(2026, 11, 23)),
        ("Zahnarzttermin am 25. November", date(2026, 11, 25)),
        ("Dinner on Wednesday", date(2026, 11, 18)),
        ("On Thursday we had dinner.", date(2026, 11, 12)),
        ("On Thursday, we had dinner.", date(2026, 11, 12)),
        ("On Monday, we have dinner with the Schmidts.", date(2026, 11, 23)),
        ("On Thursday the kids went home.", date(2026, 11, 12)),
        ("Dinner on Thursday was great.", date(2026, 11, 12)),
        ("Met Bob on Friday.", date(2026, 11, 13)),
        ("Thanks for dinner on Friday!", date(2026, 11, 13)),
        ("I moved my desk on Friday, and it feels better.", date(2026, 11, 13)),
        ("Am Freitag aßen wir.", date(2026, 11, 13)),
        ("Am Freitag feierten wir.", date(2026, 11, 13)),
        ("Anna ist am Freitag gekommen.", date(2026, 11, 13)),
        ("Ich habe am Freitag den Zahnarzt besucht.", date(2026, 11, 13)),
        ("El viernes fuimos al cine.", date(2026, 11, 13)),
        ("Compré pan el viernes.", date(2026, 11, 13)),
        ("Comimos con Ana el viernes.", date(2026, 11, 13)),
        ("Dîner avec Paul lundi.", date(2026, 11, 23)),
        ("Lundi nous mangeons avec Paul.", date(2026, 11, 23)),
        ("Nous avons vu Paul vendredi.", date(2026, 11, 13)),
        ("Vendredi, il est venu.", date(2026, 11, 13)),
        ("Cena con Anna lunedì.", date(2026, 11, 23)),
        ("Lunedì andiamo al cinema.", date(2026, 11, 23)),
        ("Ho visto Anna venerdì.", date(2026, 11, 13)),
        ("Venerdì siamo andati al cinema.", date(2026, 11, 13)),
    ],
)
def test_the_tense_says_which_weekday_it_is(memory: Engine, text: str, day: date) -> None:
    valid_from = memory.remember(text).valid_from
    assert valid_from is not None
    assert valid_from.date() == day


@pytest.mark.parametrize(
    "text",
    [
        "The shop is closed on Wednesday afternoons.",
        "We are closed on Monday mornings.",
        "Chaque vendredi je nage.",
        "Camille organise chaque premier jeudi du mois une soirée.",
        "Ogni venerdì nuoto.",
    ],
)
def test_a_habit_is_no_date(memory: Engine, text: str) -> None:
    assert memory.remember(text).valid_from is None


SAID = (
    "We chose blue for the kitchen.",
    "Ann's flight lands at nine.",
    "The invoice of the plumber is paid.",
    "I want to learn Portuguese.",
)


@pytest.fixture
def diary(memory: Engine, clock: Clock) -> Engine:
    for days, text in (
        *((1, text) for text in SAID),
        (9, "I bought a lamp."),
        (30, "My cat is called Minka."),
    ):
        clock.now = NOW - timedelta(days=days)
        memory.remember(text)
    clock.now = NOW
    return memory


@pytest.mark.parametrize(
    "query",
    [
        "What did we talk about yesterday?",
        "What did I say yesterday?",
        "summarise yesterday",
        "Was haben wir gestern besprochen?",
        "Worüber haben wir gestern gesprochen?",
        "¿De qué hablamos ayer?",
        "De quoi avons-nous parlé hier ?",
        "Di cosa abbiamo parlato ieri?",
        "О чём мы говорили вчера?",
    ],
)
def test_what_was_said_in_a_period_is_all_of_it(diary: Engine, query: str) -> None:
    assert {hit.memory.content for hit in diary.recall(query).hits} == set(SAID)


def test_a_period_with_memories_that_do_not_match_is_not_called_empty(diary: Engine) -> None:
    period = diary.recall("What did Bob decide about tungsten yesterday?").period
    assert period is not None
    assert (period.restricts, period.empty, period.unmatched) == (False, False, True)
    assert period.note.startswith("nothing of “yesterday” (2026-11-17 to 2026-11-17) matches the query")
