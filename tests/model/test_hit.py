from datetime import UTC, datetime

import pytest

from memorata.model import Explanation, Hit, InvalidArgument, Memory

TEA = Memory(id="m1", content="I prefer tea.", created_at=datetime(2026, 5, 7, tzinfo=UTC))


def test_a_hit_explains_its_score_when_asked() -> None:
    why = Explanation.of("sum", "fused", [Explanation.leaf("vector", 0.5), Explanation.leaf("text", 0.25)])
    asked = []

    def explain() -> Explanation:
        asked.append(True)
        return why

    hit = Hit(TEA, 0.75, explain)
    assert not asked
    assert hit.explanation is why
    assert asked == [True]


def test_an_explanation_of_another_score_is_never_shown() -> None:
    with pytest.raises(
        InvalidArgument, match=r"explanation must be of the score it explains, 0\.5, got 0\.75"
    ):
        _ = Hit(TEA, 0.5, lambda: Explanation.leaf("x", 0.75)).explanation


def test_a_hit_needs_a_memory_and_a_score() -> None:
    with pytest.raises(InvalidArgument, match="memory must be a Memory, got 'tea'"):
        Hit("tea", 0.5, lambda: Explanation.leaf("x", 0.5))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="score must be a finite number, got nan"):
        Hit(TEA, float("nan"), lambda: Explanation.leaf("x", 0.5))


def test_the_id_and_the_text_of_the_memory_are_a_word_away() -> None:
    hit = Hit(TEA, 0.5, lambda: Explanation.leaf("x", 0.5))
    assert (hit.id, hit.content) == ("m1", "I prefer tea.")
