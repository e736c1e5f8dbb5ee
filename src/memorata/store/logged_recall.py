"""A logged recall, and how its candidates are stored: a blob, and its description as JSON.

A logged recall holds what a ranking was made of, so that past queries can be ranked again under other
settings without searching (:mod:`memorata_lab.learn.replay`). Candidates are identified by slot when they are
written and by id when they are read; one that was purged since is not among them. The blob holds the slots as
int32, then a float32 column for each feature that differs between candidates; a feature that is the same for
all of them is written once, as a constant.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import BoolArray, IntArray
from memorata.model.errors import InvalidArgument
from memorata.store.rows import moment

Singles = npt.NDArray[np.float32]
MAX_RECALLS: Final = 100_000
MAX_MEGABYTES: Final = 100
"""How many recalls, and how many megabytes of them, are kept unless settings say otherwise."""
# One for all: json.dumps makes a new encoder for each call that wants no blanks.
_to_json: Final = json.JSONEncoder(separators=(",", ":")).encode


FORMER_LEGS: Final = {
    "meaning": "vector", "words": "lexical", "time": "temporal", "place": "geo",
    "shared names": "graph", "walk": "graph", "paths": "graph", "communities": "graph",
}  # fmt: skip
"""The names of the legs before the second edition, in logs that are still read."""


@frozen(eq=False)
class LoggedRecall:
    """One recall as it was."""

    id: str
    namespace: str
    at: datetime
    query: str | None
    """None where settings keep queries out of the log."""
    recipe: Mapping[str, Any]
    """Every parameter it was made with."""
    embedder: str
    """The embedder whose vectors were compared; empty when none was."""
    situation: Mapping[str, Any]
    """What else the ranking depended on: thresholds, the ceiling of words, the period asked for."""
    milliseconds: Mapping[str, float]
    """How long each step took."""
    columns: tuple[str, ...]
    values: Singles
    """The features of the candidates: a row for each, under the names of the columns, NaN where missing."""
    slots: IntArray
    """The candidates, in the order of the ranking: those that passed the gate, then the others by score."""
    shown: tuple[int, ...]
    """The positions of the hits, in the order in which they were shown."""
    ids: tuple[str, ...] = ()
    """The candidates by id, once the recall is read back."""
    seen: int | None = None
    """The last change of its namespace that it saw, until it is written; None if that is unknown."""

    def column(self, name: str) -> Singles:
        """Return one column; NaN for every candidate if the recall has no such column."""
        if name not in self.columns:
            return np.full(len(self.values), np.nan, np.float32)
        return np.asarray(self.values[:, self.columns.index(name)])

    def of(self, memory_id: str) -> dict[str, float]:
        """Return the features of one candidate, by column."""
        if memory_id not in self.ids:
            raise InvalidArgument("memory_id", memory_id, f"a memory that the recall {self.id} found")
        return features_at(self.columns, self.values, self.ids.index(memory_id))


@frozen
class LogBounds:
    """How much of the log is kept; the oldest goes first."""

    recalls: int = MAX_RECALLS
    megabytes: int = MAX_MEGABYTES

    def __post_init__(self) -> None:
        checks.whole("recalls", self.recalls, 1)
        checks.whole("megabytes", self.megabytes, 1)


def features_at(columns: Sequence[str], values: Singles, place: int) -> dict[str, float]:
    """Return the features of the candidate at a place, by column; missing ones are left out."""
    row = values[place].tolist()
    return {name: value for name, value in zip(columns, row, strict=True) if value == value}


def encoded(
    slots: IntArray,
    columns: Sequence[str],
    values: Singles,
    situation: Mapping[str, Any],
    milliseconds: Mapping[str, float],
) -> tuple[str, bytes]:
    """Return the description and the blob of the candidates."""
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
    description = _to_json(
        {
            "count": int(slots.size),
            "columns": [columns[at] for at in varied],
            "constant": constant,
            "situation": dict(situation),
            "milliseconds": {name: round(spent, 3) for name, spent in milliseconds.items()},
        }
    )
    return description, slots.astype("<i4").tobytes() + bits[varied].tobytes()


def column_name(written: str) -> str:
    """Return the name of a column; logs of before the second edition had other names of the legs.

    >>> column_name("words rank"), column_name("walk"), column_name("tier")
    ('lexical rank', 'graph', 'tier')
    """
    leg = written.removesuffix(" rank")
    return FORMER_LEGS.get(leg, leg) + written[len(leg) :]


def unpacked(description: Mapping[str, Any], blob: bytes) -> tuple[IntArray, tuple[str, ...], Singles]:
    """Return the slots, the names of the columns and their values, as :func:`encoded` wrote them."""
    count, varied, constant = description["count"], description["columns"], description["constant"]
    slots: IntArray = np.frombuffer(blob, "<i4", count).astype(np.intp)
    table = np.frombuffer(blob, "<f4", offset=4 * count).reshape(len(varied), count)
    names = tuple(map(column_name, (*varied, *constant)))
    values = np.empty((count, len(names)), np.float32)
    values[:, : len(varied)] = table.T
    for at, value in enumerate(constant.values(), len(varied)):
        values[:, at] = np.nan if value is None else value
    return slots, names, values


def without(entry: LoggedRecall, kept: BoolArray) -> LoggedRecall:
    """Return a recall with some of its candidates."""
    if kept.all():
        return entry
    slots, values, shown = kept_rows(entry.slots, entry.values, entry.shown, kept)
    return replace(entry, values=values, slots=slots, shown=shown, ids=(), seen=None)


def kept_rows(
    slots: IntArray, values: Singles, shown: Sequence[int], kept: BoolArray
) -> tuple[IntArray, Singles, tuple[int, ...]]:
    """Return the candidates that are kept, and the positions of the hits among them."""
    positions = np.cumsum(kept) - 1
    return slots[kept], values[kept], tuple(int(positions[at]) for at in shown if kept[at])


def read_back(
    rows: Iterable[Sequence[Any]], namespace: str, ids_at: Callable[[set[int]], Mapping[int, str]]
) -> list[LoggedRecall]:
    """Return the recalls of some rows of the log; `ids_at` gives the ids of memories by slot, once for all.

    A row is the id, moment, query, recipe, embedder, description, blob, and the positions that were shown.
    """
    opened = [(row, json.loads(row[5])) for row in rows]
    candidates = [unpacked(description, row[6]) for row, description in opened]
    ids = ids_at({slot for slots, _, _ in candidates for slot in slots.tolist()})
    return [
        LoggedRecall(
            id=row[0],
            namespace=namespace,
            at=moment(row[1]),
            query=row[2],
            recipe=json.loads(row[3]),
            embedder=row[4],
            situation=description["situation"],
            milliseconds=description["milliseconds"],
            columns=columns,
            values=values,
            slots=slots,
            shown=tuple(np.frombuffer(row[7], "<u2").tolist()),
            ids=tuple(ids[slot] for slot in slots.tolist()),
        )
        for (row, description), (slots, columns, values) in zip(opened, candidates, strict=True)
    ]
