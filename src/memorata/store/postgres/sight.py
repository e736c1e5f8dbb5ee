"""What may be seen of a namespace at an instant, as conditions in SQL, and the statistics of that.

Statistics are those of the memories that may be seen. For the present they are counted as memories are
written, and what has expired since is taken off: that costs in proportion to what has expired. For the past
the records of everything that could be seen then are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.record import FIELDS, Records, unpacked, visible
from memorata.model.checks import BoolArray, IntArray
from memorata.store.filters import Filter, matches
from memorata.store.instants import microseconds
from memorata.store.postgres.arrays import array, text_array
from memorata.store.postgres.conditions import compiled
from memorata.store.postgres.connection import Server
from memorata.store.postgres.namespaces import Namespace
from memorata.store.postgres.opening import EXPIRED, UNSEEN, Opened
from memorata.store.postgres.relinking import ends_at
from memorata.store.postgres.rows import OWN, memory

_SLOT: Final = "«slot»"
_FEW: Final = 5_000
"""Up to how many memories that pass a filter are known by their slots for the rest of a look."""

Keeps = Callable[[IntArray], BoolArray]
"""Tells which of some slots pass."""


@frozen
class Clause:
    """A condition on the slot of any table, in SQL; `keeps` says the same of slots, where that is known."""

    sql: str
    values: tuple[object, ...] = ()
    keeps: Keeps | None = None


@frozen
class Restriction:
    """Which slots count: those that pass every clause.

    `few` says that they are so few that each is sooner looked at than an index asked for the best.
    """

    parts: tuple[Clause, ...] = ()
    few: bool = False

    def on(self, alias: str) -> str:
        """Return the conditions on a table of that name, to stand after others."""
        return "".join(f" AND {part.sql.replace(_SLOT, f'{alias}.slot')}" for part in self.parts)

    @property
    def values(self) -> tuple[object, ...]:
        """The values, in the order of their placeholders."""
        return tuple(value for part in self.parts for value in part.values)

    def and_(self, sql: str, *values: object, keeps: Keeps | None = None) -> Restriction:
        """Return this restriction and one more; ``«slot»`` in it stands for the slot."""
        return Restriction((*self.parts, Clause(sql, values, keeps)), self.few)

    def kept(self, slots: IntArray) -> BoolArray | None:
        """Return which of some slots pass; None if only the server knows."""
        passed = np.ones(slots.size, np.bool_)
        for part in self.parts:
            if part.keeps is None:
                return None
            passed &= part.keeps(slots)
        return passed


@frozen(eq=False)
class Sight:
    """What may be seen.

    Attributes
    ----------
    now, as_of, true_at
        When, as believed when, and of what time.
    count
        How many memories may be seen.
    average_lengths
        By field, the mean length over the seen memories that have the field; 0 if none has.
    seen
        Which they are.
    lists
        Which posting lists they stand in: those of memories that are shown, those of hidden ones.
    listed
        Which of what stands there they are.
    small
        Whether there are so few memories that lists and cosines are read whole.
    ends
        By slot, until when memories were known to hold at `as_of`, where more is known today.
    """

    now: datetime
    as_of: datetime | None
    true_at: datetime | None
    count: int
    average_lengths: Mapping[str, float]
    seen: Restriction
    lists: tuple[bool, ...]
    listed: Restriction
    small: bool = False
    ends: Mapping[int, float] = field(default_factory=dict)

    def shows(self, slots: IntArray, records: Records) -> npt.NDArray[np.bool_]:
        """Return which of some memories may be seen, given their records."""
        then, held = (None if each is None else each.timestamp() for each in (self.as_of, self.true_at))
        until = None
        if self.ends:
            pairs = zip(slots.tolist(), records["until"].tolist(), strict=True)
            until = np.array([self.ends.get(slot, end) for slot, end in pairs], np.float64)
        return visible(records, self.now.timestamp(), as_of=then, true_at=held, until=until)


def look(
    connection: Server,
    opened: Opened,
    now: datetime,
    as_of: datetime | None = None,
    true_at: datetime | None = None,
) -> Sight:
    """Return what may be seen of a namespace that was opened at `now`, inside a read transaction."""
    namespace = opened.namespace
    number, small = namespace.number, opened.unseen is not None
    if as_of is None and true_at is None:
        at, expired = microseconds(now), opened.expired
        sums = np.array(namespace.sums) - expired["lengths"].sum(axis=0, dtype=np.int64)
        having = np.array(namespace.holders) - (expired["lengths"] > 0).sum(axis=0)
        count = namespace.shown - len(expired)
        seen = listed = Restriction()
        keeps = None if opened.unseen is None else _others_than(opened.unseen)
        if len(expired):
            # What is hidden otherwise stands in no list that is read.
            listed = listed.and_(_not_in(EXPIRED), number, at, keeps=keeps)
        if count != namespace.memories:
            seen = seen.and_(_not_in(UNSEEN), number, at, keeps=keeps)
        return Sight(now, None, None, count, _averages(sums, having), seen, (False,), listed, small)
    ends = {} if as_of is None or true_at is None else ends_at(connection, number, as_of)
    condition, values = _then(now, as_of, true_at, ends)
    rows = connection.rows(
        f"SELECT m.slot, m.record FROM memories m WHERE m.namespace = %s AND {condition}", (number, *values)
    )
    records = unpacked([record for _, record in rows])
    sums, having = records["lengths"].sum(axis=0, dtype=np.int64), (records["lengths"] > 0).sum(axis=0)
    seen = Restriction().and_(
        f"{_SLOT} IN (SELECT m.slot FROM memories m WHERE m.namespace = %s AND {condition})",
        number,
        *values,
        keeps=_these(np.array([slot for slot, _ in rows], np.intp)) if small else None,
    )
    averages = _averages(sums, having)
    return Sight(now, as_of, true_at, len(records), averages, seen, (False, True), seen, small, ends)


def filtered(connection: Server, namespace: Namespace, filter: Filter) -> Restriction:
    """Return which memories of a namespace a filter lets through."""
    condition = compiled(filter)
    number = namespace.number
    if not condition.exact:
        rows = connection.execute(
            f"SELECT m.slot, {OWN} FROM memories m WHERE m.namespace = %s AND {condition.sql}",
            (number, *condition.values),
        )
        return among([slot for slot, *row in rows if matches(filter, memory(row, namespace.path))])
    passing = f"SELECT m.slot FROM memories m WHERE m.namespace = %s AND {condition.sql}"
    # Every leg would select them again. One that lets many through is not read to its end.
    some = connection.execute(f"{passing} LIMIT %s", (number, *condition.values, _FEW + 1)).fetchall()
    if len(some) <= _FEW:
        return among([slot for (slot,) in some])
    return Restriction().and_(f"{_SLOT} IN ({passing})", number, *condition.values)


def among(slots: Sequence[int]) -> Restriction:
    """Return the restriction to some slots."""
    known = _these(np.array(slots, np.intp))
    return Restriction(few=len(slots) <= _FEW).and_(f"{_SLOT} = ANY (%s::int[])", array(slots), keeps=known)


def both(first: Restriction, second: Restriction) -> Restriction:
    """Return what two restrictions have in common."""
    return Restriction((*first.parts, *second.parts), first.few or second.few)


def without_terms(restriction: Restriction, number: int, terms: Sequence[str], field: int) -> Restriction:
    """Return a restriction to memories that also have none of the terms in a field."""
    if not terms:
        return restriction
    return restriction.and_(
        f"{_SLOT} NOT IN (SELECT unnest(x.slots) FROM postings x "
        "WHERE x.namespace = %s AND x.hidden IN (false, true) AND x.field = %s "
        "AND x.term = ANY (%s::text[]))",
        number,
        field,
        text_array(terms),
    )


def _then(
    now: datetime, as_of: datetime | None, true_at: datetime | None, ends: Mapping[int, float]
) -> tuple[str, tuple[object, ...]]:
    """Return the condition of :func:`memorata.index.record.visible` in SQL, and its values."""
    sql = "m.forgotten_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > %s)"
    values: list[object] = [microseconds(now)]
    current, then = "m.superseded_at IS NULL", microseconds(as_of)
    since: list[object] = []
    if as_of is not None:
        sql += " AND m.created_at <= %s"
        values.append(then)
        current, since = "(m.superseded_at IS NULL OR m.superseded_at > %s)", [then]
    if true_at is None:
        return f"{sql} AND {current}", (*values, *since)
    held, still = microseconds(true_at), "(m.valid_to IS NULL OR m.valid_to > %s)"
    sql += f" AND ({current} OR m.valid_to IS NOT NULL) AND coalesce(m.valid_from, m.created_at) <= %s AND "
    if not ends:
        return sql + still, (*values, *since, held, held)
    then_true = [slot for slot, end in ends.items() if end > true_at.timestamp()]
    still = f"CASE WHEN m.slot = ANY (%s::int[]) THEN m.slot = ANY (%s::int[]) ELSE {still} END"
    return sql + still, (*values, *since, held, array(list(ends)), array(then_true), held)


def _not_in(condition: str) -> str:
    return f"{_SLOT} NOT IN (SELECT m.slot FROM memories m WHERE m.namespace = %s AND {condition})"


def _these(slots: IntArray) -> Keeps:
    return lambda given: np.isin(given, slots)


def _others_than(slots: IntArray) -> Keeps:
    return lambda given: np.isin(given, slots, invert=True)


def _averages(sums: npt.NDArray[np.int64], having: npt.NDArray[np.int64]) -> dict[str, float]:
    return {
        field: float(total) / int(count) if count else 0.0
        for field, total, count in zip(FIELDS, sums, having, strict=True)
    }
