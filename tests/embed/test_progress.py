"""Whoever waits for an embedder is told how far it is, in their thread and as long as they want to know."""

import threading

import pytest

from memorata.embed.progress import told, watched

BATCHES = [["a", "b"], ["c"], []]


def test_after_every_batch_it_is_told_how_many_are_done() -> None:
    heard: list[tuple[int, int]] = []
    with watched(lambda done, total: heard.append((done, total))):
        assert list(told(BATCHES, 3)) == BATCHES
    assert heard == [(2, 3), (3, 3), (3, 3)]


def test_without_anybody_nothing_is_told_and_afterwards_neither() -> None:
    heard: list[int] = []
    assert list(told(BATCHES, 3)) == BATCHES
    with pytest.raises(KeyError), watched(lambda done, total: heard.append(done)):
        raise KeyError
    assert list(told(BATCHES, 3)) == BATCHES
    assert heard == []


def test_the_innermost_is_told() -> None:
    outer: list[int] = []
    inner: list[int] = []
    with watched(lambda done, total: outer.append(done)):
        with watched(lambda done, total: inner.append(done)):
            list(told(BATCHES, 3))
        list(told(BATCHES[:1], 2))
    assert (outer, inner) == ([2], [2, 3, 3])


def test_another_thread_is_somebody_else_s() -> None:
    heard: list[int] = []
    with watched(lambda done, total: heard.append(done)):
        thread = threading.Thread(target=lambda: list(told(BATCHES, 3)))
        thread.start()
        thread.join()
    assert heard == []
