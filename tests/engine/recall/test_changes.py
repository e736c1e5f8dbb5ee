"""What a text changes or corrects in other words than it was said in: the newest answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata.engine import Engine

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
OTHERS = (
    "The library closes at eight.",
    "Grandma's recipe needs three eggs.",
    "Jonas repaired the fence last spring.",
    "Our neighbours have a noisy parrot.",
)
CHANGES = (
    ("I live in Leipzig.", "We have moved to Valencia.", "Where do I live?"),
    ("The wifi password is tulip42.", "I changed the wifi password to rose99.", "What is the wifi password?"),
    ("My boss is Karl.", "I have a new boss, Petra.", "Who is my boss?"),
    ("I am a vegetarian.", "I eat fish again.", "What can I eat?"),
    (
        "We use PostgreSQL for the billing service.",
        "We use MySQL for the billing service.",
        "Which database does the billing service use?",
    ),
    ("I prefer tea in the morning.", "I prefer coffee now.", "What do I prefer to drink?"),
    (
        "The meeting is on Tuesday at ten.",
        "Correction: the meeting is on Wednesday at nine.",
        "When is the meeting?",
    ),
    ("My dentist is Dr. Brandt.", "I switched dentists, I go to Dr. Osei now.", "Who is my dentist?"),
    ("Our office is on Baker Street.", "The office has relocated to Canal Road.", "Where is our office?"),
    ("I take the bus to work.", "I cycle to work these days.", "How do I get to work?"),
    (
        "The deploy key is stored in Vault.",
        "The deploy key is now kept in 1Password.",
        "Where is the deploy key?",
    ),
    (
        "Mia goes to Lindenhof school.",
        "Mia has changed schools, she is at Parkside.",
        "Which school does Mia go to?",
    ),
    ("We deploy on Fridays.", "No wait, we deploy on Mondays.", "When do we deploy?"),
    (
        "The landlord's name is Mr. Huber.",
        "Actually, the landlord is called Mr. Hofer.",
        "What is the name of the landlord?",
    ),
    (
        "I bank with Sparkasse.",
        "I opened an account at N26 and closed the one at Sparkasse.",
        "Which bank do I use?",
    ),
    ("My gym is FitBase.", "I cancelled FitBase and joined Urban Sports.", "Which gym do I go to?"),
    ("I drive a Volkswagen Golf.", "I bought a Skoda and sold the Golf.", "What car do I drive?"),
)
CORRECTIONS = (
    ("We bill in dollars.", "Correction: we bill in euros.", "Which currency do we bill in?"),
    ("The key is under the mat.", "No wait, the key is with the neighbour.", "Where is the key?"),
    ("Lunch is at noon.", "Actually, lunch is at one.", "When is lunch?"),
    ("Der Termin ist am Montag.", "Korrektur: der Termin ist am Dienstag.", "Wann ist der Termin?"),
)
APART = (
    ("We use PostgreSQL for analytics.", "We use MySQL for the billing service."),
    ("The wifi password is tulip42.", "I changed the email password to rose99."),
    ("I keep the passport in the drawer.", "I keep the spare key in the drawer."),
    ("My boss is Karl.", "I have a new bike, a Canyon."),
    ("My dentist is Dr. Brandt.", "I have a new doctor, Dr. Osei."),
    ("My boss is Karl.", "My sister has a new boss, Petra."),
    ("The key is under the mat.", "No wait, the dog is with the neighbour."),
    ("The office is on Baker Street.", "Actually, I like the new office."),
    ("I prefer window seats.", "I prefer short answers now."),
    ("The plants need water on Mondays.", "The plants need light."),
    ("Anna plays tennis on Mondays.", "Anna plays chess on Mondays."),
    ("The server is slow.", "I changed the backup server to nightly runs."),
)


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["lexical", None])
def memory(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Engine]:
    with memorata.open(":memory:", embedder=request.param, clock=clock) as engine:
        for text in OTHERS:
            engine.remember(text)
        yield engine


def newest_first(memory: Engine, clock: Clock, older: str, newer: str, query: str, **more: str) -> bool:
    """Remember one after the other three days later, and return whether the newer one is the first hit."""
    memory.remember(older)
    clock.now += timedelta(days=3)
    new = memory.remember(newer, **more)  # type: ignore[arg-type]
    clock.now += timedelta(days=1)
    hits = memory.recall(query).hits
    return bool(hits) and hits[0].memory.id == new.id


@pytest.mark.parametrize("embedder", ["lexical", None])
def test_of_seventeen_changes_at_least_fifteen_show_the_newest_first(embedder: str | None) -> None:
    missed = []
    for older, newer, query in CHANGES:
        clock = Clock()
        with memorata.open(":memory:", embedder=embedder, clock=clock) as memory:
            for text in OTHERS:
                memory.remember(text)
            if not newest_first(memory, clock, older, newer, query):
                missed.append(newer)
    assert len(missed) <= len(CHANGES) - 15, missed


@pytest.mark.parametrize("category", ["fact", "correction"])
@pytest.mark.parametrize(("older", "newer", "query"), CORRECTIONS)
def test_a_text_that_says_it_corrects_wins(
    memory: Engine, clock: Clock, older: str, newer: str, query: str, category: str
) -> None:
    assert newest_first(memory, clock, older, newer, query, category=category)


@pytest.mark.parametrize(("older", "newer"), APART)
def test_a_change_of_something_else_is_not_noted(
    memory: Engine, clock: Clock, older: str, newer: str
) -> None:
    memory.remember(older)
    clock.now += timedelta(days=3)
    new = memory.remember(newer)
    assert memory.admin.duplicates.contradictions(new.id) == ()


def test_an_untrusted_text_contradicts_no_trusted_one(memory: Engine) -> None:
    memory.remember("The wifi password is tulip42.")
    page = memory.remember("Correction: the wifi password is rose99.", untrusted=True)
    assert memory.admin.duplicates.contradictions(page.id) == ()
    said = memory.remember("Correction: the wifi password is lily77.")
    assert memory.admin.duplicates.contradictions(said.id)
