"""How the candidates of a logged recall are kept: a blob, and what is said about it in words.

A blob holds the slots as int32, then a float32 column for each thing that differs between candidates; what is
the same for all of them is written once, as a constant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from memorata.model.checks import BoolArray, IntArray
from memorata.store.instants import moment
from memorata.store.recall_log import LoggedRecall, Singles

# One for all: json.dumps makes a new encoder for each call that wants no blanks.
_written: Final = json.JSONEncoder(separators=(",", ":")).encode


def packed(entry: LoggedRecall) -> tuple[str, bytes]:
    """Return a recall's candidates: what is said in words, as JSON, and the blob."""
    return encoded(entry.slots, entry.columns, entry.values, entry.situation, entry.milliseconds)


def encoded(
    slots: IntArray,
    columns: Sequence[str],
    values: Singles,
    situation: Mapping[str, Any],
    milliseconds: Mapping[str, float],
) -> tuple[str, bytes]:
    """Return what is said in words and the blob of the candidates."""
    # A column after the other, as in the blob; compared as bits, since NaN is not even itself.
    bits = np.ascontiguousarray(values.T, "<f4").view("<u4")
    same = np.logical_and.reduce(bits == bits[:, :1], axis=1).tolist()
    first = values[0].tolist() if len(values) else [0.0] * len(columns)
    constant = {
        name: None if value != value else value
        for name, value, alike in zip(columns, first, same, strict=True)
        if alike
    }
    varied = [at for at, alike in enumerate(same) if not alike]
    said = _written(
        {
            "count": int(slots.size),
            "columns": [columns[at] for at in varied],
            "constant": constant,
            "situation": dict(situation),
            "milliseconds": {name: round(spent, 3) for name, spent in milliseconds.items()},
        }
    )
    return said, slots.astype("<i4").tobytes() + bits[varied].tobytes()


def unpacked(said: Mapping[str, Any], blob: bytes) -> tuple[IntArray, tuple[str, ...], Singles, Any]:
    """Return the slots, the names of the columns, their values and the rest of what :func:`encoded` wrote.

    Examples
    --------
    >>> head, blob = encoded(np.array([7, 3]), ["words", "tier"], np.array([[1, 2], [0.5, 2]], np.float32),
    ...                      {}, {"search": 1.23456})
    >>> slots, columns, values, said = unpacked(json.loads(head), blob)
    >>> slots.tolist(), columns, values.tolist(), said["milliseconds"]
    ([7, 3], ('words', 'tier'), [[1.0, 2.0], [0.5, 2.0]], {'search': 1.235})
    """
    count, varied, constant = said["count"], said["columns"], said["constant"]
    slots: IntArray = np.frombuffer(blob, "<i4", count).astype(np.intp)
    table = np.frombuffer(blob, "<f4", offset=4 * count).reshape(len(varied), count)
    names = (*varied, *constant)
    values = np.empty((count, len(names)), np.float32)
    values[:, : len(varied)] = table.T
    for at, value in enumerate(constant.values(), len(varied)):
        values[:, at] = np.nan if value is None else value
    return slots, names, values, said


def without(entry: LoggedRecall, kept: BoolArray) -> LoggedRecall:
    """Return a recall with some of its candidates."""
    if kept.all():
        return entry
    slots, values, shown = kept_rows(entry.slots, entry.values, entry.shown, kept)
    return LoggedRecall(
        entry.id,
        entry.namespace,
        entry.at,
        entry.query,
        entry.recipe,
        entry.embedder,
        entry.situation,
        entry.milliseconds,
        entry.columns,
        values,
        slots,
        shown,
    )


def still_there(
    entries: Sequence[LoggedRecall], names: Callable[[set[int]], Mapping[int, str]]
) -> IntArray | None:
    """Return those of the candidates that have not been purged; None if that is all of them.

    Parameters
    ----------
    entries
        Recalls since which nothing was purged, as far as they say what they saw.
    names
        Returns the ids of the memories that are in some slots.
    """
    if all(entry.seen is not None for entry in entries):
        return None
    asked = set(np.concatenate([entry.slots for entry in entries]).tolist())
    there = names(asked)
    return None if len(there) == len(asked) else np.array(list(there), np.intp)


def kept_rows(
    slots: IntArray, values: Singles, shown: Sequence[int], kept: BoolArray
) -> tuple[IntArray, Singles, tuple[int, ...]]:
    """Return the candidates that are kept, and where those that were shown stand among them."""
    places = np.cumsum(kept) - 1
    return slots[kept], values[kept], tuple(int(places[at]) for at in shown if kept[at])


def read_back(
    rows: Iterable[Sequence[Any]], namespace: str, names: Callable[[set[int]], Mapping[int, str]]
) -> list[LoggedRecall]:
    """Return the recalls of some rows of a log.

    Parameters
    ----------
    rows
        Of each recall its id, moment, query, recipe, embedder, what is said in words, the blob, and which
        candidates were shown.
    namespace
        Whose they are.
    names
        Gives the ids of memories by their slots; it is asked once, for all.
    """
    opened = [(row, unpacked(json.loads(row[5]), row[6])) for row in rows]
    called = names({slot for _, (slots, *_) in opened for slot in slots.tolist()})
    return [
        LoggedRecall(
            id=row[0],
            namespace=namespace,
            at=moment(row[1]),
            query=row[2],
            recipe=json.loads(row[3]),
            embedder=row[4],
            situation=said["situation"],
            milliseconds=said["milliseconds"],
            columns=columns,
            values=matrix,
            slots=slots,
            shown=tuple(np.frombuffer(row[7], "<u2").tolist()),
            ids=tuple(called[slot] for slot in slots.tolist()),
        )
        for row, (slots, columns, matrix, said) in opened
    ]
