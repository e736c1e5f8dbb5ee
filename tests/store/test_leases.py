"""Leases: who does some work; what runs out here does so after two tenths of a second of real time."""

import threading
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime
from time import sleep

import pytest

from memorata.model.errors import LeaseLost
from memorata.store.leases import EVERYWHERE, Lease
from memorata.store.store import Store

_SHORT = 0.2
_LONG = 60.0


def _now() -> datetime:
    return datetime.now(UTC)


def _taken(store: Store, holder: str, seconds: float = _LONG, namespace: str = "acme") -> Lease:
    lease = store.leases.acquire("maintain", namespace, holder, seconds, _now())
    assert lease is not None
    return lease


def test_a_lease_is_given_to_one_worker_at_a_time(store: Store) -> None:
    """Check who gets it, and that other work and other namespaces are not in its way."""
    lease = _taken(store, "first")
    assert (lease.kind, lease.namespace, lease.holder) == ("maintain", "acme", "first")
    assert _now() < lease.until
    assert store.leases.acquire("maintain", "acme", "second", _LONG, _now()) is None
    assert store.leases.acquire("maintain", "acme", "first", _LONG, _now()) is None
    others = [
        store.leases.acquire("tune", "acme", "second", _LONG, _now()),
        store.leases.acquire("maintain", "acme/alice", "second", _LONG, _now()),
        store.leases.acquire("maintain", EVERYWHERE, "second", _LONG, _now()),
    ]
    assert [each.namespace for each in others if each] == ["acme", "acme/alice", EVERYWHERE]
    assert store.leases.list() == [lease, *others]


def test_what_is_released_can_be_had_again_under_another_number(store: Store) -> None:
    """Check release, and that numbers only grow."""
    lease = _taken(store, "first")
    store.leases.release(lease)
    assert store.leases.list() == []
    again = _taken(store, "second")
    assert again.number > lease.number
    # Whoever had it before cannot give away what is another's.
    store.leases.release(lease)
    assert store.leases.list() == [again]


def test_what_has_run_out_is_taken_over(store: Store) -> None:
    """Check that the worker of before can neither renew nor write."""
    lease = _taken(store, "first", _SHORT)
    assert store.leases.acquire("maintain", "acme", "second", _LONG, _now()) is None
    sleep(1.5 * _SHORT)
    taken = _taken(store, "second")
    assert taken.number > lease.number
    with pytest.raises(LeaseLost, match="'maintain' of 'acme' was taken from first"):
        store.leases.renew(lease, _LONG, _now())
    with store.leases.fenced(lease, _LONG, _now), pytest.raises(LeaseLost):
        store.remember_setting("written by", "first")
    assert store.setting("written by") is None
    assert store.leases.list() == [taken]


def test_what_has_run_out_and_nobody_wanted_is_renewed(store: Store) -> None:
    """Check that a slow worker goes on if nobody was there to take over."""
    lease = _taken(store, "first", _SHORT)
    sleep(1.5 * _SHORT)
    renewed = store.leases.renew(lease, _LONG, _now())
    assert (renewed.number, renewed.holder) == (lease.number, "first")
    assert renewed.until > lease.until
    assert store.leases.acquire("maintain", "acme", "second", _LONG, _now()) is None


def test_a_write_under_a_lease_renews_it(store: Store) -> None:
    """Check that each write does, and that many writes made one do once."""
    lease = _taken(store, "first", _SHORT)
    with store.leases.fenced(lease, _LONG, _now):
        store.remember_setting("written by", "first")
    assert store.leases.list()[0].until > lease.until
    before = store.leases.list()[0].until
    with store.leases.fenced(lease, 2 * _LONG, _now), store.together():
        store.remember_setting("written by", "me")
        store.remember_setting("written by", "me again")
    assert store.leases.list()[0].until > before
    assert store.setting("written by") == "me again"


def test_work_inside_other_work_needs_both_leases(store: Store) -> None:
    """Check that the outer lease holds writes of the inner work back, too."""
    outer, inner = _taken(store, "first", namespace="a"), _taken(store, "first", namespace="b")
    with store.leases.fenced(outer, _LONG, _now), store.leases.fenced(inner, _LONG, _now):
        store.remember_setting("x", "1")
    store.leases.release(outer)
    with (
        store.leases.fenced(outer, _LONG, _now),
        store.leases.fenced(inner, _LONG, _now),
        pytest.raises(LeaseLost),
    ):
        store.remember_setting("x", "2")
    assert store.setting("x") == "1"


def test_a_fence_is_for_one_thread_and_one_block(store: Store) -> None:
    """Check that others write as they please."""
    lease = _taken(store, "first")
    store.leases.release(lease)
    with store.leases.fenced(lease, _LONG, _now):
        other = threading.Thread(target=store.remember_setting, args=("x", "1"))
        other.start()
        other.join()
    store.remember_setting("y", "2")
    assert (store.setting("x"), store.setting("y")) == ("1", "2")


def test_of_many_who_ask_at_once_one_gets_it(store: Store) -> None:
    """Check that it is given out once, when it is new and when it has run out."""
    for _ in range(2):
        got: list[Lease | None] = []
        ready = threading.Barrier(4)

        def ask(got: list[Lease | None] = got, ready: threading.Barrier = ready) -> None:
            ready.wait()
            got.append(store.leases.acquire("tune", "acme", "one of four", _SHORT, _now()))

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len([lease for lease in got if lease is not None]) == 1
        sleep(1.5 * _SHORT)


def test_a_namespace_that_is_purged_takes_its_leases_along(store: Store) -> None:
    """Check that nothing is left that names it, and that whoever worked on it stops."""
    from memorata.testing.samples import HERE, entry

    store.add([entry("a", "tea")])
    lease = _taken(store, "first", namespace=HERE)
    store.purge_namespace(HERE)
    assert store.leases.list() == []
    with pytest.raises(LeaseLost):
        store.leases.renew(lease, _LONG, _now())


def test_a_lease_is_a_value() -> None:
    until = datetime(2026, 5, 7, tzinfo=UTC)
    lease = Lease("maintain", EVERYWHERE, "kite, process 7", 3, until)
    assert lease == Lease("maintain", "*", "kite, process 7", 3, until)
    with pytest.raises(FrozenInstanceError):
        lease.number = 4  # type: ignore[misc]
