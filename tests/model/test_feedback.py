from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.model import Feedback, InvalidArgument, Signal

DAY = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize("signal", [signal for signal in Signal if signal is not Signal.RATING])
def test_a_signal_speaks_for_itself(signal: Signal) -> None:
    assert Feedback("r1", "m1", signal, DAY).rating is None
    with pytest.raises(InvalidArgument, match=f"rating must be None for a {signal.value}, got 3"):
        Feedback("r1", "m1", signal, DAY, rating=3)


def test_a_rating_runs_from_1_to_5() -> None:
    assert [Feedback("r1", "m1", Signal.RATING, DAY, rating=stars).rating for stars in (1, 5)] == [1, 5]


@pytest.mark.parametrize("rating", [None, 0, 6, 2.5, True, "4"])
def test_any_other_rating_is_refused(rating: Any) -> None:
    with pytest.raises(InvalidArgument, match="rating must be a whole number from 1 to 5"):
        Feedback("r1", "m1", Signal.RATING, DAY, rating=rating)


def test_a_signal_may_be_given_by_name() -> None:
    assert Feedback("r1", "m1", "click", DAY).signal is Signal.CLICK  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"recall_id": 1}, "recall_id"),
        ({"memory_id": "m 1"}, "memory_id"),
        ({"signal": "clap"}, "signal"),
        ({"given_at": datetime(2026, 5, 7)}, "given_at"),
    ],
)
def test_a_bad_feedback_is_refused(changes: dict[str, Any], argument: str) -> None:
    values: dict[str, Any] = {"recall_id": "r1", "memory_id": "m1", "signal": Signal.CLICK, "given_at": DAY}
    with pytest.raises(InvalidArgument) as caught:
        Feedback(**values | changes)
    assert caught.value.argument == argument
