import threading
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorata.model.memory import Memory
from memorata.store.access import ApiKey, Reply
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry

NOW = datetime(2026, 5, 7, tzinfo=UTC)
KEY = ApiKey("k1", "mine", b"digest", ("*",), ("read",), NOW)
REPLY = Reply("k1", "first", "acme", b"asked", 200, b"body", NOW)


def test_others_wait_for_what_is_written_together_and_then_see_all_of_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memories.db")
    seen: list[Reply | None] = []
    with closing(store):
        with store.together():
            store.keys.add(KEY)
            other = threading.Thread(target=lambda: seen.append(store.replies.find("k1", "first")))
            other.start()
            other.join(0.05)
            assert seen == []
            store.replies.save(REPLY)
        other.join()
        assert seen == [REPLY]


def test_only_what_undid_something_counts_as_a_rollback() -> None:
    store = SqliteStore(":memory:")
    with pytest.raises(KeyError), store.together():
        raise KeyError
    assert store.rollbacks == 0
    with suppress(KeyError), store.together():
        store.keys.add(KEY)
        raise KeyError
    assert store.rollbacks == 1
    store.close()


def test_a_purge_leaves_nothing_of_an_answer_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memories.db"
    with closing(SqliteStore(path)) as store:
        store.add([Entry(Memory(id="m1", content="tea", namespace="acme", created_at=NOW), {})])
        store.replies.save(replace(REPLY, body=b"a telling body"))
        store.purge("acme", ["m1"])
    assert b"a telling body" not in path.read_bytes()


def test_together_inside_together_is_one() -> None:
    with closing(SqliteStore(":memory:")) as store:
        with suppress(KeyError), store.together():
            with store.together():
                store.keys.add(KEY)
            store.replies.save(REPLY)
            raise KeyError
        assert (store.keys.list(), store.replies.find("k1", "first")) == ([], None)
