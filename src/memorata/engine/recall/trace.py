"""Traces as columns of numbers for the log, those of many recalls at once.

A recall is answered before any of this is computed. A log is written some hundred recalls at a time, and a
recall has about as many candidates: to work through the candidates of all of them together takes a tenth of
the time that working through each recall takes. Whatever is counted within a recall (its order, its sessions,
its repeats) is counted with the number of the recall as the first part of the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from memorata._frozen import frozen
from memorata.index.record import MACHINE, RECORD
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.store.logged_recall import Singles

if TYPE_CHECKING:
    from memorata.engine.recall.ranking import Trace


DAY: Final = 86_400.0
AS_THEY_ARE: Final = ("tier", "accesses", "confidence", "importance", "pinned", "supported")
"""The parts of a record that are logged unchanged, under their own names."""
RANK: Final = " rank"
"""What follows the name of a leg in the name of the column that holds its order."""
_UNREAD: Final = "unread"
_SLOTS: Final = 2**32
"""More than there are slots: the key of a candidate is its recall's number times this, plus its slot."""


@frozen(eq=False)
class TraceColumns:
    """A trace as columns; the candidates stand in the order in which they were, or would have been, shown."""

    slots: IntArray
    columns: tuple[str, ...]
    values: Singles
    shown: tuple[int, ...]


def trace_columns(traces: Sequence[Trace]) -> list[TraceColumns]:
    """Return what is known of the candidates of each recall, as columns of float32.

    The columns are the score a candidate ended with; what each leg said of it, under the leg's name, and
    where the leg ranked it (``words rank``), where its scores alone do not tell;
    ``unread`` for one whose words stood in for its meaning; and of its record the age in days, the days since
    what it is about (``event``), its session and its content as numbers within this recall (``session``,
    ``repeat``), whether a machine said it, and :data:`AS_THEY_ARE`.
    """
    result: dict[int, TraceColumns] = {}
    alike: dict[tuple[str, ...], list[int]] = {}
    for place, trace in enumerate(traces):
        alike.setdefault(tuple(name for name, *_ in trace.legs), []).append(place)
    for names, places in alike.items():
        result |= zip(places, _of_same_legs([traces[place] for place in places], names), strict=True)
    return [result[place] for place in range(len(traces))]


def _of_same_legs(traces: Sequence[Trace], names: Sequence[str]) -> list[TraceColumns]:
    """Return the columns of recalls that had the same legs."""
    sizes = np.array([trace.slots.size for trace in traces])
    ends = np.cumsum(sizes)
    starts = ends - sizes
    recall = np.repeat(np.arange(len(traces)), sizes)
    order = _shown_first(traces, starts, recall)
    slots = np.concatenate([trace.slots for trace in traces])[order]
    place = np.concatenate([trace.order + start for trace, start in zip(traces, starts, strict=True)])
    # Without a type, numpy asks field by field and record by record which one they share.
    records = np.concatenate([trace.records for trace in traces], dtype=RECORD).take(place[order])
    keys = recall * _SLOTS + slots
    columns: dict[str, FloatArray] = {"score": np.concatenate([trace.scores for trace in traces])[order]}
    only_in: dict[str, BoolArray] = {}
    ascending = keys.argsort(kind="stable")
    for number, name in enumerate(names):
        said, ranked, needed = _of_leg([trace.legs[number][1:] for trace in traces], keys, ascending)
        columns[name] = said
        if needed.any():
            columns[f"{name}{RANK}"], only_in[f"{name}{RANK}"] = ranked, needed
    waiting = np.array([trace.unread.size > 0 for trace in traces])
    if waiting.any():
        unread = [number * _SLOTS + trace.unread for number, trace in enumerate(traces)]
        columns[_UNREAD] = np.isin(keys, np.concatenate(unread)).astype(np.float64)
        only_in[_UNREAD] = waiting
    now = np.repeat([trace.moment.now.timestamp() for trace in traces], sizes)
    columns["age"] = (now - records["created"]) / DAY
    columns["event"] = (now - records["event"]) / DAY
    sessions, _ = _numbered(recall, records["session"])
    columns["session"] = np.where(records["session"] >= 0, sessions, np.nan)
    contents, times = _numbered(recall, records["fingerprint"])
    columns["repeat"] = np.where(times > 1, contents, np.nan)
    columns["machine"] = (records["role"] == MACHINE).astype(np.float64)
    columns |= {name: records[name] for name in AS_THEY_ARE}
    table = np.empty((len(columns), recall.size), np.float32)
    for row, column in zip(table, columns.values(), strict=True):
        row[:] = column
    return [
        _cut(trace, slots[start:end], table[:, start:end], columns, only_in, number)
        for number, (trace, start, end) in enumerate(zip(traces, starts.tolist(), ends.tolist(), strict=True))
    ]


def _cut(
    trace: Trace,
    slots: IntArray,
    table: Singles,
    columns: Mapping[str, FloatArray],
    only_in: Mapping[str, BoolArray],
    number: int,
) -> TraceColumns:
    """Return the columns that one of the recalls has."""
    absent = {name for name, having in only_in.items() if not having[number]}
    if not absent:
        return TraceColumns(slots, tuple(columns), table.T, tuple(trace.shown))
    names = tuple(name for name in columns if name not in absent)
    own = table[[place for place, name in enumerate(columns) if name not in absent]]
    return TraceColumns(slots, names, own.T, tuple(trace.shown))


def _shown_first(traces: Sequence[Trace], starts: IntArray, recall: IntArray) -> IntArray:
    """Return the candidates, recall by recall, those that may be shown before those that may not."""
    kept = np.concatenate([trace.kept + start for trace, start in zip(traces, starts, strict=True)])
    hidden = np.ones(recall.size, np.bool_)
    hidden[kept] = False
    everyone = np.concatenate([kept, hidden.nonzero()[0]])
    order: IntArray = everyone[recall[everyone].argsort(kind="stable")]
    return order


def _of_leg(
    found: Sequence[tuple[IntArray, FloatArray]], keys: IntArray, ascending: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return a leg's scores and ranks of all candidates, and the recalls where scores do not tell ranks."""
    recall = np.repeat(np.arange(len(found)), [slots.size for slots, _ in found])
    slots = np.concatenate([slots for slots, _ in found])
    scores = np.concatenate([scores for _, scores in found])
    said, ranked = np.full(keys.size, np.nan), np.full(keys.size, np.nan)
    wanted = recall * _SLOTS + slots
    where = ascending[np.minimum(keys[ascending].searchsorted(wanted), keys.size - 1)]
    # A fusion that knows two legs only leaves out what another one alone has found.
    known = keys[where] == wanted
    recall, slots, scores, where = recall[known], slots[known], scores[known], where[known]
    said[where] = scores
    firsts = recall.searchsorted(np.arange(len(found)))
    ranked[where] = np.arange(recall.size) - firsts[recall]
    # Scores, as they are written down, and slots mostly tell in which order a leg had them.
    single = scores.astype(np.float32)
    told = (single[1:] < single[:-1]) | ((single[1:] == single[:-1]) & (slots[1:] > slots[:-1]))
    untold = ~told & (recall[1:] == recall[:-1])
    return said, ranked, np.bincount(recall[1:][untold], minlength=len(found)) > 0


def _numbered(recall: IntArray, values: IntArray) -> tuple[FloatArray, IntArray]:
    """Return a small number for each value, alike for the same of one recall, and how often it occurs."""
    order = np.lexsort((values, recall))
    new = np.ones(order.size, np.bool_)
    new[1:] = (values[order][1:] != values[order][:-1]) | (recall[order][1:] != recall[order][:-1])
    group = np.cumsum(new) - 1
    first = group[recall.searchsorted(np.arange(recall[-1] + 1))]
    numbers, times = np.empty(order.size), np.empty(order.size, np.intp)
    numbers[order] = group - first[recall[order]]
    times[order] = np.bincount(group)[group]
    return numbers, times
