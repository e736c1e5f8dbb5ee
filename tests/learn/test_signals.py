from datetime import UTC, datetime, timedelta

import pytest

from memorata.learn.signals import relevance
from memorata.model.feedback import Feedback, Signal

NOON = datetime(2026, 5, 7, 12, tzinfo=UTC)


def said(signal: Signal, *, hours: int = 0, rating: int | None = None) -> Feedback:
    return Feedback("r", "m", signal, NOON + timedelta(hours=hours), rating=rating)


@pytest.mark.parametrize(
    ("signal", "expected"),
    [
        (Signal.THUMBS_UP, True),
        (Signal.RELEVANT, True),
        (Signal.CLICK, True),
        (Signal.THUMBS_DOWN, False),
        (Signal.IRRELEVANT, False),
    ],
)
def test_what_each_signal_says(signal: Signal, expected: bool) -> None:
    assert relevance([said(signal)]) is expected


@pytest.mark.parametrize(("rating", "expected"), [(1, False), (2, False), (3, None), (4, True), (5, True)])
def test_what_each_rating_says(rating: int, expected: bool | None) -> None:
    assert relevance([said(Signal.RATING, rating=rating)]) is expected


def test_nothing_said_says_nothing() -> None:
    assert relevance([]) is None


def test_the_latest_opinion_counts_in_whatever_order_they_come() -> None:
    both = [said(Signal.THUMBS_UP), said(Signal.THUMBS_DOWN, hours=1)]
    assert relevance(both) is False
    assert relevance(both[::-1]) is False


def test_a_click_never_outvotes_an_opinion_nor_does_a_three() -> None:
    assert relevance([said(Signal.IRRELEVANT), said(Signal.CLICK, hours=1)]) is False
    assert relevance([said(Signal.CLICK), said(Signal.RATING, hours=1, rating=3)]) is True
