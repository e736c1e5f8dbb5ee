"""Every score explains itself, and the same store, question, recipe and clock give the same hits."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.profile import chosen

import memorata
from memorata.engine.recipes import RECIPES
from memorata.model.entity import Period
from memorata.model.query import When

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
LIMIT = chosen(20, 50)
PEOPLE = ("Anna", "Boris", "Chen", "Dana")
THINGS = ("green tea", "black coffee", "the night train to Lisbon", "a letter", "Monday's meeting", "roses")
QUESTIONS = (
    "what does Anna drink?",
    'who wrote "a letter"?',
    "tea -coffee",
    "Boris Lisbon train night",
    "when is the meeting",
    "completely unrelated zeppelin",
    "roses roses roses",
)
PROGRAM = """
import json, sys
from datetime import datetime
import memorata
path, moment, questions, recipes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
when = memorata.When(now=datetime.fromisoformat(moment))
with memorata.open(path, embedder="lexical", config={"must_exist": True}) as memory:
    answers = [[[hit.memory.id, hit.score.hex()] for hit in memory.recall(each, recipe=name, when=when)]
               for name in recipes for each in questions]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[memorata.Engine]:
    """Four hundred memories of every kind, some corrected, forgotten, expired, repeated or very long."""
    dice = random.Random(11)
    path = tmp_path_factory.mktemp("same") / "m.db"
    with memorata.open(path, embedder="lexical", clock=lambda: NOW, config={"durable": False}) as engine:
        items = []
        for number in range(400):
            said = NOW - timedelta(days=dice.randrange(400), seconds=dice.randrange(9999))
            content = f"{dice.choice(PEOPLE)} said: {dice.choice(THINGS)}, {dice.choice(THINGS)}"
            items.append(
                {
                    "id": f"m{number}",
                    "content": content * dice.choice([1, 1, 1, 40]),
                    "created_at": said,
                    "confidence": dice.choice([0.0, 0.3, 0.75, 1.0]),
                    "importance": dice.random(),
                    "tier": dice.choice(["working", "episodic", "semantic", "procedural"]),
                    "tags": tuple(dice.sample(["drinks", "travel", "post"], dice.randrange(3))),
                    "entities": tuple(dice.sample(PEOPLE, dice.randrange(3))),
                    "access_count": dice.choice([0, 0, 5, 300]),
                    "source": {"speaker": dice.choice(PEOPLE), "session": f"s{dice.randrange(30)}"},
                    "expires_at": dice.choice([None, None, None, NOW - timedelta(days=1)]),
                }
            )
        engine.remember_many(items)
        for number in range(0, 60, 7):
            engine.correct(f"m{number}", f"Anna now prefers {dice.choice(THINGS)}")
        engine.forget("m1", "m2", "m3")
        engine.purge("m4", "m5")
        yield engine


@pytest.mark.untraced
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_an_explanation_is_the_score_to_the_last_bit(memory: memorata.Engine, recipe: str) -> None:
    period = Period(NOW - timedelta(days=30), NOW)
    shown = 0
    for question in QUESTIONS:
        for min_confidence in (None, 0):
            for when in (None, period):
                answer = memory.recall(
                    question,
                    recipe=recipe,
                    limit=LIMIT,
                    when=When(period=when),
                    min_confidence=min_confidence,
                )
                shown += len(answer)
                for hit in answer:
                    # Worked out whenever it is asked for, and that is most of what this test does.
                    explanation = hit.explanation
                    assert explanation.value == hit.score
                    assert explanation.adds_up()
                if answer.rejected is not None:
                    best = answer.rejected.hit
                    assert best.explanation.value == best.score
                    assert answer.rejected.reason
    assert shown


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_explanations_say_the_same_after_the_store_has_changed(memory: memorata.Engine, recipe: str) -> None:
    kept = memory.recall("what does Anna drink?", recipe=recipe, limit=20)
    asked = memory.recall("what does Anna drink?", recipe=recipe, limit=20)
    before = [str(hit.explanation) for hit in asked]
    said = memory.remember_many([f"Anna drinks tea {recipe} {n}" for n in range(5)])
    memory.forget(said[0].id)
    memory.purge(*[each.id for each in said])
    assert [str(hit.explanation) for hit in kept] == before


@pytest.mark.untraced
def test_two_processes_give_the_same_hits_in_the_same_order(memory: memorata.Engine) -> None:
    recipes = sorted(RECIPES)
    arguments = [memory.store.path, NOW.isoformat(), json.dumps(QUESTIONS), json.dumps(recipes)]
    answers = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]
    assert answers[0] == answers[1]
    here = [
        [[hit.memory.id, hit.score.hex()] for hit in memory.recall(each, recipe=name, when=When(now=NOW))]
        for name in recipes
        for each in QUESTIONS
    ]
    assert json.loads(answers[0]) == here


@pytest.mark.untraced
def test_hidden_memories_are_never_recalled(memory: memorata.Engine) -> None:
    hidden = {"m1", "m2", "m3", "m4", "m5", *(f"m{number}" for number in range(0, 60, 7))}
    for recipe in RECIPES:
        for question in QUESTIONS:
            for hit in memory.recall(question, recipe=recipe, limit=100):
                assert hit.memory.id not in hidden
                assert hit.memory.expires_at is None


def test_what_was_believed_before_a_correction_can_be_asked(memory: memorata.Engine) -> None:
    old = memory.get("m7")
    assert old.superseded_by is not None
    then = memory.recall(
        old.content, limit=100, when=When(as_of=NOW - timedelta(seconds=1)), recipe={"deduplicate": False}
    )
    now = memory.recall(old.content, limit=100, recipe={"deduplicate": False})
    assert old.id in [hit.memory.id for hit in then]
    assert old.id not in [hit.memory.id for hit in now]
    assert all(hit.memory.created_at < NOW for hit in then)
    assert old.superseded_by not in [hit.memory.id for hit in then]
