from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memorata.model import InvalidArgument, Period

DAY = datetime(2026, 5, 7, tzinfo=UTC)


def test_a_period_is_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    period = Period(datetime(2026, 5, 7, 9, tzinfo=tokyo), datetime(2026, 5, 8, 9, tzinfo=tokyo))
    assert (period.start, period.end) == (DAY, DAY + timedelta(days=1))
    assert period.start.tzinfo is UTC
    assert period.tolerance == timedelta(0)


def test_around_one_instant() -> None:
    assert Period.around(DAY, timedelta(days=2)) == Period(DAY, DAY, timedelta(days=2))


@pytest.mark.parametrize(
    ("values", "argument"),
    [
        ((DAY, DAY - timedelta(microseconds=1)), "end"),
        ((datetime(2026, 5, 7), DAY), "start"),
        ((DAY, None), "end"),
        ((DAY, DAY, timedelta(seconds=-1)), "tolerance"),
        ((DAY, DAY, 2), "tolerance"),
    ],
)
def test_a_bad_period_is_refused(values: tuple[Any, ...], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Period(*values)
    assert caught.value.argument == argument
