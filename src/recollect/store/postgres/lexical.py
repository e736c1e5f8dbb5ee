"""BM25 in plain SQL over posting lists in blocks, with the scores of the engine in a file.

The server first says how long the lists of a question's terms are; then it reads those that matter
(:mod:`essential`), adds the scores up and selects. In which order it adds is its own affair; so what it
selected, and whatever is within 1e-8 of the last of it, is scored again here, by the functions that score for
a file: same numbers, same order, and the parts of every score.
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
from recollect.store.postgres.arrays import array, text_array
from recollect.store.postgres.connection import Server
from recollect.store.postgres.essential import bound, telling
from recollect.store.postgres.sight import Restriction, Sight
from recollect.store.postgres.words import NUMBER_OF, key_of

Posting = tuple[int, int, int, int]
"""The part of the question, the slot, the frequency and the length."""

_MARGIN: Final = 1e-8
"""By how much the server's sums may differ from those made here, with a wide margin: it is some 1e-13."""
_TIES: Final = 1_000
"""How many memories within the margin of the last one are looked at, those that were added first."""
_SCANNED: Final = 32
"""Looking a memory up in a list takes about as long as reading this many of its postings."""
_LISTS: Final = (
    "postings p ON p.namespace = %s AND p.hidden = w.hidden AND p.field = w.field AND p.term = w.term"
)
_WHERE: Final = "unnest(%s::int[], %s::bool[], %s::smallint[], %s::text[]) AS w (part, hidden, field, term)"
_COUNT: Final = (
    f"SELECT w.part, sum(cardinality(p.slots))::int, max(p.most), min(p.least) FROM {_WHERE} JOIN {_LISTS} "
    "GROUP BY w.part"
)
_COUNT_SEEN: Final = (
    "SELECT part, count(*)::int, max(most), min(least) FROM (SELECT w.part, p.most, p.least, "
    f"unnest(p.slots) AS slot FROM {_WHERE} JOIN {_LISTS}) p WHERE TRUE{{listed}} GROUP BY part"
)
_READ: Final = (
    "WITH listed AS MATERIALIZED (SELECT * FROM (SELECT w.part, w.scale, w.slope, unnest(p.slots) AS slot, "
    "unnest(p.frequencies) AS frequency, unnest(p.lengths) AS length FROM unnest("
    "%s::int[], %s::bool[], %s::smallint[], %s::text[], %s::float8[], %s::float8[]) "
    f"AS w (part, hidden, field, term, scale, slope) JOIN {_LISTS}) p WHERE TRUE{{listed}}), "
    "scored AS (SELECT slot, {total} AS total FROM listed{grouped}), "
    "top AS MATERIALIZED (SELECT s.slot, s.total FROM scored s WHERE TRUE{allowed} "
    "ORDER BY s.total DESC, s.slot LIMIT %s), "
    "kept AS (SELECT slot FROM top WHERE total >= coalesce("
    "(SELECT total FROM top ORDER BY total DESC, slot OFFSET %s LIMIT 1), 0) - %s) "
    # A server knows nothing about the size of what stands above, and would put two of them together row by
    # row. IS TRUE makes it no join, but a look into a table of hashes.
    "SELECT part, slot, frequency, length FROM listed WHERE (slot IN (SELECT slot FROM kept)) IS TRUE"
)
_ADDED: Final = "scale * frequency / (frequency + %s::float8 + slope * length)"
_SCAN: Final = (
    "SELECT part, slot, frequency, length FROM (SELECT w.part, unnest(p.slots) AS slot, "
    f"unnest(p.frequencies) AS frequency, unnest(p.lengths) AS length FROM {_WHERE} JOIN {_LISTS}) p "
    "WHERE slot = ANY (%s::int[])"
)
_LOOK_UP: Final = (
    "SELECT w.part, s.slot, p.frequencies[at], p.lengths[at] "
    f"FROM {_WHERE} CROSS JOIN unnest(%s::int[]) AS s (slot) "
    "CROSS JOIN LATERAL (SELECT b.slots, b.frequencies, b.lengths FROM postings b WHERE b.namespace = %s "
    "AND b.hidden = w.hidden AND b.field = w.field AND b.term = w.term AND b.first <= s.slot "
    "ORDER BY b.first DESC LIMIT 1) p CROSS JOIN LATERAL array_position(p.slots, s.slot) AS a (at) "
    "WHERE at IS NOT NULL"
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
    sizes, most, least
        For each, how many memories have it in that field, how often at most, and how long the shortest is.
    lists
        Which lists those are: of memories that are shown, of hidden ones.
    """

    query: LexicalQuery
    wanted: tuple[Wanted, ...] = ()
    sizes: tuple[int, ...] = ()
    most: tuple[int, ...] = ()
    least: tuple[int, ...] = ()
    lists: tuple[bool, ...] = ()

    @property
    def frequencies(self) -> tuple[int, ...]:
        """For each term, how many memories have it, in the field where most have it."""
        widest: dict[str, int] = {}
        for each, size in zip(self.wanted, self.sizes, strict=True):
            widest[each.term] = max(widest.get(each.term, 0), size)
        return tuple(widest[each.term] for each in self.wanted)


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
    asked = ask(connection, number, sight, query)
    if limit == 0 or not asked.wanted:
        return asked, NOTHING
    parts = bare_parts(asked, sight)
    rows = _best(connection, number, sight, asked, parts, limit, allowed)
    scores = _scored(asked, parts, sight, rows)
    totals = scores.totals
    order = ranked(totals, limit)
    found = Found(scores.slots[order], totals[order], scores.detail, ceiling(query, parts, sight.count))
    return asked, found


def ask(connection: Server, number: int, sight: Sight, query: LexicalQuery) -> Asked:
    """Return what is known of a question's terms."""
    wanted = [Wanted(*each) for each in query.wanted() if sight.average_lengths[each[0]]]
    if not wanted:
        return Asked(query)
    sql = _COUNT_SEEN.replace("{listed}", sight.listed.on("p")) if sight.listed.parts else _COUNT
    rows = connection.execute(
        sql,
        (*_lists(range(len(wanted)), wanted, sight.lists), number, *sight.listed.values),
        binary=True,
    )
    known = sorted(rows.fetchall())
    if not known:
        return Asked(query)
    numbers, sizes, most, least = zip(*known, strict=True)
    return Asked(query, tuple(wanted[each] for each in numbers), sizes, most, least, sight.lists)


def postings(
    connection: Server, number: int, asked: Asked, slots: Sequence[int], parts: Sequence[int] | None = None
) -> list[Posting]:
    """Return every posting of a question, or of some parts of it, in some memories."""
    chosen = range(len(asked.wanted)) if parts is None else parts
    short = [part for part in chosen if asked.sizes[part] <= _SCANNED * len(slots)]
    long = [part for part in chosen if asked.sizes[part] > _SCANNED * len(slots)]
    queries: list[tuple[str, tuple[object, ...]]] = []
    if short:
        lists = _lists(short, [asked.wanted[part] for part in short], asked.lists)
        queries.append((_SCAN, (*lists, number, array(slots))))
    if long:
        lists = _lists(long, [asked.wanted[part] for part in long], asked.lists)
        queries.append((_LOOK_UP, (*lists, array(slots), number)))
    if not queries or not slots:
        return []
    rows = connection.execute(
        " UNION ALL ".join(sql for sql, _ in queries),
        [value for _, values in queries for value in values],
        binary=True,
    ).fetchall()
    return [(part, slot, frequency, length) for part, slot, frequency, length in rows]


def frequencies(
    connection: Server, number: int, sight: Sight, terms: Sequence[str], field: str
) -> dict[str, int]:
    """Return how many of the memories that may be seen have each term in a field."""
    asked = ask(connection, number, sight, LexicalQuery(dict.fromkeys(terms, 1.0), {field: 1.0}))
    found = {each.term: size for each, size in zip(asked.wanted, asked.sizes, strict=True)}
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


def _best(
    connection: Server,
    number: int,
    sight: Sight,
    asked: Asked,
    parts: Sequence[Part],
    limit: int,
    allowed: Restriction,
) -> list[Posting]:
    """Return the postings of at least the best memories."""
    scales = [scale(part, sight.count) for part in parts]
    bounds = [
        bound(worth, most, least, part.average_length, asked.query.scorer)
        for worth, most, least, part in zip(scales, asked.most, asked.least, parts, strict=True)
    ]
    read = telling(bounds, asked.sizes, limit)
    others = [part for part, is_read in enumerate(read) if not is_read]
    if others:
        slack = sum(bounds[part] for part in others) + _MARGIN
        chosen = [part for part, is_read in enumerate(read) if is_read]
        rows = _selected(connection, number, sight, asked, chosen, scales, limit, allowed, slack)
        scores = _scored(asked, parts, sight, rows)
        totals = np.sort(scores.totals)[::-1]
        if limit <= totals.size < limit + _TIES and totals[limit - 1] > slack:
            return rows + postings(connection, number, asked, scores.slots.tolist(), others)
    everything = range(len(parts))
    return _selected(connection, number, sight, asked, everything, scales, limit, allowed, _MARGIN)


def _selected(
    connection: Server,
    number: int,
    sight: Sight,
    asked: Asked,
    chosen: Sequence[int],
    scales: Sequence[float],
    limit: int,
    allowed: Restriction,
    slack: float,
) -> list[Posting]:
    """Return the postings of some parts in the memories that are best by those, or nearly so."""
    scorer, wanted = asked.query.scorer, [asked.wanted[part] for part in chosen]
    slope = scorer.k1 * scorer.b
    times = len(asked.lists)
    grouped = len(chosen) * times > 1
    sql = (
        _READ.replace("{listed}", sight.listed.on("p"))
        .replace("{total}", f"sum({_ADDED})" if grouped else _ADDED)
        .replace("{grouped}", " GROUP BY slot" if grouped else "")
        .replace("{allowed}", allowed.on("s"))
    )
    rows = connection.execute(
        sql,
        (
            *_lists(chosen, wanted, asked.lists),
            array([scales[part] * (scorer.k1 + 1) for part in chosen] * times),
            array([slope / sight.average_lengths[each.field] for each in wanted] * times),
            number,
            *sight.listed.values,
            scorer.k1 * (1 - scorer.b),
            *allowed.values,
            limit + _TIES,
            limit - 1,
            slack,
        ),
        binary=True,
    ).fetchall()
    return [(part, slot, frequency, length) for part, slot, frequency, length in rows]


def _lists(parts: Sequence[int], wanted: Sequence[Wanted], lists: Sequence[bool]) -> tuple[str, ...]:
    """Return which lists to read, as columns: the parts of the question in each of the kinds of lists."""
    return (
        array(list(parts) * len(lists)),
        array(hidden for hidden in lists for _ in wanted),
        array([NUMBER_OF[each.field] for each in wanted] * len(lists)),
        text_array([key_of(each.term) for each in wanted] * len(lists)),
    )


def _scored(asked: Asked, parts: Sequence[Part], sight: Sight, rows: Sequence[Posting]) -> Scores:
    """Score the memories that the server selected, as it is done for a file."""
    table = np.array(rows, np.int64).reshape(-1, 4)
    slots, places = np.unique(table[:, 1], return_inverse=True)
    mine = [np.flatnonzero(table[:, 0] == number) for number in range(len(parts))]
    lengths = table[:, 3].astype(np.float32)
    worth = saturated(
        [TermList(each.astype(np.int32), table[each, 2].astype(np.uint16)) for each in mine],
        [lengths] * len(parts),
        [part.average_length for part in parts],
        asked.query.scorer,
    )
    scores = np.zeros((len(parts), slots.size))
    for row, part, each, list_ in zip(scores, parts, mine, worth, strict=True):
        row[places[each]] = scale(part, sight.count) * list_.saturation
    return Scores(
        slots.astype(np.intp), tuple(f"{each.term} in {each.field}" for each in asked.wanted), scores
    )
