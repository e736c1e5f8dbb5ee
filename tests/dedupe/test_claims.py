from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memorata.dedupe import Claim
from memorata.dedupe.claims import check_claim, is_correction, learnt_at, newest, surest
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory

DAY = datetime(2026, 5, 7, tzinfo=UTC)


@dataclass(frozen=True)
class Record:
    content: str = "Likes tea"
    category: str = "preference"
    confidence: float = 0.5
    created_at: datetime = DAY
    mentions: int = 1


def test_a_memory_is_a_claim() -> None:
    memory: Claim = Memory(id="m1", content="Likes tea", created_at=DAY)
    check_claim("memory", memory)


def test_only_the_category_makes_a_correction() -> None:
    assert is_correction(Record(category="correction"))
    assert not is_correction(Record(content="A correction"))


def test_the_surest_then_newest_then_most_mentioned_then_first() -> None:
    base = Record()
    later = replace(base, created_at=DAY + timedelta(seconds=1))
    sure = replace(base, confidence=0.6)
    often = replace(base, mentions=2)
    assert surest([base, later, often, sure]) is sure
    assert surest([base, later, often]) is later
    assert surest([base, often]) is often
    assert surest([base, twin := replace(base)]) is base
    assert surest([twin, base]) is twin


def test_the_newest_then_surest_then_most_mentioned_then_first() -> None:
    base = Record()
    later = replace(base, created_at=DAY + timedelta(seconds=1))
    sure = replace(base, confidence=0.6)
    often = replace(base, mentions=2)
    assert newest([base, sure, often, later]) is later
    assert newest([base, often, sure]) is sure
    assert newest([base, often]) is often
    assert newest([base, twin := replace(base)]) is base
    assert newest([twin, base]) is twin


def test_time_is_compared_as_instants_not_as_wall_clocks() -> None:
    # When the clocks go back, 02:10 after the change comes later than 02:50 before it.
    rome = ZoneInfo("Europe/Rome")
    before = Record(created_at=datetime(2026, 10, 25, 2, 50, tzinfo=rome))
    after = Record(created_at=datetime(2026, 10, 25, 2, 10, fold=1, tzinfo=rome))
    assert learnt_at(after) - learnt_at(before) == timedelta(minutes=20)
    assert newest([before, after]) is after
    assert newest([after, before]) is after


@pytest.mark.parametrize("claim", [None, "Likes tea", 3, {"content": "Likes tea"}, DAY])
def test_what_is_not_a_claim(claim: Claim) -> None:
    with pytest.raises(
        InvalidArgument, match=r"a must be a claim \(content, category, confidence, created_at"
    ):
        check_claim("a", claim)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("content", None),
        ("content", b"Likes tea"),
        ("category", 3),
        ("confidence", 1.01),
        ("confidence", -0.01),
        ("confidence", float("nan")),
        ("confidence", "0.5"),
        ("confidence", True),
        ("created_at", datetime(2026, 5, 7)),
        ("created_at", "2026-05-07"),
        ("mentions", -1),
        ("mentions", 1.0),
    ],
)
def test_a_claim_with_an_unusable_value_is_refused_by_its_name(attribute: str, value: object) -> None:
    with pytest.raises(InvalidArgument, match=rf"a\.{attribute} must be"):
        check_claim("a", replace(Record(), **{attribute: value}))  # type: ignore[arg-type]
