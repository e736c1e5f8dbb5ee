"""A lease says who does what."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest

from memorata.store.leases import EVERYWHERE, Lease


def test_a_lease_is_a_value() -> None:
    until = datetime(2026, 5, 7, tzinfo=UTC)
    lease = Lease("maintain", EVERYWHERE, "kite, process 7", 3, until)
    assert lease == Lease("maintain", "*", "kite, process 7", 3, until)
    with pytest.raises(FrozenInstanceError):
        lease.number = 4  # type: ignore[misc]
