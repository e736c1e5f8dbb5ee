"""Comparing many vectors with all of a namespace at once: the look for repeats of a batch.

To ask a server for the neighbours of five hundred texts one by one takes it longer than to send every vector
once, some thousand at a time: what is then a product of two matrices takes hardly any time here, and nothing
is missed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.rank.order import ranked
from memorata.store.port import Floats
from memorata.store.postgres.connection import Server

WORTH: Final = 500
"""Up to how many vectors are sent for each that is compared with them."""
_AT_ONCE: Final = 4_096
"""How many slots are sent at once."""
_SEND: Final = (
    "SELECT array_agg(slot), string_agg(sent, '') FROM (SELECT slot, vector_send(embedding) AS sent "
    "FROM vectors WHERE namespace = %s AND embedder = %s AND slot >= %s AND slot < %s "
    "ORDER BY slot, passage) each"
)

Best = list[tuple[IntArray, FloatArray]]
"""For each vector, the slots closest to it and their cosines, best first."""


def compared(
    connection: Server,
    number: int,
    embedder: tuple[int, int],
    rows: Floats,
    limit: int,
    slots: int,
    passing: Callable[[IntArray], BoolArray],
) -> Best:
    """Return for each of some unit vectors the memories whose best passages are closest to it.

    Parameters
    ----------
    connection
        Inside a transaction.
    number
        The namespace.
    embedder
        The number of the embedder, and how many dimensions its vectors have.
    rows
        The vectors.
    limit
        How many of the closest are wanted.
    slots
        How many slots the namespace has given out.
    passing
        Tells which of some slots count.
    """
    best: Best = [(np.zeros(0, np.intp), np.zeros(0)) for _ in rows]
    for found, matrix in _sent(connection, number, embedder, slots):
        kept = passing(found)
        first = np.flatnonzero(np.concatenate([[True], found[1:] != found[:-1]]))
        cosines = np.maximum.reduceat(rows @ matrix.T, first, axis=1).astype(np.float64)
        here, cosines = found[first][kept[first]], cosines[:, kept[first]]
        for row, (known, scores) in enumerate(best):
            some = ranked(cosines[row], limit)
            # Those that are known stand before, and have the smaller slots: ties go to them.
            together = np.concatenate([scores, cosines[row, some]])
            order = ranked(together, limit)
            best[row] = np.concatenate([known, here[some]])[order], together[order]
    return best


def _sent(
    connection: Server, number: int, embedder: tuple[int, int], slots: int
) -> Iterator[tuple[IntArray, Floats]]:
    """Yield the vectors of a namespace and the slots they belong to, ascending."""
    # As the server sends a vector: how many numbers it has, two bytes of nothing, the numbers.
    each = np.dtype([("head", ">i4"), ("numbers", ">f4", (embedder[1],))])
    for start in range(0, slots, _AT_ONCE):
        values = (number, embedder[0], start, start + _AT_ONCE)
        ((found, sent),) = connection.rows(_SEND, values)
        if found is not None:
            yield found.astype(np.intp), np.frombuffer(sent, each)["numbers"].astype(np.float32)
