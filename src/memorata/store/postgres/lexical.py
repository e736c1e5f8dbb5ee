"""BM25 over posting lists in blocks, with the scores of the engine in a file.

The server first says how long the lists of a question's terms are; then it reads those that matter
(:mod:`essential`), adds the scores up and selects. In which order it adds is its own affair; so what it
selected, and whatever is within 1e-8 of the last of it, is scored again here, by the functions that score for
a file: same numbers, same order, and the parts of every score. Lists of a small namespace are here already,
and all of them are scored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.index.lexical import LexicalQuery, Part, Saturated, ceiling, scale
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.rank.combination import Combination
from memorata.rank.order import ranked
from memorata.store.port import NOTHING, Found
from memorata.store.postgres.arrays import array
from memorata.store.postgres.essential import bound, telling
from memorata.store.postgres.lists import LISTS, Asked, Lists, Postings, columns
from memorata.store.postgres.sight import Restriction, Sight

_MARGIN: Final = 1e-8
"""By how much the server's sums may differ from those made here, with a wide margin: it is some 1e-13."""
_TIES: Final = 1_000
"""How many memories within the margin of the last one are looked at, those that were added first."""
_READ: Final = (
    "WITH listed AS MATERIALIZED (SELECT * FROM (SELECT w.part, w.scale, w.slope, unnest(p.slots) AS slot, "
    "unnest(p.frequencies) AS frequency, unnest(p.lengths) AS length FROM unnest("
    "%s::int[], %s::bool[], %s::smallint[], %s::text[], %s::float8[], %s::float8[]) "
    f"AS w (part, hidden, field, term, scale, slope) JOIN {LISTS}) p WHERE TRUE{{listed}}), "
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
_NO_LIST: Final = Saturated(np.zeros(0, np.intp), np.zeros(0, np.uint16), np.zeros(0))
_NO_LENGTHS: Final = np.zeros(0, np.float32)


@frozen(eq=False)
class Scores:
    """What each term in each field adds to the scores of some memories, known by their slots, ascending."""

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
    lists: Lists,
    query: LexicalQuery,
    limit: int,
    allowed: Restriction,
    passing: Callable[[IntArray, Restriction], BoolArray],
) -> tuple[Asked, Found]:
    """Return the memories with the highest BM25 scores, and what is known of the question's terms.

    `passing` tells which of some slots a restriction lets through.
    """
    asked, sight = lists.ask(query), lists.sight
    if limit == 0 or not asked.wanted:
        return asked, NOTHING
    parts = bare_parts(asked, sight)
    postings = asked.postings or _best(lists, asked, parts, limit, allowed)
    scores = _scored(asked, parts, sight, postings)
    slots, totals = scores.slots, scores.totals
    if asked.postings is not None and allowed.parts:
        kept = passing(slots, allowed)
        slots, totals = slots[kept], totals[kept]
    order = ranked(totals, limit)
    return asked, Found(slots[order], totals[order], scores.detail, ceiling(query, parts, sight.count))


def bare_parts(asked: Asked, sight: Sight) -> list[Part]:
    """Return the parts of a question with their weights and frequencies, and no list."""
    return [
        Part(
            each.field,
            each.term,
            _NO_LIST,
            each.weight,
            _NO_LENGTHS,
            sight.average_lengths[each.field],
            frequency,
        )
        for each, frequency in zip(asked.wanted, asked.frequencies, strict=True)
    ]


def _best(lists: Lists, asked: Asked, parts: Sequence[Part], limit: int, allowed: Restriction) -> Postings:
    """Return the postings of at least the best memories."""
    sight = lists.sight
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
        found = _selected(lists, asked, chosen, scales, limit, allowed, slack)
        scores = _scored(asked, parts, sight, found)
        totals = np.sort(scores.totals)[::-1]
        if limit <= totals.size < limit + _TIES and totals[limit - 1] > slack:
            return found.and_(lists.postings(asked, scores.slots, others))
    return _selected(lists, asked, range(len(parts)), scales, limit, allowed, _MARGIN)


def _selected(
    lists: Lists,
    asked: Asked,
    chosen: Sequence[int],
    scales: Sequence[float],
    limit: int,
    allowed: Restriction,
    slack: float,
) -> Postings:
    """Return the postings of some parts in the memories that are best by those, or nearly so."""
    sight, scorer, wanted = lists.sight, asked.query.scorer, [asked.wanted[part] for part in chosen]
    slope = scorer.k1 * scorer.b
    times = len(asked.lists)
    grouped = len(chosen) * times > 1
    sql = (
        _READ.replace("{listed}", sight.listed.on("p"))
        .replace("{total}", f"sum({_ADDED})" if grouped else _ADDED)
        .replace("{grouped}", " GROUP BY slot" if grouped else "")
        .replace("{allowed}", allowed.on("s"))
    )
    return lists.read(
        sql,
        (
            *columns(chosen, wanted, asked.lists),
            array([scales[part] * (scorer.k1 + 1) for part in chosen] * times),
            array([slope / sight.average_lengths[each.field] for each in wanted] * times),
            lists.number,
            *sight.listed.values,
            scorer.k1 * (1 - scorer.b),
            *allowed.values,
            limit + _TIES,
            limit - 1,
            slack,
        ),
    )


def _scored(asked: Asked, parts: Sequence[Part], sight: Sight, postings: Postings) -> Scores:
    """Score the memories of some postings, as it is done for a file."""
    slots, places = np.unique(postings.slots, return_inverse=True)
    scores = np.zeros((len(parts), slots.size))
    worth = postings.saturations([part.average_length for part in parts], asked.query.scorer)
    for row, part, (mine, saturation) in zip(scores, parts, worth, strict=True):
        row[places[mine]] = scale(part, sight.count) * saturation
    return Scores(
        slots.astype(np.intp), tuple(f"{each.term} in {each.field}" for each in asked.wanted), scores
    )
