"""Instants as databases keep them: whole microseconds since 1970, exactly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, overload

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


@overload
def microseconds(instant: datetime) -> int: ...
@overload
def microseconds(instant: None) -> None: ...
@overload
def microseconds(instant: datetime | None) -> int | None: ...
def microseconds(instant: datetime | None) -> int | None:
    """Return an instant as whole microseconds since 1970; None stays None."""
    return None if instant is None else (instant - EPOCH) // MICROSECOND


def moment(value: int) -> datetime:
    """Return the instant so many microseconds after 1970.

    Examples
    --------
    >>> moment(1_500_000)
    datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc)
    """
    return EPOCH + timedelta(microseconds=value)


def instant(value: int | None) -> datetime | None:
    """Return the instant of :func:`microseconds`.

    Examples
    --------
    >>> instant(microseconds(datetime(2026, 5, 7, 1, 2, 3, 4, tzinfo=UTC)))
    datetime.datetime(2026, 5, 7, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)
    """
    return None if value is None else moment(value)
