import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.decisions import (
    DUPLICATE_COSINE,
    MERGE_COSINE,
    ROUNDING,
    Claim,
    Verdict,
    check_claim,
    decide,
    is_correction,
    learnt_at,
    newest,
    surest,
)
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.model.parameter import parameters_of

DAY = datetime(2026, 5, 7, tzinfo=UTC)


@dataclass(frozen=True)
class Record:
    content: str = "Likes tea"
    category: str = "preference"
    confidence: float = 0.8
    created_at: datetime = DAY
    mentions: int = 1


TEA = Record()
RECORDS = st.builds(
    Record,
    category=st.sampled_from(["preference", "fact", "correction"]),
    confidence=st.integers(0, 20).map(lambda twentieths: twentieths / 20),
    created_at=st.integers(0, 2).map(lambda days: DAY + timedelta(days=days)),
)


def test_the_bounds_of_the_specification() -> None:
    assert (DUPLICATE_COSINE, MERGE_COSINE) == (0.92, 0.90)
    defaults = {parameter.name: parameter.default for parameter in parameters_of(decide)}
    assert defaults == {"threshold": 0.92, "confidence_gap": 0.20}


@pytest.mark.parametrize(
    ("cosine", "verdict"),
    [
        (1.0, Verdict.DUPLICATE),
        (0.92, Verdict.DUPLICATE),
        (0.9199, Verdict.DISTINCT),
        (0.0, Verdict.DISTINCT),
        (-1.0, Verdict.DISTINCT),
    ],
)
def test_duplicates_reach_the_threshold(cosine: float, verdict: Verdict) -> None:
    assert decide(cosine, TEA, replace(TEA)).verdict is verdict


def test_merging_asks_for_less() -> None:
    assert decide(0.90, TEA, TEA).verdict is Verdict.DISTINCT
    assert decide(0.90, TEA, TEA, threshold=MERGE_COSINE).verdict is Verdict.DUPLICATE


def test_different_categories_are_distinct() -> None:
    decision = decide(0.99, TEA, replace(TEA, category="fact"))
    assert decision.verdict is Verdict.DISTINCT
    assert decision.reason == "The categories differ: 'preference' and 'fact'."


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (0.9, 0.7, Verdict.DUPLICATE),
        (0.7, 0.9, Verdict.DUPLICATE),
        (0.3, 0.1, Verdict.DUPLICATE),
        (1.0, 0.8, Verdict.DUPLICATE),
        (0.9, 0.69, Verdict.KEEP_BOTH),
        (0.2, 0.400001, Verdict.KEEP_BOTH),
        (0.0, 1.0, Verdict.KEEP_BOTH),
    ],
)
def test_a_larger_gap_in_confidence_keeps_both(a: float, b: float, verdict: Verdict) -> None:
    assert decide(0.95, replace(TEA, confidence=a), replace(TEA, confidence=b)).verdict is verdict


@pytest.mark.parametrize("twentieths", range(17))
def test_every_decimal_gap_of_a_fifth_counts_as_one(twentieths: int) -> None:
    low, high = twentieths / 20, (twentieths + 4) / 20
    assert (
        decide(0.95, replace(TEA, confidence=low), replace(TEA, confidence=high)).verdict is Verdict.DUPLICATE
    )


def test_a_correction_wins_over_category_and_confidence() -> None:
    correction = Record(category="correction", confidence=0.1, created_at=DAY - timedelta(days=9))
    for pair in ((TEA, correction), (correction, TEA)):
        decision = decide(0.92, *pair)
        assert decision.verdict is Verdict.CORRECTION
        assert decision.winner is correction


def test_a_correction_of_something_else_wins_nothing() -> None:
    decision = decide(0.91, TEA, Record(category="correction"))
    assert decision.verdict is Verdict.DISTINCT
    assert decision.winner is None


def test_of_two_corrections_the_newer_wins() -> None:
    old = Record(category="correction", confidence=1.0)
    new = Record(category="correction", confidence=0.1, created_at=DAY + timedelta(microseconds=1))
    assert decide(0.95, old, new).winner is new
    assert decide(0.95, new, old).winner is new


def test_of_two_corrections_of_one_instant_the_surer_then_the_first_wins() -> None:
    a = Record(category="correction", confidence=0.5)
    surer = replace(a, confidence=0.6)
    assert decide(0.95, a, surer).winner is surer
    assert decide(0.95, a, twin := replace(a)).winner is a
    assert decide(0.95, twin, a).winner is twin


def test_reasons_are_sentences() -> None:
    assert decide(0.5, TEA, TEA).reason == "The cosine of 0.500 is below 0.92."
    assert decide(0.95, TEA, replace(TEA, confidence=0.1)).reason == (
        "They say the same, but the confidences are 0.70 apart, more than 0.2."
    )
    assert (
        decide(0.95, TEA, Record(category="correction")).reason == "A correction wins over what it corrects."
    )


@given(st.floats(-1, 1) | st.just(0.92), RECORDS, RECORDS)
def test_the_rules_one_by_one(cosine: float, a: Record, b: Record) -> None:
    decision = decide(cosine, a, b)
    twentieths = abs(round(a.confidence * 20) - round(b.confidence * 20))
    if cosine < 0.92 and not math.isclose(cosine, 0.92, abs_tol=1e-9):
        expected = Verdict.DISTINCT
    elif "correction" in (a.category, b.category):
        expected = Verdict.CORRECTION
    elif a.category != b.category:
        expected = Verdict.DISTINCT
    else:
        expected = Verdict.DUPLICATE if twentieths <= 4 else Verdict.KEEP_BOTH
    assert decision.verdict is expected
    assert decide(cosine, b, a).verdict is expected
    assert (decision.winner is not None) == (expected is Verdict.CORRECTION)
    assert decision.reason.endswith(".")


def test_the_rounding_of_float32_is_forgiven() -> None:
    assert decide(float(np.nextafter(np.float32(1), np.float32(2))), TEA, TEA).verdict is Verdict.DUPLICATE


def test_the_caller_can_move_the_bounds() -> None:
    unsure = replace(TEA, confidence=0.3)
    assert decide(0.95, TEA, unsure, confidence_gap=0.5).verdict is Verdict.DUPLICATE
    assert decide(0.95, TEA, TEA, threshold=0.96).verdict is Verdict.DISTINCT
    assert decide(0.95, TEA, TEA, confidence_gap=0).verdict is Verdict.DUPLICATE


@pytest.mark.parametrize("bad", [1.01, -1.01, math.nan, math.inf, "0.9", None, True])
def test_cosines_are_cosines(bad: float) -> None:
    with pytest.raises(InvalidArgument, match="cosine must be"):
        decide(bad, TEA, TEA)
    with pytest.raises(InvalidArgument, match="threshold must be"):
        decide(0.9, TEA, TEA, threshold=bad)
    with pytest.raises(InvalidArgument, match="confidence_gap must be"):
        decide(0.9, TEA, TEA, confidence_gap=bad)


def test_both_claims_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"a\.confidence must be"):
        decide(0.1, replace(TEA, confidence=2), TEA)
    with pytest.raises(InvalidArgument, match=r"b\.created_at must be"):
        decide(0.1, TEA, replace(TEA, created_at=datetime(2026, 5, 7)))


@dataclass(frozen=True)
class LooseRecord:
    content: str = "Likes tea"
    category: str = "preference"
    confidence: float = 0.5
    created_at: datetime = DAY
    mentions: int = 1


def test_a_memory_is_a_claim() -> None:
    memory: Claim = Memory(id="m1", content="Likes tea", created_at=DAY)
    check_claim("memory", memory)


def test_only_the_category_makes_a_correction() -> None:
    assert is_correction(LooseRecord(category="correction"))
    assert not is_correction(LooseRecord(content="A correction"))


def test_the_surest_then_newest_then_most_mentioned_then_first() -> None:
    base = LooseRecord()
    later = replace(base, created_at=DAY + timedelta(seconds=1))
    sure = replace(base, confidence=0.6)
    often = replace(base, mentions=2)
    assert surest([base, later, often, sure]) is sure
    assert surest([base, later, often]) is later
    assert surest([base, often]) is often
    assert surest([base, twin := replace(base)]) is base
    assert surest([twin, base]) is twin


def test_the_newest_then_surest_then_most_mentioned_then_first() -> None:
    base = LooseRecord()
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
    before = LooseRecord(created_at=datetime(2026, 10, 25, 2, 50, tzinfo=rome))
    after = LooseRecord(created_at=datetime(2026, 10, 25, 2, 10, fold=1, tzinfo=rome))
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
        ("created_at", "yesterday"),
        ("mentions", -1),
        ("mentions", 1.0),
    ],
)
def test_a_claim_with_an_unusable_value_is_refused_by_its_name(attribute: str, value: object) -> None:
    with pytest.raises(InvalidArgument, match=rf"a\.{attribute} must be"):
        check_claim("a", replace(LooseRecord(), **{attribute: value}))  # type: ignore[arg-type]


def test_decimal_differences_that_floats_overshoot_are_within_it() -> None:
    gap = 0.9 - 0.7
    assert gap > 0.2
    assert gap <= 0.2 + ROUNDING


def test_a_difference_that_anyone_would_print_is_not_rounding() -> None:
    gap = 0.900001 - 0.7
    assert gap > 0.2 + ROUNDING
