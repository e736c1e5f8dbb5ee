"""Rules are declared numbers; what they say can be worked out by hand."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine.rules import DEFAULT_RULES, RULES, LifecycleRules
from memorata.index.record import packed, unpacked
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Tier
from memorata.rank.decay import decayed

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def memory(**fields: Any) -> Memory:
    usual: dict[str, Any] = {"id": "m1", "content": "Milk is in the fridge", "created_at": NOW}
    return Memory(**(usual | fields))


def test_every_rule_is_declared_with_its_range() -> None:
    assert {rule.name for rule in RULES} == set(DEFAULT_RULES.as_dict())
    assert all(rule.doc and rule.low is not None and rule.high is not None for rule in RULES)


@pytest.mark.parametrize(
    ("fields", "days", "spent"),
    [
        ({"tier": "working"}, 7, False),
        ({"tier": "working"}, 7.1, True),
        ({"tier": "working", "pinned": True}, 100, False),
        ({"tier": "working", "last_accessed_at": NOW + 5 * DAY}, 11, False),
        ({"tier": "working", "supported_at": NOW + 5 * DAY}, 12.1, True),
        ({"tier": "episodic"}, 3000, False),
        ({"tier": "semantic"}, 3000, False),
        ({"tier": "procedural"}, 3000, False),
        ({"tier": "semantic", "expires_at": NOW + DAY}, 0.9, False),
        ({"tier": "semantic", "expires_at": NOW + DAY}, 1, True),
        ({"tier": "semantic", "expires_at": NOW + DAY, "pinned": True}, 1, False),
    ],
)
def test_what_has_had_its_time(fields: dict[str, Any], days: float, spent: bool) -> None:
    assert DEFAULT_RULES.is_spent(memory(**fields), NOW + days * DAY) is spent


def test_times_to_live_can_be_chosen_and_switched_off() -> None:
    later = NOW + 30 * DAY
    assert not LifecycleRules(working_days=0).is_spent(memory(tier="working"), later)
    assert LifecycleRules(episodic_days=29).is_spent(memory(tier="episodic"), later)


@pytest.mark.parametrize(
    ("fields", "days", "tier"),
    [
        ({"tier": "working", "access_count": 1}, 0, "working"),
        ({"tier": "working", "access_count": 2}, 0, "episodic"),
        ({"tier": "working", "access_count": 9}, 0, "episodic"),
        ({"tier": "working", "access_count": 9, "pinned": True}, 0, "working"),
        ({"tier": "episodic", "access_count": 4, "mentions": 2}, 0, "episodic"),
        ({"tier": "episodic", "access_count": 5}, 0, "semantic"),
        ({"tier": "episodic", "mentions": 3}, 0, "semantic"),
        ({"tier": "semantic", "importance": 0.2}, 180, "semantic"),
        ({"tier": "semantic", "importance": 0.2}, 181, "episodic"),
        ({"tier": "semantic", "importance": 0.3}, 999, "semantic"),
        ({"tier": "semantic", "importance": 0.2, "access_count": 1}, 999, "semantic"),
        ({"tier": "semantic", "importance": 0.2, "mentions": 2}, 999, "semantic"),
        ({"tier": "semantic", "importance": 0.2, "pinned": True}, 999, "semantic"),
        ({"tier": "semantic", "importance": 0.2, "supported_at": NOW + 900 * DAY}, 999, "semantic"),
        ({"tier": "procedural", "importance": 0.0}, 999, "procedural"),
    ],
)
def test_what_rises_and_what_sinks(fields: dict[str, Any], days: float, tier: str) -> None:
    assert DEFAULT_RULES.next_tier(memory(**fields), NOW + days * DAY) is Tier(tier)


def test_rules_can_be_switched_off() -> None:
    still = LifecycleRules(working_uses=0, episodic_uses=0, episodic_mentions=0, demotion_days=0)
    for tier in Tier:
        used = memory(tier=tier, access_count=99, mentions=99)
        minor = memory(tier=tier, importance=0.0)
        assert still.next_tier(used, NOW) is still.next_tier(minor, NOW + 3000 * DAY) is tier


def test_confidence_stays_unless_it_is_asked_to_wear() -> None:
    assert DEFAULT_RULES.confidence(memory(confidence=0.9), NOW + 1000 * DAY) == 0.9


@given(
    st.floats(0, 1), st.integers(-10, 2000), st.none() | st.integers(0, 500), st.booleans(),
    st.floats(0, 1), st.floats(0, 1),
)  # fmt: skip
def test_a_recall_counts_the_confidence_that_anybody_reads(
    sure: float, days: int, supported: int | None, pinned: bool, loss: float, floor: float
) -> None:
    rules = LifecycleRules(confidence_loss=loss, confidence_floor=floor)
    said = memory(
        confidence=sure, pinned=pinned, supported_at=None if supported is None else NOW + supported * DAY
    )
    now = NOW + days * DAY
    record = unpacked([packed(said, state=0, session=-1, vectors=0, superseded_at=None, lengths={})])
    alone = rules.confidence(said, now)
    assert rules.aged(record, now)["confidence"].tolist() == [alone]
    age = (now - (said.supported_at or NOW)) / timedelta(days=1)
    expected = sure if pinned else float(decayed([sure], [age], weekly_loss=loss, floor=floor)[0])
    assert alone == pytest.approx(expected, abs=1e-9)


def test_where_nothing_wears_records_are_not_even_copied() -> None:
    records = unpacked([packed(memory(), state=0, session=-1, vectors=0, superseded_at=None, lengths={})])
    assert DEFAULT_RULES.aged(records, NOW) is records
    assert LifecycleRules(confidence_loss=0.1).aged(records[:0], NOW).size == 0
    assert np.array_equal(
        LifecycleRules(confidence_loss=0.1).aged(records, NOW)["created"], records["created"]
    )


def test_bad_rules_are_refused_by_name() -> None:
    assert (
        LifecycleRules.of(None) == DEFAULT_RULES == LifecycleRules.of({}) == LifecycleRules.of(DEFAULT_RULES)
    )
    for bad in (
        {"working_days": -1},
        {"working_uses": 1.5},
        {"confidence_loss": float("nan")},
        {"colour": 1},
    ):
        with pytest.raises(InvalidArgument, match=next(iter(bad)) if "colour" not in bad else "life"):
            LifecycleRules.of(bad)
    with pytest.raises(InvalidArgument, match="life"):
        LifecycleRules.of("long")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="summary_sources"):
        replace(DEFAULT_RULES, summary_sources=1)
