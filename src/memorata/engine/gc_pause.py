"""A pause of Python's garbage collector while a batch is remembered, or modules are loaded.

The objects of a batch live until it is written, without reference cycles; what modules define stays. The
collector runs after every few hundred new objects, and would traverse all of them many times and free
nothing: that is a tenth of the time in which a command starts. In the block it runs after many more, so that
cycles of other threads stay bounded while the block waits. It has no other effect: objects without references
are freed at once, collector or not.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OBJECTS_PER_COLLECTION: Final = 100_000
"""New objects between two collections in the block: several times as many as a batch makes."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Raise the threshold of the collector in the block.

    A collector that is off, or has a higher threshold, stays so. Of two threads in such blocks, the first to
    leave restores the threshold for both.
    """
    young, *older = gc.get_threshold()
    # 0 means that the collector never runs.
    if young == 0 or young >= _OBJECTS_PER_COLLECTION:
        yield
        return
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *older)
    try:
        yield
    finally:
        gc.set_threshold(young, *older)
