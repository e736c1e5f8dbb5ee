"""The codes of vectors, in runs of slots that lie end to end as far as the segments go.

Codes of many vectors are no smaller than those of each and are only ever read all together, so nothing is won
by merging them with their segments: writing them again at every size would be most of what a batch writes.
Only runs that are short, as those of memories that came one by one, are joined when their segments are, so
that they do not become too many. A run whose embedder is none has no codes; loading makes them from the
vectors.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata.index.codes import Codes
from memorata.store.database import Rows, Session

SHORT_RUN_SLOTS: Final = 1_000
"""A run of fewer slots is joined with its neighbours when their segments become one."""

_WITHIN: Final = (
    "SELECT number, first, slots FROM vector_codes WHERE namespace = ? AND first >= ? AND first < ? "
    "ORDER BY first"
)
_EVERY: Final = "SELECT number, first, slots FROM vector_codes WHERE namespace = ? ORDER BY first"


def write(session: Session, span: tuple[int, int, int], coded: tuple[int, Codes] | None) -> None:
    """Write a run; `span` is its namespace, its first slot and the number of its slots.

    Inside a write transaction. `coded`: an embedder and the codes of its vectors; None if nothing has any.
    """
    embedder, codes = (None, None) if coded is None else (coded[0], coded[1].encoded())
    session.insert("vector_codes", "namespace, first, slots, embedder, codes", (*span, embedder, codes))


def runs_within(session: Session, span: tuple[int, int, int]) -> Rows:
    """Send the query for the runs inside a span of slots: the number, first slot and slots of each."""
    return session.execute(_WITHIN, (span[0], span[1], span[1] + span[2]))


def join_short(session: Session, number: int, runs: Iterable[tuple[int, int, int]]) -> None:
    """Join the short runs of a namespace, of neighbours in order, with those beside them."""
    for short, members in groupby(runs, key=lambda run: run[2] < SHORT_RUN_SLOTS):
        parts = list(members)
        if short and len(parts) > 1:
            _join(session, number, parts)


def rewrite_without(session: Session, number: int, gone: npt.NDArray[np.int64]) -> None:
    """Write the runs that hold some slots, which ascend, anew without those."""
    for run, first, slots in session.execute(_EVERY, (number,)).fetchall():
        begin, end = np.searchsorted(gone, [first, first + slots])
        _, blob = _read(session, number, run).fetchone() if begin < end else (None, None)
        if blob is not None:
            kept = np.ones(slots, np.bool_)
            kept[gone[begin:end] - first] = False
            codes = Codes.joined([Codes.decoded(blob)], kept, first)
            session.execute(
                "UPDATE vector_codes SET codes = ? WHERE +namespace = ? AND number = ?",
                (codes.encoded(), number, run),
            )


def drop(session: Session, number: int) -> None:
    """Remove all codes of a namespace."""
    session.execute("DELETE FROM vector_codes WHERE namespace = ?", (number,))


def _join(session: Session, number: int, parts: list[tuple[int, int, int]]) -> None:
    first, slots = parts[0][1], sum(part[2] for part in parts)
    # All are sent before the first is read, so that a server answers them at once.
    sent = [_read(session, number, run) for run, _, _ in parts]
    runs = [rows.fetchone() for rows in sent]
    embedders = {embedder for embedder, _ in runs}
    blobs = [blob for _, blob in runs if blob is not None]
    coded = None
    # Codes of two embedders, or a part without, cannot be joined.
    if len(embedders) == 1 and len(blobs) == len(parts):
        codes = Codes.joined([Codes.decoded(blob) for blob in blobs], np.ones(slots, np.bool_), first)
        coded = embedders.pop(), codes
    session.executemany(
        "DELETE FROM vector_codes WHERE +namespace = ? AND number = ?", [(number, run) for run, _, _ in parts]
    )
    write(session, (number, first, slots), coded)


def _read(session: Session, number: int, run: int) -> Rows:
    """Send the query for a run: its embedder and codes."""
    return session.execute(
        "SELECT embedder, codes FROM vector_codes WHERE +namespace = ? AND number = ?", (number, run)
    )
