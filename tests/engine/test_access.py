from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memorata.engine.access import (
    FRESH_SECONDS,
    LOCAL,
    SCOPES,
    Access,
    Gatekeeper,
    matches,
    namespace_pattern,
)
from memorata.model.errors import AccessDenied, InvalidArgument, NotAdmitted
from memorata.store.sqlite.store import SqliteStore

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
def gate(store: SqliteStore, clock: Clock) -> Gatekeeper:
    return Gatekeeper(store, clock=clock, ticks=clock.ticks)


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


def test_a_token_opens_what_its_key_is_for(gate: Gatekeeper, store: SqliteStore) -> None:
    key, token = gate.create("mine", ["acme/*", "acme/*", "beta"], ["write", "read"])
    assert gate.admit(token) == Access(key.id, ("acme/*", "beta"), ("read", "write"))
    assert gate.keys() == (key,)
    _, other = gate.create("mine", ["acme/*"], ["read"])
    assert other != token
    kept = repr(store._connection.execute("SELECT * FROM access_keys").fetchall())
    assert token.rpartition("_")[2] not in kept


def test_a_token_with_a_known_id_and_another_secret_is_refused_as_any_other(gate: Gatekeeper) -> None:
    key, token = gate.create("mine", ["*"], ["read"])
    forged = [
        f"rcl_{key.id}_{'A' * 43}",
        f"rcl_{'0' * 16}_{'A' * 43}",
        token[:-1],
        "",
        "é",
        "\ud800",
        token + " ",
    ]
    said = set()
    for each in forged:
        with pytest.raises(NotAdmitted) as refused:
            gate.admit(each)
        said.add(str(refused.value))
    assert len(said) == 1
    assert "this key is not good: it is unknown, revoked or expired" in said.pop()


def test_a_key_ends_when_it_expires(gate: Gatekeeper, clock: Clock) -> None:
    _, token = gate.create("mine", ["*"], ["read"], expires_at=NOW + timedelta(hours=1))
    gate.admit(token)
    clock.now += timedelta(hours=1)
    with pytest.raises(NotAdmitted):
        gate.admit(token)


def test_a_key_that_another_process_revokes_ends_within_two_seconds(
    gate: Gatekeeper, store: SqliteStore, clock: Clock
) -> None:
    key, token = gate.create("mine", ["*"], ["read"])
    gate.admit(token)
    Gatekeeper(store, clock=clock).revoke(key.id)
    gate.admit(token)
    clock.seconds += FRESH_SECONDS
    with pytest.raises(NotAdmitted):
        gate.admit(token)


def test_a_key_that_is_revoked_here_ends_at_once(gate: Gatekeeper) -> None:
    key, token = gate.create("mine", ["*"], ["read"])
    gate.admit(token)
    gate.revoke(key.id)
    with pytest.raises(NotAdmitted):
        gate.admit(token)
    with pytest.raises(InvalidArgument, match="the id of a key"):
        gate.revoke("nobody")


def test_without_a_token_one_is_let_in_only_where_none_is_needed(
    store: SqliteStore, gate: Gatekeeper
) -> None:
    with pytest.raises(NotAdmitted, match="Authorization: Bearer"):
        gate.admit(None)
    open_gate = Gatekeeper(store, required=False)
    assert open_gate.admit(None) == LOCAL
    with pytest.raises(NotAdmitted):
        open_gate.admit("rcl_wrong")


def test_a_glance_tells_what_the_store_need_not_be_asked_for(
    gate: Gatekeeper, store: SqliteStore, clock: Clock
) -> None:
    _, token = gate.create("mine", ["*"], ["read"])
    assert (gate.glance(None), gate.glance(token), gate.glance("x")) == (None, None, None)
    assert Gatekeeper(store, required=False).glance(None) == LOCAL
    admitted = gate.admit(token)
    store.close()
    assert gate.glance(token) == admitted
    with pytest.raises(NotAdmitted):
        gate.glance(token[:-1] + ("a" if token[-1] != "a" else "b"))
    clock.seconds += FRESH_SECONDS
    assert gate.glance(token) is None


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
def test_a_key_that_makes_no_sense_is_not_made(gate: Gatekeeper, bad: dict[str, Any]) -> None:
    given: dict[str, Any] = {"name": "mine", "namespaces": ["acme"], "scopes": ["read"]}
    with pytest.raises(InvalidArgument):
        gate.create(**(given | bad))
    assert gate.keys() == ()
