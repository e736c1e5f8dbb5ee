"""Letting Python's collector of reference cycles rest while a batch is put together.

Whatever a batch makes lives until it is written, and none of it refers to itself; the collector, which looks
at new objects after every few hundred of them, would go through all of it many times and free nothing. It has
no other effect: what is not referred to any more is freed at once, collector or not.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_resting() -> Iterator[None]:
    """Keep the collector from running in the block; not for blocks that wait for somebody else.

    One that was switched off before stays so. Of two threads in such blocks, the first that leaves wakes the
    collector for both.

    Examples
    --------
    >>> with collector_resting():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
