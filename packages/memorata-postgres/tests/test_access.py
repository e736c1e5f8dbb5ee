"""Answers to requests: whoever asks about the same one waits, and whoever asks about another does not."""

import threading
from contextlib import suppress

import pytest

from memorata.store.access import Reply
from memorata.testing.samples import HERE, NOW
from memorata_postgres.store import PostgresStore


def answer(caller: str, key: str) -> Reply:
    return Reply(caller, key, HERE, b"request", 201, b"body", NOW)


@pytest.mark.parametrize(
    ("caller", "key", "waits"), [("me", "k", True), ("me", "j", False), ("you", "k", False)]
)
def test_who_asks_about_a_request_that_is_being_answered_waits_for_the_answer(
    store: PostgresStore, caller: str, key: str, waits: bool
) -> None:
    asked, found = threading.Event(), []

    def other() -> None:
        with store.together():
            asked.set()
            found.append(store.replies.find(caller, key))

    second = threading.Thread(target=other)
    with store.together():
        assert store.replies.find("me", "k") is None
        second.start()
        assert asked.wait(30)
        second.join(0.2 if waits else 30)
        assert second.is_alive() is waits
        store.replies.save(answer("me", "k"))
    second.join(30)
    assert found == [answer("me", "k") if waits else None]


def test_a_look_outside_of_a_write_waits_for_nobody(store: PostgresStore) -> None:
    found: list[object] = []
    with store.together():
        assert store.replies.find("me", "k") is None
        other = threading.Thread(target=lambda: found.append(store.replies.find("me", "k")))
        other.start()
        other.join(30)
    assert found == [None]


def test_what_was_undone_is_counted(store: PostgresStore) -> None:
    before = store.rollbacks
    with suppress(KeyError), store.together():
        store.replies.save(answer("me", "k"))
        raise KeyError
    assert (store.rollbacks, store.replies.find("me", "k")) == (before + 1, None)


def test_a_purge_empties_answers_and_keeps_that_they_were_given(store: PostgresStore) -> None:
    store.replies.save(answer("me", "k"))
    store.entities.describe(HERE, "Anna")
    store.purge(HERE, [], ["Anna"])
    left = store.replies.find("me", "k")
    assert left is not None
    assert (left.status, left.body) == (201, None)
