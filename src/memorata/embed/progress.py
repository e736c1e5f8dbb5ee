"""How far an embedder is with what it was given, for somebody who waits: a megabyte of text takes minutes.

Whoever waits says so around the call; the embedder tells after every batch. In between there is nothing to
pass on, so that no signature of the port needs a place for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

Watcher: TypeAlias = Callable[[int, int], None]
"""Told how many of how many texts or passages have been read."""

_Batch = TypeVar("_Batch", bound=Sized)
_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Let somebody be told how far embedders are, until the block ends and in this thread alone.

    Examples
    --------
    >>> with watched(lambda done, total: print(done, "of", total)):
    ...     list(told([["a", "b"], ["c"]], 3))
    2 of 3
    3 of 3
    [['a', 'b'], ['c']]
    """
    before = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(before)


def told(batches: Iterable[_Batch], total: int) -> Iterator[_Batch]:
    """Yield batches as they are done, and tell whoever watches."""
    watcher, done = _WATCHER.get(), 0
    for batch in batches:
        done += len(batch)
        if watcher is not None:
            watcher(done, total)
        yield batch
