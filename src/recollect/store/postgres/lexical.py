"""BM25 in plain SQL over rows of posting lists, with the scores of the engine in a file.

The server reads the lists of a question's terms, counts what may be seen in each, adds the scores up and
selects. In which order it adds is its own affair; so what it selected, and whatever is within 1e-8 of the
last of it, is scored again here, by the functions that score for a file: same numbers, same order, and the
parts of every score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from recollect.index.lexical import LexicalQuery, Part, Saturated, TermList, ceiling, saturated, scale
from recollect.model.checks import FloatArray, IntArray
from recollect.rank.combination import Combination
from recollect.rank.order import ranked
from recollect.store.port import NOTHING, Found
from recollect.store.postgres.connection import Server
from recollect.store.postgres.sight import Restriction, Sight
from recollect.store.postgres.words import NUMBER_OF, key_of

_MARGIN: Final = 1e-8
"""By how much the server's sums may differ from those made here, with a wide margin: it is some 1e-13."""
_TIES: Final = 1_000
"""How many memories within the margin of the last one are looked at, those that were added first."""
_NOWHERE: Final = -1
_WANTED: Final = (
    "wanted AS MATERIALIZED (SELECT * FROM unnest(%s::int[], %s::smallint[], %s::text[], %s::text[], "
    "%s::float8[], %s::float8[]) AS w (part, field, term, word, weight, slope))"
)
_LISTED: Final = (
    "listed AS MATERIALIZED (SELECT w.part, p.slot, p.frequency, p.length, w.slope FROM wanted w "
    "JOIN postings p ON p.namespace = %s AND p.field = w.field AND p.term = w.term WHERE TRUE{seen})"
)
_COUNTED: Final = "counted AS MATERIALIZED (SELECT part, count(*) AS n FROM listed GROUP BY part)"
# A server knows nothing about the size of what stands above, and would put two of them together row by row.
# So scales are looked up in an array, and what was kept in a hashed subquery: IS TRUE makes it no join.
_SCALED: Final = (
    "scaled AS MATERIALIZED (SELECT array_agg(coalesce("
    "w.weight * ln((%s - most.n + 0.5) / (most.n + 0.5) + 1) * %s, 0) ORDER BY w.part) AS list "
    "FROM wanted w LEFT JOIN (SELECT word, max(n)::float8 AS n FROM wanted JOIN counted USING (part) "
    "GROUP BY word) most USING (word))"
)
_SCORED: Final = (
    "scored AS (SELECT slot, sum(((SELECT list FROM scaled))[part + 1] * frequency "
    "/ (frequency + %s::float8 + slope * length)) AS total FROM listed GROUP BY slot)"
)
_TOP: Final = (
    "top AS MATERIALIZED (SELECT s.slot, s.total FROM scored s WHERE TRUE{allowed} "
    "ORDER BY s.total DESC, s.slot LIMIT %s)"
)
_KEPT: Final = (
    "kept AS (SELECT slot FROM top WHERE total >= coalesce("
    "(SELECT total FROM top ORDER BY total DESC, slot OFFSET %s LIMIT 1), 0) - %s)"
)
_COUNTS: Final = f"SELECT part, {_NOWHERE}, n::int, 0 FROM counted"
_POSTINGS: Final = (
    "SELECT part, slot, frequency, length FROM listed WHERE (slot IN (SELECT slot FROM kept)) IS TRUE"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A term in a field that a question looks for, and the weight of both."""

    field: str
    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's terms that somebody has: each with how many memories have it where most do.

    Attributes
    ----------
    query
        The question.
    wanted
        Its terms in fields, in their order; only those with a list.
    frequencies
        For each, how many memories have the term, in the field where most have it.
    """

    query: LexicalQuery
    wanted: tuple[Wanted, ...]
    frequencies: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What each term in each field adds to the scores of some memories."""

    slots: IntArray
    names: tuple[str, ...]
    table: FloatArray

    @property
    def totals(self) -> FloatArray:
        """The scores, added up part after part."""
        total = np.zeros(self.slots.size)
        for row in self.table:
            total += row
        return total

    def detail(self, slots: IntArray) -> Combination:
        """Return what each part added to the scores of some of these memories."""
        at = np.searchsorted(self.slots, slots)
        return Combination.of("sum", self.names, self.table[:, at])


def search(
    connection: Server, number: int, sight: Sight, query: LexicalQuery, limit: int, allowed: Restriction
) -> tuple[Asked, Found]:
    """Return the memories with the highest BM25 scores, and what is known of the question's terms."""
    wanted = _wanted(query, sight)
    if not wanted:
        return Asked(query, (), ()), NOTHING
    sql = ", ".join(
        (
            _WANTED,
            _LISTED.replace("{seen}", sight.seen.on("p")),
            _COUNTED,
            _SCALED,
            _SCORED,
            _TOP.replace("{allowed}", allowed.on("s")),
            _KEPT,
        )
    )
    scorer = query.scorer
    rows = connection.execute(
        f"WITH {sql} {_COUNTS} UNION ALL {_POSTINGS}",
        (
            *_arrays(wanted, query, sight),
            number,
            *sight.seen.values,
            float(sight.count),
            scorer.k1 + 1,
            scorer.k1 * (1 - scorer.b),
            *allowed.values,
            limit + _TIES,
            max(0, limit - 1),
            _MARGIN,
        ),
        binary=True,
    ).fetchall()
    asked = _asked(query, wanted, {part: n for part, slot, n, _ in rows if slot == _NOWHERE})
    if limit == 0 or not asked.wanted:
        return asked, NOTHING
    scores = _scored(asked, wanted, sight, [row for row in rows if row[1] != _NOWHERE])
    order = ranked(scores.totals, limit)
    found = Found(
        scores.slots[order],
        scores.totals[order],
        scores.detail,
        ceiling(query, bare_parts(asked, sight), sight.count),
    )
    return asked, found


def ask(connection: Server, number: int, sight: Sight, query: LexicalQuery) -> Asked:
    """Return what is known of a question's terms."""
    wanted = _wanted(query, sight)
    if not wanted:
        return Asked(query, (), ())
    sql = ", ".join((_WANTED, _LISTED.replace("{seen}", sight.seen.on("p")), _COUNTED))
    rows = connection.execute(
        f"WITH {sql} SELECT part, n::int FROM counted",
        (*_arrays(wanted, query, sight), number, *sight.seen.values),
    ).fetchall()
    return _asked(query, wanted, dict(rows))


def postings(
    connection: Server, number: int, asked: Asked, slots: Sequence[int]
) -> list[tuple[int, int, int, int]]:
    """Return the part, slot, frequency and length of every posting of a question in some memories."""
    rows = connection.execute(
        "SELECT w.part, p.slot, p.frequency, p.length FROM unnest(%s::int[], %s::smallint[], %s::text[]) "
        "AS w (part, field, term) CROSS JOIN LATERAL (SELECT slot, frequency, length FROM postings "
        "WHERE namespace = %s AND field = w.field AND term = w.term AND slot = ANY (%s::int[])) p",
        (
            list(range(len(asked.wanted))),
            [NUMBER_OF[each.field] for each in asked.wanted],
            [key_of(each.term) for each in asked.wanted],
            number,
            list(slots),
        ),
        binary=True,
    ).fetchall()
    return [(part, slot, frequency, length) for part, slot, frequency, length in rows]


def frequencies(
    connection: Server, number: int, sight: Sight, terms: Sequence[str], field: str
) -> dict[str, int]:
    """Return how many of the memories that may be seen have each term in a field."""
    keys = {key_of(term): term for term in terms}
    rows = connection.execute(
        "SELECT p.term, count(*) FROM postings p WHERE p.namespace = %s AND p.field = %s "
        f"AND p.term = ANY (%s::text[]){sight.seen.on('p')} GROUP BY p.term",
        (number, NUMBER_OF[field], list(keys), *sight.seen.values),
    )
    found = {keys[key]: count for key, count in rows}
    return {term: found.get(term, 0) for term in terms}


def bare_parts(asked: Asked, sight: Sight) -> list[Part]:
    """Return the parts of a question with their weights and frequencies, and no list."""
    nothing = Saturated(np.zeros(0, np.intp), np.zeros(0, np.uint16), np.zeros(0))
    return [
        Part(
            each.field,
            each.term,
            nothing,
            each.weight,
            np.zeros(0, np.float32),
            sight.average_lengths[each.field],
            frequency,
        )
        for each, frequency in zip(asked.wanted, asked.frequencies, strict=True)
    ]


def _wanted(query: LexicalQuery, sight: Sight) -> list[Wanted]:
    return [Wanted(*each) for each in query.wanted() if sight.average_lengths[each[0]]]


def _arrays(wanted: Sequence[Wanted], query: LexicalQuery, sight: Sight) -> tuple[list[object], ...]:
    slope = query.scorer.k1 * query.scorer.b
    return (
        list(range(len(wanted))),
        [NUMBER_OF[each.field] for each in wanted],
        [key_of(each.term) for each in wanted],
        [key_of(each.term) for each in wanted],
        [float(each.weight) for each in wanted],
        [slope / sight.average_lengths[each.field] for each in wanted],
    )


def _asked(query: LexicalQuery, wanted: Sequence[Wanted], counts: dict[int, int]) -> Asked:
    most: dict[str, int] = {}
    for part, each in enumerate(wanted):
        most[each.term] = max(most.get(each.term, 0), counts.get(part, 0))
    listed = tuple(each for part, each in enumerate(wanted) if counts.get(part))
    return Asked(query, listed, tuple(most[each.term] for each in listed))


def _scored(
    asked: Asked, wanted: Sequence[Wanted], sight: Sight, rows: Sequence[tuple[int, int, int, int]]
) -> Scores:
    """Score the memories that the server selected, as it is done for a file."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    slots = np.unique(table[:, 1]).astype(np.intp)
    scores = np.zeros((len(asked.wanted), slots.size))
    for number, (part, each) in enumerate(zip(bare_parts(asked, sight), asked.wanted, strict=True)):
        mine = table[table[:, 0] == wanted.index(each)]
        lengths = mine[:, 3].astype(np.float32)
        listed = TermList(np.arange(len(mine), dtype=np.int32), mine[:, 2].astype(np.uint16))
        (worth,) = saturated([listed], [lengths], [part.average_length], asked.query.scorer)
        scores[number, np.searchsorted(slots, mine[:, 1])] = scale(part, sight.count) * worth.saturation
    return Scores(slots, tuple(f"{each.term} in {each.field}" for each in asked.wanted), scores)
