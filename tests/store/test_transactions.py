"""What is written together, tried again, and read where it may be old."""

from contextlib import suppress
from datetime import UTC, datetime

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


def test_what_is_written_together_is_written_whole_or_not_at_all(store: Store) -> None:
    """Check both ends, with an error of one part that the block survives."""
    first = Entry(Memory(id="m1", content="tea", namespace=_HERE, created_at=_NOW), {"content": {"tea": 1}})
    second = Entry(
        Memory(id="m2", content="milk", namespace=_HERE, created_at=_NOW), {"content": {"milk": 1}}
    )
    before = store.changes(0, 10)
    with suppress(KeyError), store.together():
        store.add([first])
        store.replies.save(_REPLY)
        with store.view(_HERE, _NOW) as view:
            assert view.status.count == 1
        raise KeyError
    assert store.changes(0, 10) == before
    assert store.replies.find("k1", "first") is None
    with store.view(_HERE, _NOW) as view:
        assert view.status.count == 0
    with store.together():
        store.add([second])
        store.keys.add(_KEY)
        with pytest.raises(InvalidArgument):
            store.keys.add(_KEY)
        store.replies.save(_REPLY)
    assert [memory.id for memory in store.export(_HERE)] == ["m2"]
    assert store.keys.list() == [_KEY]
    assert store.replies.find("k1", "first") == _REPLY
    with store.view(_HERE, _NOW) as view:
        assert view.status.count == 1


def test_a_read_that_may_be_old_is_not_when_nothing_repeats_the_store(store: Store) -> None:
    """Check that what `work` reads and writes is the store's own, and that its errors are passed on."""
    store.remember_setting("x", "1")

    def work() -> str | None:
        store.remember_setting("x", "2")
        return store.setting("x")

    assert store.attempt(work, replica=True) == ("2", "")
    assert store.attempt(lambda: store.setting("x"), replica=True, fresh=True) == ("2", "")
    with pytest.raises(InvalidArgument):
        store.attempt(lambda: store.page(_HERE, None, 1, "no cursor", hidden=False), replica=True)


def test_work_that_nothing_disturbs_is_done_once(store: Store) -> None:
    """Check what it returns and raises, alone and inside another write."""
    done: list[str] = []

    def work() -> str:
        done.append("done")
        with store.together():
            store.remember_setting("x", str(len(done)))
        return "answer"

    assert store.attempt(work) == ("answer", "")
    with store.together():
        assert store.attempt(work) == ("answer", "")
    assert (len(done), store.setting("x")) == (2, "2")
    with pytest.raises(InvalidArgument):
        store.attempt(lambda: store.page(_HERE, None, 1, "no cursor", hidden=False))
