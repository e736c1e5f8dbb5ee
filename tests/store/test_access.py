"""API keys, and replies to requests with an idempotency key."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.access import ApiKey, Reply
from memorata.store.entries import Entry
from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_HERE, _THERE = "acme/alice", "acme/bob"
_KEY = ApiKey("k1", "Zoë's", b"\0digest\xff", ("acme/*", "日本"), ("read", "write"), _NOW)
_REPLY = Reply("k1", "first", _HERE, b"\0asked\xff", 201, b'{"id":"m1"}\xff', _NOW)


DAY = timedelta(days=1)


def test_a_key_comes_back_as_it_was(store: Store) -> None:
    """Check every field, the order, and an id that is taken."""
    second = replace(_KEY, id="k2", expires_at=_NOW + timedelta(days=1), namespaces=("*",))
    assert store.keys.list() == []
    assert store.keys.find("k1") is None
    store.keys.add(second)
    store.keys.add(_KEY)
    assert store.keys.list() == [second, _KEY]
    assert store.keys.find("k1") == _KEY
    with pytest.raises(InvalidArgument):
        store.keys.add(replace(_KEY, name="another"))
    assert store.keys.find("k1") == _KEY


def test_a_key_is_revoked_once(store: Store) -> None:
    """Check that the first time counts, and that nobody's key cannot be revoked."""
    store.keys.add(_KEY)
    store.keys.revoke("k1", _NOW + timedelta(hours=1))
    store.keys.revoke("k1", _NOW + timedelta(hours=2))
    assert store.keys.list() == [replace(_KEY, revoked_at=_NOW + timedelta(hours=1))]
    with pytest.raises(InvalidArgument):
        store.keys.revoke("k2", _NOW)


def test_an_answer_is_kept_by_caller_and_name_until_it_is_removed(store: Store) -> None:
    """Check that two callers may use one name, and that what is older than asked goes."""
    other = replace(_REPLY, caller="k2", status=204, body=b"", created_at=_NOW - timedelta(days=1))
    store.replies.save(_REPLY)
    store.replies.save(other)
    assert (store.replies.find("k1", "first"), store.replies.find("k2", "first")) == (_REPLY, other)
    assert store.replies.find("k1", "second") is None
    newer = replace(_REPLY, status=200)
    store.replies.save(newer)
    assert store.replies.find("k1", "first") == newer
    assert store.replies.remove(_NOW) == 1
    assert store.replies.find("k2", "first") is None
    assert store.replies.find("k1", "first") == newer


def test_a_purge_empties_the_answers_of_its_namespace(store: Store) -> None:
    """Check that what they said is gone, and that they were given is not."""
    store.add([Entry(Memory(id="m1", content="tea", namespace=_HERE, created_at=_NOW), {})])
    elsewhere = replace(_REPLY, key="second", namespace=_THERE)
    store.replies.save(_REPLY)
    store.replies.save(elsewhere)
    store.purge(_HERE, ["m1"])
    assert store.replies.find("k1", "first") == replace(_REPLY, body=None)
    assert store.replies.find("k1", "second") == elsewhere


@pytest.mark.parametrize(
    ("key", "good"),
    [
        (_KEY, True),
        (replace(_KEY, expires_at=_NOW + DAY), True),
        (replace(_KEY, expires_at=_NOW), False),
        (replace(_KEY, revoked_at=_NOW - DAY), False),
        (replace(_KEY, expires_at=_NOW + DAY, revoked_at=_NOW), False),
    ],
)
def test_a_key_is_good_until_it_expires_or_is_revoked(key: ApiKey, good: bool) -> None:
    assert key.holds_at(_NOW) is good


def test_a_digest_is_not_shown() -> None:
    assert "secret" not in repr(_KEY)
