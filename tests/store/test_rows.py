"""Instants come back from a database as they went in, to the microsecond."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import StoreError
from memorata.store.rows import SLOTS, checked_limit, instant, microseconds

times = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])).filter(
    lambda value: 2 <= value.year <= 9998
)


@given(times)
def test_instants_are_exact(value: datetime) -> None:
    assert instant(microseconds(value)) == value


def test_they_are_counted_from_1970() -> None:
    assert microseconds(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)) == 1_000_000
    assert microseconds(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1


def test_the_unknown_stays_unknown() -> None:
    assert microseconds(None) is None
    assert instant(None) is None


def test_what_does_not_fit_is_refused() -> None:
    checked_limit("slots", SLOTS - 1, SLOTS)
    with pytest.raises(StoreError, match="no room for more slots"):
        checked_limit("slots", SLOTS, SLOTS)
