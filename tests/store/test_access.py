from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memorata.store.access import ApiKey

NOW = datetime(2026, 5, 7, tzinfo=UTC)
DAY = timedelta(days=1)
KEY = ApiKey("k1", "mine", b"secret digest", ("acme/*",), ("read",), NOW)


@pytest.mark.parametrize(
    ("key", "good"),
    [
        (KEY, True),
        (replace(KEY, expires_at=NOW + DAY), True),
        (replace(KEY, expires_at=NOW), False),
        (replace(KEY, revoked_at=NOW - DAY), False),
        (replace(KEY, expires_at=NOW + DAY, revoked_at=NOW), False),
    ],
)
def test_a_key_is_good_until_it_expires_or_is_revoked(key: ApiKey, good: bool) -> None:
    assert key.holds_at(NOW) is good


def test_a_digest_is_not_shown() -> None:
    assert "secret" not in repr(KEY)
