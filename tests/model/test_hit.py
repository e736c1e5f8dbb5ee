from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.model import Candidate, Explanation, Hit, InvalidArgument, Memory

TEA = Memory(id="m1", content="I prefer tea.", created_at=datetime(2026, 5, 7, tzinfo=UTC))


def test_a_hit_scores_what_its_explanation_says() -> None:
    why = Explanation.of("sum", "fused", [Explanation.leaf("vector", 0.5), Explanation.leaf("text", 0.25)])
    assert Hit(TEA, why).score == 0.75


def test_a_hit_needs_a_memory_and_a_reason() -> None:
    with pytest.raises(InvalidArgument, match="memory must be a Memory, got 'tea'"):
        Hit("tea", Explanation.leaf("x", 1.0))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"explanation must be an Explanation, got 0\.5"):
        Hit(TEA, 0.5)  # type: ignore[arg-type]


def test_a_candidate_knows_its_leg_rank_and_score() -> None:
    found = Candidate("m1", "vector", rank=0, score=1)
    assert (found.leg, found.rank, found.score) == ("vector", 0, 1.0)
    assert type(found.score) is float


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"id": 1}, "id"),
        ({"leg": None}, "leg"),
        ({"rank": -1}, "rank"),
        ({"rank": 1.0}, "rank"),
        ({"score": float("inf")}, "score"),
    ],
)
def test_a_bad_candidate_is_refused(changes: dict[str, Any], argument: str) -> None:
    values: dict[str, Any] = {"id": "m1", "leg": "vector", "rank": 0, "score": 0.5}
    with pytest.raises(InvalidArgument) as caught:
        Candidate(**values | changes)
    assert caught.value.argument == argument
