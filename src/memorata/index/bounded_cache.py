"""A cache that is bounded by the bytes of its entries, measured when they are put in."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from sys import getsizeof
from typing import Final, Generic, TypeVar

import numpy as np

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")

_ENTRY_BYTES: Final = 190
"""Bytes of an entry beside its key and value: 151 to 191, by how full the table is."""


def bytes_of(value: object) -> int:
    """Return the bytes of an object and its parts; a part that other objects share counts too.

    >>> bytes_of("tea") < bytes_of(("tea", "milk")) < bytes_of(np.zeros(100))
    True
    >>> bytes_of(np.zeros(100)[:1]) > 800  # a view keeps the whole array
    True
    """
    if value is None or isinstance(value, bool):
        return 0
    parts: Iterable[object] = ()
    if isinstance(value, np.ndarray):
        parts = (value.base,)
    elif isinstance(value, Mapping):
        parts = (*value, *value.values())
    elif isinstance(value, (tuple, list, set, frozenset)):
        parts = value
    elif not isinstance(value, (str, bytes, int, float)):
        parts = [getattr(value, name, None) for name in getattr(value, "__slots__", ())]
    return getsizeof(value) + sum(map(bytes_of, parts))


class BoundedCache(Generic[_Key, _Value]):
    """A cache with a bound on its bytes; the least recently used entries are evicted first."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[_Key, tuple[_Value, int]] = OrderedDict()
        self.nbytes = 0

    def get(self, key: _Key) -> _Value | None:
        """Return the value of a key, if it is cached."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if self.nbytes > self._max_bytes // 2:
            # Far below the bound nothing is evicted, and the order of use does not matter yet.
            self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: _Key, value: _Value, *, shared: bool = False) -> None:
        """Cache a value; a shared one takes no bytes of its own."""
        size = _ENTRY_BYTES + bytes_of(key) + (0 if shared else bytes_of(value))
        self.nbytes += size - self._entries.pop(key, (value, 0))[1]
        self._entries[key] = value, size
        while self.nbytes > self._max_bytes and len(self._entries) > 1:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.nbytes -= dropped

    def clear(self) -> None:
        """Drop all entries."""
        self._entries.clear()
        self.nbytes = 0
