from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memorata.engine.access import FRESH_SECONDS, LOCAL, SCOPES, Access, ApiKeys, matches, namespace_pattern
from memorata.model.errors import AccessDenied, InvalidArgument, NotAdmitted
from memorata.store.dialects import SqliteStore

NOW = datetime(2026, 5, 7, tzinfo=UTC)


class Clock:
    """A clock and a stopwatch that stand still until they are moved."""

    def __init__(self) -> None:
        self.now = NOW
        self.seconds = 0.0

    def __call__(self) -> datetime:
        return self.now

    def ticks(self) -> float:
        return self.seconds


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(store: SqliteStore, clock: Clock) -> ApiKeys:
    return ApiKeys(store, clock=clock, ticks=clock.ticks)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("*", ["acme", "acme/alice", "日本/x"], []),
        ("acme/*", ["acme/alice", "acme/alice/work"], ["acme", "acmecorp", "acmecorp/alice", "bob/acme/x"]),
        ("acme/alice", ["acme/alice"], ["acme", "acme/alice/work", "acme/alicex"]),
    ],
)
def test_a_pattern_stands_for_these(pattern: str, inside: list[str], outside: list[str]) -> None:
    assert namespace_pattern("p", pattern) == pattern
    assert all(matches(pattern, path) for path in inside)
    assert not any(matches(pattern, path) for path in outside)


@pytest.mark.parametrize("bad", ["", "/*", "**", "a/*/b", "a*", "../*", "a//*", " *", None, 3])
def test_what_is_no_pattern_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidArgument, match="p must be"):
        namespace_pattern("p", bad)


def test_each_scope_holds_the_one_before() -> None:
    held = {scope: [s for s in SCOPES if Access("k", ("*",), (scope,)).may(s)] for scope in SCOPES}
    assert held == {"read": ["read"], "write": ["read", "write"], "admin": ["read", "write", "admin"]}
    with pytest.raises(InvalidArgument):
        LOCAL.may("everything")


def test_what_may_not_be_done_is_refused_in_words_that_tell_nothing(store: SqliteStore) -> None:
    access = Access("k", ("acme/*",), ("read",))
    access.require("read", "acme/alice")
    for scope, namespace in (("read", "beta"), ("write", "acme/alice")):
        with pytest.raises(AccessDenied, match=r"this key may not (read|write to) the namespace"):
            access.require(scope, namespace)
    with pytest.raises(AccessDenied, match="for every namespace"):
        access.require_everywhere("read")
    with pytest.raises(AccessDenied):
        Access("k", ("*",), ("read",)).require_everywhere("admin")
    LOCAL.require_everywhere("admin")


def test_a_token_opens_what_its_key_is_for(keys: ApiKeys, store: SqliteStore) -> None:
    key, token = keys.create("mine", ["acme/*", "acme/*", "beta"], ["write", "read"])
    assert keys.authenticate(token) == Access(key.id, ("acme/*", "beta"), ("read", "write"))
    assert keys.list() == (key,)
    _, other = keys.create("mine", ["acme/*"], ["read"])
    assert other != token
    kept = repr(store._connection.execute("SELECT * FROM access_keys").fetchall())
    assert token.rpartition("_")[2] not in kept


def test_a_token_with_a_known_id_and_another_secret_is_refused_as_any_other(keys: ApiKeys) -> None:
    key, token = keys.create("mine", ["*"], ["read"])
    forged = [
        f"mem_{key.id}_{'A' * 43}",
        f"mem_{'0' * 16}_{'A' * 43}",
        token[:-1],
        "",
        "é",
        "\ud800",
        token + " ",
    ]
    said = set()
    for each in forged:
        with pytest.raises(NotAdmitted) as refused:
            keys.authenticate(each)
        said.add(str(refused.value))
    assert len(said) == 1
    assert "this key is not good: it is unknown, revoked or expired" in said.pop()


def test_a_key_ends_when_it_expires(keys: ApiKeys, clock: Clock) -> None:
    _, token = keys.create("mine", ["*"], ["read"], expires_at=NOW + timedelta(hours=1))
    keys.authenticate(token)
    clock.now += timedelta(hours=1)
    with pytest.raises(NotAdmitted):
        keys.authenticate(token)


def test_a_key_that_another_process_revokes_ends_within_two_seconds(
    keys: ApiKeys, store: SqliteStore, clock: Clock
) -> None:
    key, token = keys.create("mine", ["*"], ["read"])
    keys.authenticate(token)
    ApiKeys(store, clock=clock).revoke(key.id)
    keys.authenticate(token)
    clock.seconds += FRESH_SECONDS
    with pytest.raises(NotAdmitted):
        keys.authenticate(token)


def test_a_key_that_is_revoked_here_ends_at_once(keys: ApiKeys) -> None:
    key, token = keys.create("mine", ["*"], ["read"])
    keys.authenticate(token)
    keys.revoke(key.id)
    with pytest.raises(NotAdmitted):
        keys.authenticate(token)
    with pytest.raises(InvalidArgument, match="the id of a key"):
        keys.revoke("nobody")


def test_without_a_token_one_is_let_in_only_where_none_is_needed(store: SqliteStore, keys: ApiKeys) -> None:
    with pytest.raises(NotAdmitted, match="Authorization: Bearer"):
        keys.authenticate(None)
    open_gate = ApiKeys(store, required=False)
    assert open_gate.authenticate(None) == LOCAL
    with pytest.raises(NotAdmitted):
        open_gate.authenticate("mem_wrong")


def test_a_glance_tells_what_the_store_need_not_be_asked_for(
    keys: ApiKeys, store: SqliteStore, clock: Clock
) -> None:
    _, token = keys.create("mine", ["*"], ["read"])
    assert (
        keys.authenticate_cached(None),
        keys.authenticate_cached(token),
        keys.authenticate_cached("x"),
    ) == (None, None, None)
    assert ApiKeys(store, required=False).authenticate_cached(None) == LOCAL
    admitted = keys.authenticate(token)
    store.close()
    assert keys.authenticate_cached(token) == admitted
    with pytest.raises(NotAdmitted):
        keys.authenticate_cached(token[:-1] + ("a" if token[-1] != "a" else "b"))
    clock.seconds += FRESH_SECONDS
    assert keys.authenticate_cached(token) is None


@pytest.mark.parametrize(
    "bad",
    [
        {"name": " "},
        {"name": "x" * 201},
        {"name": "\ud800"},
        {"namespaces": []},
        {"namespaces": "acme"},
        {"namespaces": ["a/../b"]},
        {"scopes": []},
        {"scopes": ["root"]},
        {"expires_at": NOW},
        {"expires_at": datetime(2030, 1, 1)},
    ],
)
def test_a_key_that_makes_no_sense_is_not_made(keys: ApiKeys, bad: dict[str, Any]) -> None:
    given: dict[str, Any] = {"name": "mine", "namespaces": ["acme"], "scopes": ["read"]}
    with pytest.raises(InvalidArgument):
        keys.create(**(given | bad))
    assert keys.list() == ()
