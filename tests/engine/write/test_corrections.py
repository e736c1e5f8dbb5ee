"""A correction supersedes what it contradicts; without that category the contradiction is noted."""

from collections.abc import Iterator

import pytest
from tests.dedupe.test_contradiction import CHANGES, OTHERS

import memorata
from memorata.engine import Engine
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Source

NINE = CHANGES[:10]


@pytest.fixture(params=["lexical", None])
def memory(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with memorata.open(":memory:", embedder=request.param) as engine:
        engine.remember("The garden needs water in summer")
        yield engine


@pytest.mark.parametrize(("older", "newer"), NINE)
def test_a_correction_takes_the_place_of_what_it_contradicts(memory: Engine, older: str, newer: str) -> None:
    before = memory.remember(older)
    after = memory.remember(newer, category="correction")
    assert memory.get(before.id).superseded_by == after.id
    assert before.id in memory.get(after.id).supersedes


@pytest.mark.parametrize(("older", "newer"), NINE)
def test_without_the_category_it_is_noted(memory: Engine, older: str, newer: str) -> None:
    before = memory.remember(older)
    after = memory.remember(newer)
    (note,) = memory.admin.duplicates.contradictions(after.id)
    assert (note.newer, note.older) == (after.id, before.id)
    assert memory.get(before.id).superseded_by is None


@pytest.mark.parametrize(("older", "newer"), OTHERS[:12])
def test_a_correction_about_something_else_supersedes_nothing(memory: Engine, older: str, newer: str) -> None:
    before = memory.remember(older)
    memory.remember(newer, category="correction")
    assert memory.get(before.id).superseded_by is None


def test_the_surest_of_several_is_superseded_and_others_are_noted(memory: Engine) -> None:
    memory.remember("Anna likes Rome")
    home = memory.remember("Anna lives in Rome")
    memory.remember("Anna works in Rome")
    fix = memory.remember("Anna lives in Paris now", category="correction")
    assert memory.get(fix.id).supersedes == (home.id,)


def test_what_is_pinned_or_said_by_somebody_else_is_left(memory: Engine) -> None:
    mine = memory.remember("I live in Rome", source=Source(speaker="Anna"))
    pinned = memory.remember("Bob lives in Rome", pinned=True)
    memory.remember("I live in Paris now", source=Source(speaker="Carla"), category="correction")
    fix = memory.remember("Bob lives in Paris now", category="correction")
    assert memory.get(mine.id).superseded_by is None
    assert memory.get(pinned.id).superseded_by is None
    assert [note.older for note in memory.admin.duplicates.contradictions(fix.id)] == [pinned.id]


def test_a_batch_corrects_what_is_there_and_what_it_says_itself(memory: Engine) -> None:
    rome = memory.remember("Anna lives in Rome")
    _, paris, lima = memory.remember_many(
        [
            {"content": "Bob lives in Oslo"},
            {"content": "Anna lives in Paris now", "category": "correction"},
            {"content": "Bob lives in Lima now", "category": "correction"},
        ]
    )
    assert memory.get(rome.id).superseded_by == paris.id
    (oslo,) = memory.get(lima.id).supersedes
    assert memory.get(oslo).content == "Bob lives in Oslo"


def test_every_supersession_can_be_taken_back(memory: Engine) -> None:
    rome = memory.remember("Anna lives in Rome")
    paris = memory.remember("Anna lives in Paris now", category="correction")
    oslo = memory.correct(paris.id, "Anna lives in Oslo")
    with pytest.raises(InvalidArgument, match=paris.id):
        memory.admin.duplicates.reinstate(rome.id)
    for id_, winner in ((paris.id, oslo.id), (rome.id, paris.id)):
        assert memory.admin.duplicates.reinstate(id_).superseded_by is None
        assert memory.get(winner).supersedes == ()
    assert memory.get(rome.id).valid_to is None
    assert memory.admin.duplicates.repeats(paris.id) == ()
    assert {hit.memory.id for hit in memory.recall("Anna lives").hits} == {rome.id, paris.id, oslo.id}
    with pytest.raises(InvalidArgument):
        memory.admin.duplicates.reinstate(rome.id)


def test_a_decision_can_be_taken_back(memory: Engine) -> None:
    rome, paris = memory.remember("Anna lives in Rome"), memory.remember("Anna lives in Paris now")
    memory.admin.duplicates.resolve_contradiction(paris.id, rome.id, contradicts=True, because="so it is")
    memory.admin.duplicates.reinstate(rome.id)
    (note,) = memory.admin.duplicates.contradictions(rome.id, resolved=True)
    assert (note.verdict, note.decided_because) == ("compatible", "taken back")
