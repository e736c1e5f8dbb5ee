"""Letting Python's collector of reference cycles rest while a batch is remembered, or modules are loaded.

Whatever a batch makes lives until it is written, and none of it refers to itself; what modules define stays.
The collector, which looks at new objects after every few hundred of them, would go through all of it many
times and free nothing: that is a tenth of the time in which a command starts. In the block it looks after
many more, so that it still keeps in bounds what other threads leave behind while the block waits for
somebody. It has no other effect: what is not referred to any more is freed at once, collector or not.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OBJECTS_PER_COLLECTION: Final = 100_000
"""After how many new objects it looks: several times as many as a batch makes."""


@contextmanager
def gc_paused() -> Iterator[None]:
    """Keep the collector from looking at each few hundred new objects in the block.

    One that was switched off, or made to rest for longer, before stays so. Of two threads in such blocks, the
    first that leaves wakes the collector for both.
    """
    young, *older = gc.get_threshold()
    # None at all means never.
    if young == 0 or young >= _OBJECTS_PER_COLLECTION:
        yield
        return
    gc.set_threshold(_OBJECTS_PER_COLLECTION, *older)
    try:
        yield
    finally:
        gc.set_threshold(young, *older)
