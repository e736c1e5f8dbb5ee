"""A database says when it is full."""

import pytest

from memorata.model.errors import StoreError
from memorata.store.limits import SLOTS, checked_limit


def test_what_does_not_fit_is_refused() -> None:
    checked_limit("slots", SLOTS - 1, SLOTS)
    with pytest.raises(StoreError, match="no room for more slots"):
        checked_limit("slots", SLOTS, SLOTS)
