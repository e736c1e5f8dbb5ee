"""Posting lists of a question's terms on a server: how long they are, and what they hold.

Of a small namespace the lists are read whole and kept for the rest of a look, which asks for some of them
several times. Of others the server says how long they are, and sends what they hold of some memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.lexical import LexicalQuery, TermList, saturated
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.rank.bm25 import BM25
from memorata.store.postgres.arrays import array, text_array
from memorata.store.postgres.connection import Server
from memorata.store.postgres.sight import Sight
from memorata.store.postgres.words import NUMBER_OF, key_of

Numbers = npt.NDArray[np.int32]

_SCANNED: Final = 32
"""Looking a memory up in a list takes about as long as reading this many of its postings."""
LISTS: Final = (
    "postings p ON p.namespace = %s AND p.hidden = w.hidden AND p.field = w.field AND p.term = w.term"
)
_WHERE: Final = "unnest(%s::int[], %s::bool[], %s::smallint[], %s::text[]) AS w (part, hidden, field, term)"
_COUNT: Final = (
    f"SELECT w.part, sum(cardinality(p.slots))::int, max(p.most), min(p.least) FROM {_WHERE} JOIN {LISTS} "
    "GROUP BY w.part ORDER BY w.part"
)
_COUNT_SEEN: Final = (
    "SELECT part, count(*)::int, max(most), min(least) FROM (SELECT w.part, p.most, p.least, "
    f"unnest(p.slots) AS slot FROM {_WHERE} JOIN {LISTS}) p WHERE TRUE{{listed}} GROUP BY part ORDER BY part"
)
_WHOLE: Final = f"SELECT w.part, p.slots, p.frequencies, p.lengths FROM {_WHERE} JOIN {LISTS}"
_SCAN: Final = (
    "SELECT part, slot, frequency, length FROM (SELECT w.part, unnest(p.slots) AS slot, "
    f"unnest(p.frequencies) AS frequency, unnest(p.lengths) AS length FROM {_WHERE} JOIN {LISTS}) p "
    "WHERE slot = ANY (%s::int[])"
)
_LOOK_UP: Final = (
    "SELECT w.part, s.slot, p.frequencies[at] AS frequency, p.lengths[at] AS length "
    f"FROM {_WHERE} CROSS JOIN unnest(%s::int[]) AS s (slot) "
    "CROSS JOIN LATERAL (SELECT b.slots, b.frequencies, b.lengths FROM postings b WHERE b.namespace = %s "
    "AND b.hidden = w.hidden AND b.field = w.field AND b.term = w.term AND b.first <= s.slot "
    "ORDER BY b.first DESC LIMIT 1) p CROSS JOIN LATERAL array_position(p.slots, s.slot) AS a (at) "
    "WHERE at IS NOT NULL"
)
_COLUMNS: Final = "SELECT {} FROM ({{}}) posting".format(
    ", ".join(f"coalesce(array_agg({each}), '{{{{}}}}')" for each in ("part", "slot", "frequency", "length"))
)
"""Postings as four arrays instead of a row each."""


@frozen
class Wanted:
    """A term in a field that a question looks for, and the weight of both."""

    field: str
    term: str
    weight: float


@frozen(eq=False)
class Postings:
    """Some postings: the part of the question, the slot, the frequency and the length of each."""

    parts: Numbers
    slots: Numbers
    frequencies: Numbers
    lengths: Numbers

    def and_(self, others: Postings) -> Postings:
        """Return these and others."""
        return Postings(
            np.concatenate([self.parts, others.parts]),
            np.concatenate([self.slots, others.slots]),
            np.concatenate([self.frequencies, others.frequencies]),
            np.concatenate([self.lengths, others.lengths]),
        )

    def take(self, chosen: BoolArray) -> Postings:
        """Return some of them."""
        return Postings(
            self.parts[chosen], self.slots[chosen], self.frequencies[chosen], self.lengths[chosen]
        )

    def saturations(self, averages: Sequence[float], scorer: BM25) -> list[tuple[IntArray, FloatArray]]:
        """Return for each part of the question which of these are its own, and how much each of those says.

        Parameters
        ----------
        averages
            The average length of the field of each part.
        scorer
            BM25's parameters.
        """
        order = self.parts.argsort(kind="stable")
        bounds = self.parts[order].searchsorted(np.arange(len(averages) + 1)).tolist()
        mine = [order[start:stop] for start, stop in pairwise(bounds)]
        lengths = self.lengths.astype(np.float32)
        lists = saturated(
            [TermList(each.astype(np.int32), self.frequencies[each].astype(np.uint16)) for each in mine],
            [lengths] * len(mine),
            averages,
            scorer,
        )
        return [(each, list_.saturation) for each, list_ in zip(mine, lists, strict=True)]


@frozen(eq=False)
class Asked:
    """A question's terms that somebody has: each with how many memories have it where most do.

    Attributes
    ----------
    query
        The question.
    wanted
        Its terms in fields, in their order; only those with a list.
    sizes
        For each, how many memories have it in that field.
    most, least
        For each, how often it stands in a memory at most, and how long the shortest is; left out where all
        postings are known.
    lists
        Which lists those are: of memories that are shown, of hidden ones.
    postings
        All that stands in them, of a small namespace.
    """

    query: LexicalQuery
    wanted: tuple[Wanted, ...] = ()
    sizes: tuple[int, ...] = ()
    most: tuple[int, ...] = ()
    least: tuple[int, ...] = ()
    lists: tuple[bool, ...] = ()
    postings: Postings | None = None

    @property
    def frequencies(self) -> tuple[int, ...]:
        """For each term, how many memories have it, in the field where most have it."""
        widest: dict[str, int] = {}
        for each, size in zip(self.wanted, self.sizes, strict=True):
            widest[each.term] = max(widest.get(each.term, 0), size)
        return tuple(widest[each.term] for each in self.wanted)


@frozen(eq=False)
class Lists:
    """The posting lists of what may be seen of a namespace, in one look at it.

    Parameters
    ----------
    connection
        Inside a read transaction.
    number
        The namespace.
    sight
        What may be seen.
    """

    connection: Server
    number: int
    sight: Sight
    _known: dict[tuple[str, str], tuple[Numbers, Numbers, Numbers]] = field(default_factory=dict)

    def ask(self, query: LexicalQuery) -> Asked:
        """Return what is known of a question's terms."""
        sight = self.sight
        wanted = [Wanted(*each) for each in query.wanted() if sight.average_lengths[each[0]]]
        if not wanted:
            return Asked(query)
        if sight.small:
            return self._whole(query, wanted)
        sql = _COUNT_SEEN.replace("{listed}", sight.listed.on("p")) if sight.listed.parts else _COUNT
        rows = self.connection.rows(
            sql, (*columns(range(len(wanted)), wanted, sight.lists), self.number, *sight.listed.values)
        )
        if not rows:
            return Asked(query)
        numbers, sizes, most, least = zip(*rows, strict=True)
        return Asked(query, tuple(wanted[each] for each in numbers), sizes, most, least, sight.lists)

    def frequencies(self, terms: Sequence[str], field: str) -> dict[str, int]:
        """Return how many of the memories that may be seen have each term in a field."""
        asked = self.ask(LexicalQuery(dict.fromkeys(terms, 1.0), {field: 1.0}))
        found = {each.term: size for each, size in zip(asked.wanted, asked.sizes, strict=True)}
        return {term: found.get(term, 0) for term in terms}

    def postings(self, asked: Asked, slots: IntArray, parts: Sequence[int] | None = None) -> Postings:
        """Return every posting of a question, or of some parts of it, in some memories."""
        if asked.postings is not None:
            return asked.postings.take(np.isin(asked.postings.slots, slots))
        chosen = range(len(asked.wanted)) if parts is None else parts
        short = [part for part in chosen if asked.sizes[part] <= _SCANNED * len(slots)]
        long = [part for part in chosen if asked.sizes[part] > _SCANNED * len(slots)]
        queries: list[tuple[str, tuple[object, ...]]] = []
        given = array(slots.tolist())
        if short:
            lists = columns(short, [asked.wanted[part] for part in short], asked.lists)
            queries.append((_SCAN, (*lists, self.number, given)))
        if long:
            lists = columns(long, [asked.wanted[part] for part in long], asked.lists)
            queries.append((_LOOK_UP, (*lists, given, self.number)))
        return self.read(
            " UNION ALL ".join(sql for sql, _ in queries), [each for _, values in queries for each in values]
        )

    def read(self, sql: str, values: Sequence[object]) -> Postings:
        """Return the postings that a statement selects."""
        ((parts, slots, frequencies, lengths),) = self.connection.rows(_COLUMNS.format(sql), values)
        return Postings(parts, slots, frequencies, lengths)

    def _whole(self, query: LexicalQuery, wanted: Sequence[Wanted]) -> Asked:
        """Read the lists of terms that were not read yet, and return all that they hold."""
        known, sight = self._known, self.sight
        unread = [each for each in wanted if (each.field, each.term) not in known]
        if unread:
            values = (*columns(range(len(unread)), unread, sight.lists), self.number)
            blocks: list[list[tuple[Numbers, Numbers, Numbers]]] = [[] for _ in unread]
            for part, slots, frequencies, lengths in self.connection.rows(_WHOLE, values):
                blocks[part].append((slots, frequencies, lengths))
            for each, some in zip(unread, blocks, strict=True):
                known[each.field, each.term] = self._seen(some)
        found = [(each, known[each.field, each.term]) for each in wanted]
        found = [(each, list_) for each, list_ in found if list_[0].size]
        if not found:
            return Asked(query)
        sizes = tuple(list_[0].size for _, list_ in found)
        slots, frequencies, lengths = (_joined([list_[at] for _, list_ in found]) for at in range(3))
        postings = Postings(
            np.repeat(np.arange(len(found), dtype=np.int32), sizes), slots, frequencies, lengths
        )
        return Asked(query, tuple(each for each, _ in found), sizes, lists=sight.lists, postings=postings)

    def _seen(self, blocks: Sequence[tuple[Numbers, Numbers, Numbers]]) -> tuple[Numbers, Numbers, Numbers]:
        slots, frequencies, lengths = (_joined([block[at] for block in blocks]) for at in range(3))
        if self.sight.listed.parts:
            kept = self.sight.listed.kept(slots.astype(np.intp))
            assert kept is not None  # in a small namespace that is known
            slots, frequencies, lengths = slots[kept], frequencies[kept], lengths[kept]
        return slots, frequencies, lengths


def columns(parts: Iterable[int], wanted: Sequence[Wanted], lists: Sequence[bool]) -> tuple[str, ...]:
    """Return which lists to read, as columns: the parts of the question in each of the kinds of lists."""
    return (
        array(list(parts) * len(lists)),
        array(hidden for hidden in lists for _ in wanted),
        array([NUMBER_OF[each.field] for each in wanted] * len(lists)),
        text_array([key_of(each.term) for each in wanted] * len(lists)),
    )


def _joined(pieces: Sequence[Numbers]) -> Numbers:
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int32)
