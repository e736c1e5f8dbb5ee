"""Leases in a file: time is what the caller says, and a lease that ran out is anybody's."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memorata.model.errors import LeaseLost
from memorata.store.dialects import SqliteStore

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "m.db", durable=False)) as opened:
        yield opened


def test_it_runs_out_at_its_moment_and_not_before(store: SqliteStore) -> None:
    first = store.leases.acquire("tune", "acme", "first", 60, NOW)
    assert first is not None
    assert first.until == NOW + MINUTE
    just_before = NOW + MINUTE - timedelta(microseconds=1)
    assert store.leases.acquire("tune", "acme", "second", 60, just_before) is None
    second = store.leases.acquire("tune", "acme", "second", 60, NOW + MINUTE)
    assert second is not None
    assert second.number > first.number


def test_a_number_is_never_given_out_again(store: SqliteStore) -> None:
    """Else one who was slow could renew, or give back, what another holds."""
    numbers = []
    for _ in range(3):
        lease = store.leases.acquire("tune", "acme", "worker", 60, NOW)
        assert lease is not None
        numbers.append(lease.number)
        store.leases.release(lease)
    assert len(set(numbers)) == 3


def test_one_who_was_taken_over_writes_nothing_more(store: SqliteStore, tmp_path: Path) -> None:
    slow = store.leases.acquire("tune", "acme", "slow", 60, NOW)
    assert slow is not None
    with closing(SqliteStore(tmp_path / "m.db", durable=False)) as other:
        assert other.leases.acquire("tune", "acme", "quick", 60, NOW + MINUTE) is not None
    with store.leases.fenced(slow, 60, lambda: NOW + MINUTE), pytest.raises(LeaseLost, match="slow"):
        store.remember_setting("x", "1")
    assert store.setting("x") is None
    store.leases.release(slow)
    assert [lease.holder for lease in store.leases.list()] == ["quick"]


def test_a_write_under_it_renews_it_by_the_clock_of_that_moment(store: SqliteStore) -> None:
    lease = store.leases.acquire("tune", "acme", "worker", 60, NOW)
    assert lease is not None
    with store.leases.fenced(lease, 60, lambda: NOW + 5 * MINUTE):
        store.remember_setting("x", "1")
    assert [each.until for each in store.leases.list()] == [NOW + 6 * MINUTE]
