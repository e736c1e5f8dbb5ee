"""What a cache says it takes is what Python allocates for it, and never more than its bound."""

import gc
import tracemalloc

import numpy as np

from memorata.index.bounded_cache import BoundedCache

BOUND = 500_000


def test_the_bytes_of_entries_are_those_that_were_allocated() -> None:
    cache: BoundedCache[tuple[str, str], tuple[object, ...]] = BoundedCache(BOUND)
    allocated = []
    for count in (0, 600, 1_200, 4_000):
        cache.clear()
        # Tuples that come out of the list of free ones are not traced; tests before this fill it.
        gc.collect()
        tracemalloc.start()
        for number in range(count):
            array = np.arange(number % 50)
            cache.put(("content", f"term {number}"), (array, np.array([number]), f"text {number}"))
        allocated.append((cache.nbytes, tracemalloc.get_traced_memory()[0]))
        tracemalloc.stop()
    assert allocated[0][0] == 0
    for measured, traced in allocated[1:]:
        assert measured <= BOUND
        assert abs(measured / traced - 1) < 0.3
    assert allocated[-1][0] > 0.95 * BOUND


def test_what_was_used_last_stays() -> None:
    cache: BoundedCache[int, bytes] = BoundedCache(10_000)
    for number in range(100):
        cache.put(number, bytes(1_000))
        assert cache.get(0) is not None
    assert cache.get(1) is None
    cache.put(0, b"")
    assert cache.get(0) == b""
    large = BoundedCache[int, bytes](100)
    large.put(1, bytes(1_000))
    assert large.get(1) is not None, "one entry is kept, or nothing would ever be found"
