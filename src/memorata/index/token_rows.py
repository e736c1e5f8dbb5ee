"""The tokens of memories, as numbers of a table of token vectors; read on first use, and cached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata.index.record import Growing
from memorata.model.checks import IntArray

Tokens = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint8]
ReadTokens = Callable[[IntArray], Sequence[tuple[Tokens, int]]]
"""Returns the distinct tokens of uncached slots, and a few bits that are cached with them."""
MAX_TOKENS: Final = 8_000_000
"""Most cached tokens, 4 bytes each; then the cache is cleared."""
_UNREAD: Final = -1


class TokenRows:
    """The distinct tokens of some slots of a namespace, one row after the other."""

    def __init__(self) -> None:
        self._tokens = Growing(np.int32, ())
        self._starts = np.zeros(0, np.intp)
        self._sizes = np.zeros(0, np.intp)
        self._marks = np.zeros(0, np.uint8)

    @property
    def nbytes(self) -> int:
        """How much memory this takes."""
        return self._tokens.nbytes + self._starts.nbytes + self._sizes.nbytes + self._marks.nbytes

    def forget(self, slot: int) -> None:
        """Drop the tokens of a slot."""
        if slot < self._starts.size:
            self._starts[slot] = _UNREAD

    def of(self, slots: IntArray, count: int, read: ReadTokens) -> tuple[IntArray, IntArray, Marks]:
        """Return the tokens of some slots one after the other, how many each has, and the bits of each.

        >>> stored = [(np.array([5, 9], np.int32), 1), (np.array([7], np.int32), 0)]
        >>> read = lambda slots: [stored[at] for at in slots]
        >>> tokens, sizes, bits = TokenRows().of(np.array([1, 0]), 2, read)
        >>> tokens.tolist(), sizes.tolist(), bits.tolist()
        ([7, 5, 9], [1, 2], [0, 1])
        """
        if self._starts.size < count:
            more = np.full(count - self._starts.size, _UNREAD, np.intp)
            self._starts = np.concatenate([self._starts, more])
            self._sizes = np.concatenate([self._sizes, np.zeros(more.size, np.intp)])
            self._marks = np.concatenate([self._marks, np.zeros(more.size, np.uint8)])
        unread = slots[self._starts[slots] == _UNREAD]
        if unread.size:
            if len(self._tokens) > MAX_TOKENS:
                self._tokens, unread = Growing(np.int32, ()), slots
                self._starts[:] = _UNREAD
            rows = read(unread)
            sizes = np.array([row.size for row, _ in rows], np.intp)
            self._starts[unread] = len(self._tokens) + np.cumsum(sizes) - sizes
            self._sizes[unread] = sizes
            self._marks[unread] = [bits for _, bits in rows]
            self._tokens.extend(np.concatenate([row for row, _ in rows]))
        sizes = self._sizes[slots]
        # The place of each token: its number among all of these, moved to where its row begins.
        ends = sizes.cumsum()
        places = (self._starts[slots] - ends + sizes).repeat(sizes)
        places += np.arange(places.size)
        tokens: IntArray = self._tokens.view.take(places)
        return tokens, sizes, self._marks[slots]
