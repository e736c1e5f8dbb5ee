"""A child of a process that has a file open, or is writing to it, neither waits for ever nor uses it."""

import os
import select
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memorata.model.errors import StoreUnavailable
from memorata.store.dialects import SqliteStore

# A tracer has locks of its own, which another thread may hold at the moment of a fork.
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system"),
    pytest.mark.untraced,
]
_SECONDS = 60


def in_a_child(work: Callable[[], str]) -> str:
    """Return what some work returns in a forked child, which is ended if it takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(_SECONDS)
        try:
            os.write(writer, work().encode())
        finally:
            os._exit(0)
    os.close(writer)
    if not select.select([reader], [], [], _SECONDS)[0]:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reader) as told:
        answer = told.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child did not come to an end"
    return answer


def test_a_child_is_told_to_open_the_file_again_and_can(tmp_path: Path) -> None:
    closed = SqliteStore(tmp_path / "closed.db", durable=False)
    closed.close()
    store = SqliteStore(tmp_path / "m.db", durable=False)
    store.remember_setting("tea", "green")

    def child() -> str:
        with pytest.raises(StoreUnavailable, match="before this process was forked; open it again"):
            store.setting("tea")
        with pytest.raises(StoreUnavailable, match="forked"):
            store.remember_setting("tea", "black")
        store.close()
        again = SqliteStore(tmp_path / "m.db", durable=False)
        again.remember_setting("cup", "blue")
        return str(again.setting("tea"))

    assert in_a_child(child) == "green"
    assert store.setting("cup") == "blue"
    store.close()


def test_a_fork_while_a_thread_writes_waits_for_it(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db", durable=False)
    writing, enough = threading.Event(), threading.Event()

    def write() -> None:
        number = 0
        while not enough.is_set():
            with store.together():
                number += 1
                store.remember_setting("number", str(number))
                writing.set()
                store.remember_setting("same number", str(number))
            # A writer that never rests keeps others out, forked or not.
            enough.wait(0.002)

    thread = threading.Thread(target=write)
    thread.start()
    writing.wait()

    def child() -> str:
        again = SqliteStore(tmp_path / "m.db", durable=False)
        again.remember_setting("child", "was here")
        with again.together():
            return f"{again.setting('number') == again.setting('same number')}"

    try:
        assert [in_a_child(child) for _ in range(5)] == ["True"] * 5
    finally:
        enough.set()
        thread.join()
    assert store.setting("child") == "was here"
    store.close()


def test_a_fork_inside_a_transaction_leaves_it_to_the_parent(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db", durable=False)

    def child() -> str:
        with pytest.raises(StoreUnavailable, match="forked"):
            store.remember_setting("tea", "black")
        return "refused"

    with store.together():
        store.remember_setting("tea", "green")
        assert in_a_child(child) == "refused"
    assert store.setting("tea") == "green"
    store.close()
