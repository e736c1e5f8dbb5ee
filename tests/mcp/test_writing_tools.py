"""Remember, correct, forget, relate and feedback, through the SDK's client."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from memorata.engine import Engine

Say = Callable[..., str]


def id_in(text: str) -> str:
    found = re.search(r"the id (\S+?)[.;]", text)
    assert found is not None
    return found[1]


def test_what_is_remembered_is_kept_with_everything_that_was_said(engine: Engine, say: Say) -> None:
    said = say(
        "remember",
        content="Anna Keller prefers green tea.",
        category="preference",
        tags=["drinks"],
        about=["tea house"],
        importance=0.8,
        happened_at="2026-05-07T12:00:00+02:00",
        expires_at="2126-05-07T12:00:00Z",
        speaker="Anna",
        session="s1",
    )
    memory = engine.get(id_in(said))
    assert memory.content == "Anna Keller prefers green tea."
    assert (memory.namespace, memory.category, memory.tags) == ("acme/alice", "preference", ("drinks",))
    assert set(memory.entities) == {"tea house", "Anna Keller"}
    assert memory.importance == 0.8
    assert memory.valid_from == datetime(2026, 5, 7, 10, tzinfo=UTC)
    assert memory.expires_at == datetime(2126, 5, 7, 12, tzinfo=UTC)
    assert (memory.source.speaker, memory.source.session) == ("Anna", "s1")


def test_a_text_alone_is_enough(engine: Engine, say: Say) -> None:
    memory = engine.get(id_in(say("remember", content="The door code changed.")))
    assert (memory.category, memory.importance, memory.tags) == ("fact", 0.5, ())


def test_what_is_said_again_is_told_to_be_known(engine: Engine, say: Say) -> None:
    first = id_in(say("remember", content="The door code changed."))
    again = say("remember", content="the door code changed")
    assert again == f"That was known already, with the id {first}. It counts as said 2 times."


def test_what_may_be_contradicted_is_shown_as_data(engine: Engine, say: Say) -> None:
    old = engine.remember("The rent is 900 euros.")
    said = say("remember", content="The rent is 950 euros.").splitlines()
    assert said[0].endswith("It may contradict what follows: if that is no longer true, forget it.")
    assert said[2] == said[4]
    assert json.loads(said[3])["id"] == old.id


def test_a_correction_takes_the_place_of_what_it_corrects(engine: Engine, say: Say) -> None:
    old = engine.remember("Anna lives in Lisbon.", tags=("home",))
    new = engine.get(id_in(say("correct", id=old.id, content="Anna lives in Porto.")))
    assert (new.supersedes, new.tags) == ((old.id,), ("home",))
    assert engine.get(old.id).superseded_by == new.id


def test_forgetting_hides_and_can_be_said_again(engine: Engine, say: Say) -> None:
    tea, milk = engine.remember("Anna likes tea."), engine.remember("Anna likes milk.")
    assert say("forget", ids=[tea.id, milk.id, tea.id]).startswith("Forgot 2 memories.")
    assert say("forget", ids=[tea.id]).startswith("Forgot 1 memory.")
    assert engine.list().memories == ()
    engine.restore(tea.id)
    assert [memory.id for memory in engine.list().memories] == [tea.id]


def test_one_id_that_nobody_has_and_nothing_is_forgotten(engine: Engine, fail: Say) -> None:
    tea = engine.remember("Anna likes tea.")
    assert "no memory with the id 'm7'" in fail("forget", ids=[tea.id, "m7"])
    assert len(engine.list().memories) == 1
    assert "no memory with the id 'm7'" in fail("correct", id="m7", content="x")


def test_a_relation_is_noted_once_and_said_again_changes_nothing(engine: Engine, say: Say) -> None:
    engine.entities.relate("Anna", "works_at", "Bank", weight=3)
    assert "known already" in say("relate", subject="anna", relation="works_at", object="BANK")
    assert [each.weight for each in engine.entities.relations()] == [3.0]
    said = engine.remember("Anna joined the bank in May.")
    wanted: dict[str, Any] = {"subject": "Anna", "relation": "works_at", "object": "Bank"}
    later = {**wanted, "memory": said.id, "since": "2026-05-01T00:00:00Z"}
    assert "Noted" in say("relate", **later)
    assert "known already" in say("relate", **later)
    assert [each.asserted_by for each in engine.entities.relations()] == [None, said.id]
    assert "Noted" in say("relate", subject="Zoe", relation="knows", object="Max")


def test_a_word_that_the_graph_needs_itself_is_refused_with_words(fail: Say) -> None:
    said = fail("relate", subject="Anna", relation="mentions", object="Bank")
    assert "a word of your own" in said
    assert said.endswith("Change that and call relate again.")


def test_feedback_is_kept_with_the_recall_it_is_about(engine: Engine, say: Say) -> None:
    tea = engine.remember("Anna likes green tea.")
    found = re.search(r"The recall_id, for feedback, is (\S+)\.", say("recall", question="green tea"))
    assert found is not None
    about = {"recall_id": found[1], "id": tea.id}
    for given in ({"kind": "relevant"}, {"kind": "irrelevant"}, {"kind": "rating", "value": 4}):
        assert say("feedback", **about, **given).startswith("Thank you")
    kept = [each.feedback for each in engine.feedback.list()]
    assert [(each.recall_id, each.memory_id) for each in kept] == [(found[1], tea.id)] * 3
    assert [(each.signal.value, each.rating) for each in kept] == [
        ("relevant", None),
        ("irrelevant", None),
        ("rating", 4),
    ]


def test_feedback_about_nothing_that_was_recalled_is_refused_with_words(engine: Engine, fail: Say) -> None:
    tea = engine.remember("Anna likes green tea.")
    asked = engine.recall("green tea").id
    said = fail("feedback", recall_id="r7", id=tea.id, kind="relevant")
    assert said.endswith("Call recall again, and copy the recall_id that it answers with.")
    assert fail("feedback", recall_id=asked, id="m7", kind="relevant").endswith("call feedback again.")
    for given in ({"kind": "rating"}, {"kind": "relevant", "value": 3}):
        assert "value must be" in fail("feedback", recall_id=asked, id=tea.id, **given)
