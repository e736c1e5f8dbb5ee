"""The index of one namespace at one moment, served from the partition in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.candidates import NO_CANDIDATES, LegCandidates
from memorata.index.codes import Floats, Owners
from memorata.index.lexical import (
    LexicalQuery,
    Mask,
    Part,
    Saturated,
    Sums,
    TermList,
    ceiling,
    contributions,
    impacts,
    in_context,
    saturated,
)
from memorata.index.partition import Partition, Visibility
from memorata.index.record import Records
from memorata.index.segments import read_lists, segments_statement
from memorata.index.speakers import Speakers
from memorata.index.token_rows import Marks, Tokens
from memorata.index.vector_rows import stored_bytes, unsealed
from memorata.index.vectors import MAX_EXACT_VECTORS, Vectors
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import StoreCorrupt
from memorata.model.memory import Memory
from memorata.rank.bm25 import BM25, ContextWindow
from memorata.store.database import Session
from memorata.store.rows import (
    OWN,
    SLOTS,
    Namespace,
    memory,
    named_in,
    read_memories,
    speakers_in,
    unlisted,
)

if TYPE_CHECKING:
    from memorata.store.filters import Filter

_ENTITIES: Final = attrgetter("entities")
_MAX_CACHED_NAMES: Final = 200_000
"""In a namespace of more memories, names are read per call and not cached."""


@frozen
class Status:
    """The size of an index, and how it is searched."""

    count: int
    """The number of memories that may be returned."""
    pending: int
    """The number of memories without a vector of the store's embedder."""
    change: int
    """The last visible change of the namespace; 0 for one that does not exist."""
    methods: Mapping[str, str]
    """The search methods used so far, by leg: ``"vector"`` and ``"lexical"``."""


class NamespaceIndex:
    """A consistent view of the visible memories of one namespace that pass a filter.

    Memories are identified by slot, a number that never changes.
    """

    def __init__(
        self,
        session: Session,
        namespace: Namespace,
        partition: Partition,
        embedder: tuple[int, int] | None,
        now: datetime,
        as_of: datetime | None,
        filter: Filter | None,
        true_at: datetime | None = None,
        ends: Mapping[int, float] | None = None,
        *,
        former: bool = False,
    ) -> None:
        self._session = session
        self._namespace = namespace
        self._partition = partition
        self._embedder = embedder
        self._last_parts: tuple[LexicalQuery, list[Part], float] | None = None
        self._last_sums: tuple[LexicalQuery, Sums] | None = None
        self._methods: dict[str, str] = {}
        known_at, held_at = (None if moment is None else moment.timestamp() for moment in (as_of, true_at))
        self._visibility = partition.visibility(now.timestamp(), known_at, held_at, ends, former=former)
        self._allowed = self._visibility.mask
        if filter is not None:
            passing = self._passing(filter)
            self._allowed = passing if self._allowed is None else passing & self._allowed

    @property
    def status(self) -> Status:
        """The size of the view, and how it was searched so far."""
        count = self._visibility.count
        if self._allowed is not None and self._allowed is not self._visibility.mask:
            count = int(np.count_nonzero(self._allowed))
        return Status(count, self._partition.pending(), self._namespace.change, self._methods)

    def search(
        self,
        query: Floats | LexicalQuery,
        limit: int,
        excluded: Sequence[str] = (),
        *,
        rough: bool = False,
    ) -> LegCandidates:
        """Return the best memories, best first: by the cosine of a unit vector, or by BM25 of terms.

        For a vector, the memories whose best passage is closest to it, without the `excluded` terms in their
        content. A `rough` result is for callers of :meth:`score`: it may be as inexact as that is. For terms,
        only memories that share one; the query has the excluded terms.
        """
        if isinstance(query, LexicalQuery):
            self._methods["lexical"] = POSTINGS
            parts = self._parts(query)
            if not parts or limit == 0:
                return NO_CANDIDATES
            return self._lexical_candidates(
                query, parts, *self._sums(query).best(limit, self._without(query.excluded))
            )
        self._methods["vector"] = vectors_method(self._partition.vectors)
        fetch = None if rough else self._float_rows
        slots, cosines = self._partition.vectors.search(query, limit, self._without(excluded), fetch)
        return LegCandidates(slots, cosines, exact=self._partition.vectors.exact)

    def score(
        self, query: Floats | LexicalQuery, slots: IntArray, window: ContextWindow | None = None
    ) -> LegCandidates:
        """Return the scores of the memories in `slots`, in the same order.

        For a unit vector, the cosine of each memory's best passage, within two thousandths; 0 for one without
        vectors. For terms, BM25 of each memory read with its neighbours in the session, as far as `window`
        says; the terms of a neighbour that is not visible are not read.
        """
        if not isinstance(query, LexicalQuery):
            return LegCandidates(slots, self._partition.vectors.cosines(query, slots))
        parts = self._parts(query)
        if not parts or not slots.size:
            return LegCandidates(slots, np.zeros(slots.size))
        partition, count = self._partition, self._visibility.count
        if window is None or not partition.neighbours:
            # Without sessions there are no neighbours, and the scores are the sums of the search.
            return self._lexical_candidates(query, parts, slots, self._sums(query).at(slots))
        scored = in_context(
            parts,
            slots,
            partition.neighbours,
            self._visibility.mask,
            count,
            query.scorer,
            window,
            partition.columns,
        )
        return LegCandidates(slots, scored.scores, scored.detail, self._parts_and_ceiling(query)[2])

    def _lexical_candidates(
        self, query: LexicalQuery, parts: Sequence[Part], slots: IntArray, scores: FloatArray
    ) -> LegCandidates:
        count = self._visibility.count
        return LegCandidates(
            slots,
            scores,
            lambda chosen: contributions(parts, count, chosen),
            self._parts_and_ceiling(query)[2],
        )

    def neighbours(self, slots: IntArray, reach: int) -> IntArray:
        """Return the slots up to `reach` before and after each memory in its session; -1 for none.

        A row for each step back, then one for each step ahead. All neighbours are visible, whether or not
        they pass the filter.
        """
        if not (links := self._partition.neighbours):
            return np.full((2 * reach, slots.size), -1)
        around, mask = links.around(slots, reach), self._visibility.mask
        return around if mask is None else np.where((around >= 0) & mask[around], around, -1)

    def restricted(self, slots: IntArray) -> NamespaceIndex:
        """Return the same view, in which only these memories may be returned."""
        mask = np.zeros(len(self._partition), np.bool_)
        mask[slots] = True
        view = copy(self)
        view._allowed = mask if self._allowed is None else mask & self._allowed
        return view

    def without(self, slots: IntArray | None, terms: Sequence[str]) -> IntArray:
        """Return the slots, of these or of all, that may be returned and have none of the terms."""
        allowed = self._without(terms)
        if slots is None:
            return np.arange(len(self._partition)) if allowed is None else np.flatnonzero(allowed)
        return slots if allowed is None else slots[allowed[slots]]

    def document_frequencies(
        self, terms: Sequence[str], field: str = "content"
    ) -> tuple[int, dict[str, int]]:
        """Return the number of visible memories, and of those with each term in a field."""
        visibility = self._visibility
        if not visibility.average_lengths[field]:
            return visibility.count, dict.fromkeys(terms, 0)
        self._read_lists([(field, term) for term in terms])
        return visibility.count, {
            term: _visible(self._list(field, term), visibility).slots.size for term in terms
        }

    def records(self, slots: IntArray | None = None) -> Records:
        """Return the records of memories, or of all; a purged one has the state `GONE`."""
        records = self._partition.records
        return records if slots is None else records.take(slots)

    def vectors(self, slots: IntArray) -> Floats:
        """Return the first passage's vector of each memory; zeros for one without."""
        kept = self._partition.vectors.first_rows(slots)
        if kept is not None:
            return kept
        result = np.zeros((slots.size, self._partition.vectors.dimension), np.float32)
        for position, rows in self._rows_of(slots):
            result[position] = rows[0]
        return result

    def memories(self, slots: IntArray) -> list[Memory]:
        """Return the memories of slots, in the same order."""
        # A remote database has announced statements, whose rows came together.
        together = self._session.dialect.remote
        return self._partition.memories(slots.tolist(), self._read_memories, together=together)

    def _read_memories(self, slots: list[int]) -> Mapping[int, Memory]:
        memories = read_memories(self._session, self._namespace, slots)
        if lost := len(set(slots)) - len(memories):
            raise StoreCorrupt(
                f"{lost} memories of {self._namespace.path} are not where their records say; "
                "run `memorata admin check`"
            )
        return memories

    def names(self, slots: IntArray) -> list[tuple[str, ...]]:
        """Return the names that memories mention, in the same order."""
        dialect, number = self._session.dialect, self._namespace.number
        if not dialect.remote or len(self._partition) > _MAX_CACHED_NAMES:
            return list(map(_ENTITIES, self.memories(slots)))

        def read(start: int, changed: list[int]) -> dict[int, str]:
            rows = self._session.execute(*named_in(number, start, len(self._partition))).fetchall()
            if changed:
                rows += self._session.execute(
                    "SELECT slot, entities FROM memories WHERE namespace = ? "
                    "AND number IN (SELECT value FROM json_each(?))",
                    (number, dialect.array(changed)),
                ).fetchall()
            return dict(rows)

        return [unlisted(listed) if listed else () for listed in self._partition.names(slots.tolist(), read)]

    def tokens(
        self, table: str, slots: IntArray, read: Callable[[list[Memory]], Sequence[tuple[Tokens, int]]]
    ) -> tuple[IntArray, IntArray, Marks]:
        """Return the concatenated tokens of memories, the number of each, and a few bits of each.

        `read` returns the tokens of memories in a table; they are cached under the table's name.
        """
        rows = self._partition.token_rows(table)
        return rows.of(slots, len(self._partition), lambda unread: read(self.memories(unread)))

    def speakers(self) -> Speakers:
        """Return the speakers of the namespace."""

        def read(start: int) -> Iterable[tuple[str, str]]:
            return self._session.execute(
                *speakers_in(self._session, self._namespace.number, start)
            ).fetchall()

        return self._partition.speakers(read)

    def _without(self, terms: Sequence[str]) -> Mask | None:
        """Return the mask of memories that may be returned and have none of the terms in their content."""
        allowed = self._allowed
        if terms:
            allowed = np.ones(len(self._partition), np.bool_) if allowed is None else allowed.copy()
            for term in terms:
                allowed[self._list("content", term).slots] = False
        return allowed

    def _passing(self, filter: Filter) -> Mask:
        condition = self._session.dialect.condition(filter)
        number, place = self._namespace.number, self._session.dialect.number
        # Where SQL expresses only a part of the filter, whole memories are read and tested.
        columns = "m.slot" if condition.rest is None else f"m.slot, {OWN}, NULL"

        def read(start: int) -> list[int]:
            rows = self._session.execute(
                f"SELECT {columns} FROM memories m WHERE +m.namespace = ? AND m.number >= ? AND m.number < ? "
                f"AND {condition.sql}",
                (number, place(number, start), place(number, SLOTS), *condition.values),
            ).fetchall()
            if condition.rest is None:
                return [slot for (slot,) in rows]
            path = self._namespace.path
            return [row[0] for row in rows if condition.passes(memory(row[1:], path))]

        # Values of two types may be equal in Python and not in SQL: 1 and True.
        key = condition.sql, tuple((type(value), value) for value in condition.values)
        return self._partition.passing((key, condition.rest and str(filter)), read)

    def _parts(self, query: LexicalQuery) -> list[Part]:
        """Return the posting lists of a query's terms."""
        return self._parts_and_ceiling(query)[1]

    def _parts_and_ceiling(self, query: LexicalQuery) -> tuple[LexicalQuery, list[Part], float]:
        """Return a query, its posting lists and its ceiling; cached for the last query."""
        if self._last_parts is None or self._last_parts[0] is not query:
            parts = self._read_parts(query)
            self._last_parts = query, parts, ceiling(query, parts, self._visibility.count)
        return self._last_parts

    def _sums(self, query: LexicalQuery) -> Sums:
        """Return the sums of a query's postings; cached for the last query."""
        if self._last_sums is None or self._last_sums[0] is not query:
            slots, values = impacts(self._parts(query), self._visibility.count)
            self._last_sums = query, Sums.of(slots, values, len(self._partition))
        return self._last_sums[1]

    def _read_parts(self, query: LexicalQuery) -> list[Part]:
        partition, visibility, scorer = self._partition, self._visibility, query.scorer
        lookups = [lookup for lookup in query.lookups() if visibility.average_lengths[lookup[0]]]
        keys = [(field, term) for field, term, _ in lookups]
        worth = partition.cached_saturated(visibility, keys, scorer)
        uncached = [key for key, listed in worth.items() if listed is None]
        if uncached:
            self._read_lists(uncached)
            worth |= self._saturated(uncached, scorer)
        parts: list[tuple[str, str, float, Saturated]] = []
        most: dict[str, int] = {}
        for field, term, weight in lookups:
            listed = worth[field, term]
            if listed is not None and listed.slots.size:
                parts.append((field, term, weight, listed))
                most[term] = max(most.get(term, 0), listed.slots.size)
        fields = {field: (partition.lengths(field), visibility.average_lengths[field]) for field, *_ in parts}
        return [
            Part(field, term, listed, weight, *fields[field], most[term])
            for field, term, weight, listed in parts
        ]

    def _saturated(self, keys: Sequence[tuple[str, str]], scorer: BM25) -> dict[tuple[str, str], Saturated]:
        """Return, and cache, the saturated posting lists of terms over the visible memories."""
        partition, visibility = self._partition, self._visibility
        visible_lists = [_visible(self._list(*key), visibility) for key in keys]
        worth = saturated(
            visible_lists,
            [partition.lengths(field) for field, _ in keys],
            [visibility.average_lengths[field] for field, _ in keys],
            scorer,
        )
        for (field, term), listed in zip(keys, worth, strict=True):
            partition.cache_saturated(visibility, field, term, scorer, listed)
        return dict(zip(keys, worth, strict=True))

    def _list(self, field: str, term: str) -> TermList:
        """Return the whole posting list of a term: of the segments, and of the tail."""
        old = self._partition.cached_list(field, term)
        if old is None:
            old = self._read_lists([(field, term)])[field, term]
        new = self._partition.tail_list(field, term)
        if not new.slots.size:
            return old
        slots = np.concatenate([old.slots, new.slots])
        frequencies = np.concatenate([old.frequencies, new.frequencies])
        if self._partition.reworded:
            order = slots.argsort()
            slots, frequencies = slots[order], frequencies[order]
        return TermList(slots, frequencies)

    def _read_lists(self, keys: Sequence[tuple[str, str]]) -> Mapping[tuple[str, str], TermList]:
        """Read those of the lists that are not cached yet, all at once."""
        partition, number = self._partition, self._namespace.number
        unread = [key for key in keys if partition.cached_list(*key) is None]
        if not unread:
            return {}
        lists = read_lists(
            partition.segments(
                lambda known: self._session.execute(*segments_statement(number, known)).fetchall()
            ),
            unread,
        )
        for key, listed in lists.items():
            if partition.reworded and listed.slots.size:
                kept = ~np.isin(listed.slots, partition.reworded)
                lists[key] = TermList(listed.slots[kept], listed.frequencies[kept])
            partition.cache_list(*key, lists[key])
        return lists

    def _float_rows(self, places: npt.NDArray[np.intp]) -> Floats:
        """Read float32 rows by their position among the namespace's vectors."""
        owners = self._partition.vectors.owners.view
        slots = owners[places]
        rows = self._lone_rows(slots)
        if rows is None:
            rows = self._passage_rows(places, slots)
        return rows

    def _passage_rows(self, places: npt.NDArray[np.intp], slots: Owners) -> Floats:
        """Read float32 rows of slots of which some have several."""
        owners = self._partition.vectors.owners.view
        passage = places - np.searchsorted(owners, slots)
        rows = np.zeros((places.size, self._partition.vectors.dimension), np.float32)
        distinct_slots, where = np.unique(slots, return_inverse=True)
        for position, block in self._rows_of(distinct_slots.astype(np.intp)):
            for row in np.flatnonzero(where == position):
                rows[row] = block[passage[row]]
        return rows

    def _lone_rows(self, slots: Owners) -> Floats | None:
        """Return the vectors of ascending slots that have one each; None if any has more, or none."""
        if self._embedder is None:
            return None
        among, numbers = self._vector_numbers(slots)
        rows = self._session.execute(
            f"SELECT vectors FROM vectors WHERE +namespace = ? AND number {among} ORDER BY number", numbers
        ).fetchall()
        joined = b"".join([blob for (blob,) in rows])
        if len(rows) != slots.size or len(joined) != stored_bytes(self._embedder[1]) * slots.size:
            return None
        return unsealed(joined, self._embedder[1])

    def _vector_numbers(self, slots: npt.NDArray[np.signedinteger[Any]]) -> tuple[str, list[Any]]:
        """Return a condition on the numbers of rows with the vectors of some slots; namespace and values."""
        assert self._embedder is not None  # callers check
        number, dialect = self._namespace.number, self._session.dialect
        first = dialect.vectors_number(self._embedder[0], number, 0)
        among, numbers = dialect.among([first + slot for slot in slots.tolist()])
        return among, [number, *numbers]

    def _rows_of(self, slots: IntArray) -> list[tuple[int, Floats]]:
        """Return, for each slot that has vectors, its position in `slots` and its rows."""
        if self._embedder is None or not slots.size:
            return []
        positions = {slot: position for position, slot in enumerate(slots.tolist())}
        among, numbers = self._vector_numbers(slots)
        rows = self._session.execute(
            f"SELECT slot, vectors FROM vectors WHERE +namespace = ? AND number {among}", numbers
        ).fetchall()
        dimension = self._embedder[1]
        return [(positions[slot], unsealed(blob, dimension)) for slot, blob in rows]


def _visible(listed: TermList, visibility: Visibility) -> TermList:
    if visibility.mask is None or not listed.slots.size:
        return listed
    mask = visibility.mask[listed.slots]
    return TermList(listed.slots[mask], listed.frequencies[mask])


SCAN: Final = "exact scan"
BITS: Final = "sign bits, the best compared exactly"
POSTINGS: Final = "own posting lists, BM25"


def vectors_method(vectors: Vectors) -> str:
    """Return how the vectors of a namespace are searched."""
    return SCAN if vectors.exact else BITS


def methods() -> Mapping[str, str]:
    """Return how searches of a store are done, by leg: ``"vector"`` and ``"lexical"``.

    Examples
    --------
    >>> methods()["lexical"]
    'own posting lists, BM25'
    """
    return {
        "vector": f"{SCAN} up to {MAX_EXACT_VECTORS:,} vectors in a namespace; above, {BITS}",
        "lexical": POSTINGS,
    }
