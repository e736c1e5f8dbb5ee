"""What may be seen of a namespace at an instant, as conditions in SQL, and the statistics of that.

Statistics are those of the memories that may be seen. For the present they are counted as memories are
written, and what has expired since is taken off: that costs in proportion to what has expired. For the past
the records of everything that could be seen then are added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt

from recollect.index.record import FIELDS, Records, unpacked, visible
from recollect.store.filters import Filter, matches
from recollect.store.postgres.arrays import array, text_array
from recollect.store.postgres.conditions import compiled
from recollect.store.postgres.connection import Server
from recollect.store.postgres.namespaces import Namespace
from recollect.store.postgres.rows import OWN, memory
from recollect.store.sqlite.rows import microseconds

_SLOT: Final = "«slot»"
_FEW: Final = 5_000
"""Up to how many memories that pass a filter are known by their slots for the rest of a look."""
_NOT_PLAIN: Final = "(m.forgotten_at IS NOT NULL OR m.superseded_at IS NOT NULL OR m.expires_at IS NOT NULL)"
"""Word for word the condition of an index."""
_EXPIRED: Final = (
    f"{_NOT_PLAIN} AND m.forgotten_at IS NULL AND m.superseded_at IS NULL AND m.expires_at <= %s"
)


@dataclass(frozen=True, slots=True)
class Restriction:
    """Which slots count: conditions on the slot of any table, and their values.

    `few` says that they are so few that each is sooner looked at than an index asked for the best.
    """

    parts: tuple[tuple[str, tuple[object, ...]], ...] = ()
    few: bool = False

    def on(self, alias: str) -> str:
        """Return the conditions on a table of that name, to stand after others."""
        return "".join(f" AND {sql.replace(_SLOT, f'{alias}.slot')}" for sql, _ in self.parts)

    @property
    def values(self) -> tuple[object, ...]:
        """The values, in the order of their placeholders."""
        return tuple(value for _, values in self.parts for value in values)

    def and_(self, sql: str, *values: object) -> Restriction:
        """Return this restriction and one more; ``«slot»`` in it stands for the slot."""
        return Restriction((*self.parts, (sql, values)), self.few)


@dataclass(frozen=True, slots=True, eq=False)
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
    """

    now: datetime
    as_of: datetime | None
    true_at: datetime | None
    count: int
    average_lengths: Mapping[str, float]
    seen: Restriction
    lists: tuple[bool, ...]
    listed: Restriction

    def shows(self, records: Records) -> npt.NDArray[np.bool_]:
        """Return which of some records may be seen."""
        then, held = (None if each is None else each.timestamp() for each in (self.as_of, self.true_at))
        return visible(records, self.now.timestamp(), as_of=then, true_at=held)


def look(
    connection: Server,
    namespace: Namespace,
    now: datetime,
    as_of: datetime | None = None,
    true_at: datetime | None = None,
) -> Sight:
    """Return what may be seen of a namespace, inside a read transaction."""
    number = namespace.number
    if as_of is None and true_at is None:
        at = microseconds(now)
        expired = _records(
            connection,
            _EXPIRED,
            (number, at),
        )
        sums = np.array(namespace.sums) - expired["lengths"].sum(axis=0, dtype=np.int64)
        having = np.array(namespace.holders) - (expired["lengths"] > 0).sum(axis=0)
        count = namespace.shown - len(expired)
        seen = listed = Restriction()
        if len(expired):
            listed = listed.and_(
                f"{_SLOT} NOT IN (SELECT m.slot FROM memories m WHERE m.namespace = %s AND {_EXPIRED})",
                number,
                at,
            )
        if count != namespace.memories:
            hidden = (
                f"{_NOT_PLAIN} AND (m.forgotten_at IS NOT NULL OR m.superseded_at IS NOT NULL "
                "OR m.expires_at <= %s)"
            )
            seen = seen.and_(
                f"{_SLOT} NOT IN (SELECT m.slot FROM memories m WHERE m.namespace = %s AND {hidden})",
                number,
                at,
            )
        return Sight(now, None, None, count, _averages(sums, having), seen, (False,), listed)
    condition, values = _then(now, as_of, true_at)
    records = _records(connection, condition, (number, *values))
    sums, having = records["lengths"].sum(axis=0, dtype=np.int64), (records["lengths"] > 0).sum(axis=0)
    seen = Restriction().and_(
        f"{_SLOT} IN (SELECT m.slot FROM memories m WHERE m.namespace = %s AND {condition})", number, *values
    )
    return Sight(now, as_of, true_at, len(records), _averages(sums, having), seen, (False, True), seen)


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
    return Restriction(few=len(slots) <= _FEW).and_(f"{_SLOT} = ANY (%s::int[])", array(slots))


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


def _then(now: datetime, as_of: datetime | None, true_at: datetime | None) -> tuple[str, tuple[object, ...]]:
    """Return the condition of :func:`recollect.index.record.visible` in SQL, and its values."""
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
    held = microseconds(true_at)
    sql += (
        f" AND ({current} OR m.valid_to IS NOT NULL) AND coalesce(m.valid_from, m.created_at) <= %s "
        "AND (m.valid_to IS NULL OR m.valid_to > %s)"
    )
    return sql, (*values, *since, held, held)


def _records(connection: Server, condition: str, values: Sequence[object]) -> Records:
    rows = connection.execute(
        f"SELECT m.record FROM memories m WHERE m.namespace = %s AND {condition}", values, binary=True
    ).fetchall()
    return unpacked([record for (record,) in rows])


def _averages(sums: npt.NDArray[np.int64], having: npt.NDArray[np.int64]) -> dict[str, float]:
    return {
        field: float(total) / int(count) if count else 0.0
        for field, total, count in zip(FIELDS, sums, having, strict=True)
    }
