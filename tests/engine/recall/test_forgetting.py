"""A forgetting curve is a prior: it divides what the question leaves equal; what is pinned does not fade."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memorata
from memorata.engine.recall.ranking import retention
from memorata.engine.recipes import RECIPES, Recipe
from memorata.index.record import packed, unpacked
from memorata.model.memory import Memory

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def left(fading: str, days: float, **fields: Any) -> float:
    recipe = Recipe(name="x", fading=fading, fading_days=30)
    said = Memory(id="m", content="tea", created_at=NOW - days * DAY, **fields)
    records = unpacked([packed(said, state=0, session=-1, vectors=0, superseded_at=None, lengths={})])
    return float(retention(recipe, records, NOW.timestamp())[0])


@pytest.mark.parametrize(
    ("fading", "days", "fields", "expected"),
    [
        ("half_life", 0, {}, 1.0),
        ("half_life", 30, {}, 0.5),
        ("half_life", 60, {}, 0.25),
        # With a use the half-life is 30 · (1 + ln 2) days.
        ("half_life", 30, {"access_count": 1}, 0.5 ** (1 / 1.6931471805599454)),
        ("half_life", -5, {}, 1.0),
        ("half_life", 300, {"pinned": True}, 1.0),
        ("linear", 15, {}, 0.5),
        ("linear", 31, {}, 0.0),
        # Importance 0.5 is 3 of 5; λ = 0.05 / 9.
        ("importance", 1, {"importance": 0.5}, 0.8751733190429475),
        # A working memory is a passing remark, and fades five times as fast.
        ("importance", 1, {"importance": 0.5, "tier": "working"}, 0.8751733190429475**5),
        # The most important never fades.
        ("importance", 3000, {"importance": 1.0}, 1.0),
    ],
)
def test_what_is_left(fading: str, days: float, fields: dict[str, Any], expected: float) -> None:
    assert left(fading, days, **fields) == pytest.approx(expected)


def test_no_shipped_recipe_fades() -> None:
    assert {recipe.fading for recipe in RECIPES.values()} == {"none"}


def test_of_two_alike_the_newer_or_the_used_comes_first_and_the_score_says_why() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        for id_, days, uses, pinned in (
            ("old", 90, 0, False),
            ("new", 1, 0, False),
            ("used", 90, 9, False),
            ("kept", 90, 0, True),
        ):
            memory.remember(
                f"Anna likes tea {id_}", id=id_, created_at=NOW - days * DAY, access_count=uses, pinned=pinned
            )
        changes = {
            "fading": "half_life",
            "fading_weight": 1.0,
            "quality": "none",
            "temporal": "none",
            "graph": "none",
        }
        faded = memory.recall("does Anna like tea?", recipe=changes)
        assert [hit.memory.id for hit in faded] == ["kept", "new", "used", "old"]
        why = faded.hits[-1].explanation
        assert why.value == faded.hits[-1].score
        assert "what time has left" in str(why.as_dict())
        plain = memory.recall("does Anna like tea?", recipe=changes | {"fading_weight": 0.0})
        assert len({round(hit.score, 12) for hit in plain}) == 1
