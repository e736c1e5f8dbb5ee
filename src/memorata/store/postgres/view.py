"""One consistent look at one namespace on a server: every leg selects its candidates there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import numpy as np

from memorata.index.lexical import LexicalQuery
from memorata.index.record import Records, gone, unpacked
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.memory import Memory
from memorata.model.period import Period
from memorata.model.place import Place
from memorata.rank.context import REACH, ContextWindow
from memorata.rank.order import ranked
from memorata.store.filters import Filter
from memorata.store.port import NOTHING, Floats, Found
from memorata.store.postgres import lexical, methods, situated, vectors
from memorata.store.postgres.arrays import array
from memorata.store.postgres.connection import Server
from memorata.store.postgres.context import Sides, around, nearby, read_in_context
from memorata.store.postgres.lists import Asked, Lists
from memorata.store.postgres.opening import SMALL, opened
from memorata.store.postgres.rows import OWN, memory
from memorata.store.postgres.scanning import WORTH, compared
from memorata.store.postgres.sight import Restriction, both, filtered, look, without_terms
from memorata.store.postgres.words import NUMBER_OF, key_of

_CONTENT = NUMBER_OF["content"]
_MEMORIES: Final = f"SELECT m.slot, {OWN} FROM memories m WHERE m.namespace = %s AND m.slot = ANY (%s::int[])"
_GONE: Final = gone()
_KEPT: Final = 64
"""How many of the nearest are kept of each vector that is expected: more than are asked for at first."""


class PostgresView:
    """A :class:`~memorata.store.port.View` on a server, inside a read transaction."""

    def __init__(
        self,
        connection: Server,
        path: str,
        embedder: tuple[int, int] | None,
        now: datetime,
        as_of: datetime | None,
        filter: Filter | None,
        true_at: datetime | None = None,
    ) -> None:
        self._connection = connection
        self._opened = opened(connection, path, now, embedder)
        self._namespace = self._opened.namespace
        self._number = self._namespace.number
        self._embedder = embedder
        self._sight = look(connection, self._opened, now, as_of, true_at)
        self._filtered = filter is not None
        self._allowed = self._sight.seen
        if filter is not None:
            self._allowed = both(self._allowed, filtered(connection, self._namespace, filter))
        self._lists = Lists(connection, self._number, self._sight)
        self._asked: Asked | None = None
        self._memories: dict[int, Memory] = {}
        self._records: dict[int, bytes] = {}
        self._sides: dict[int, dict[int, Sides]] = {}
        self._awaited: list[int] = []
        """What legs have found, whose records somebody will ask for."""
        self._methods: dict[str, str] = {}
        self._meaning: tuple[Floats, IntArray, FloatArray] | None = None
        self._expected: dict[bytes, tuple[IntArray, FloatArray]] = {}

    @property
    def methods(self) -> Mapping[str, str]:
        """How it was searched so far, by leg."""
        return self._methods

    @property
    def change(self) -> int:
        """The last change of the namespace that can be seen; 0 for one that there is not."""
        return self._namespace.change

    @property
    def count(self) -> int:
        """How many memories may be returned."""
        if not self._filtered:
            return self._sight.count
        row = self._connection.execute(
            f"SELECT count(*) FROM memories m WHERE m.namespace = %s{self._allowed.on('m')}",
            (self._number, *self._allowed.values),
        ).fetchone()
        return int((row or (0,))[0])

    @property
    def pending(self) -> int:
        """How many memories have no vector of the store's embedder yet."""
        return self._namespace.memories - self._opened.embedded

    def nearest(
        self, query: Floats, limit: int, excluded: Sequence[str] = (), *, rough: bool = False
    ) -> Found:
        """Return the memories whose best passage is closest to a unit vector, with their cosines."""
        if self._embedder is None:
            return NOTHING
        expected = self._expected.get(query.tobytes())
        if expected is not None and limit <= _KEPT and not excluded:
            self._methods["vector"] = methods.EXACT
            return Found(expected[0][:limit], expected[1][:limit], exact=True)
        allowed = self._without(excluded)
        if self._is_small:
            slots, cosines = self._every_cosine(query)
            kept = self._passing(slots, allowed)
            slots, cosines = slots[kept], cosines[kept]
            order = ranked(cosines, limit)
            slots, cosines, self._methods["vector"] = slots[order], cosines[order], methods.EXACT
        else:
            slots, cosines, self._methods["vector"] = vectors.nearest(
                self._connection,
                self._number,
                self._embedder,
                query,
                limit,
                allowed,
                self._opened.passages,
                indexed=self._opened.indexed,
            )
        return self._found(Found(slots, cosines, exact=self._methods["vector"] == methods.EXACT))

    def lexical(self, query: LexicalQuery, limit: int) -> Found:
        """Return the memories with the highest BM25 scores; only those that share a term."""
        allowed = self._without(query.excluded)
        self._methods["lexical"] = methods.POSTINGS
        # What may be seen is all that is listed already.
        extra = Restriction(allowed.parts[len(self._sight.seen.parts) :])
        self._asked, found = lexical.search(self._lists, query, limit, extra, self._passing)
        return self._found(found)

    def in_context(self, query: LexicalQuery, slots: IntArray, reading: ContextWindow) -> Found:
        """Return the BM25 scores of the given memories, each read with its neighbours in the session."""
        asked = self._asked
        if asked is None or asked.query is not query:
            asked = self._asked = self._lists.ask(query)
        if not asked.wanted or not slots.size:
            return Found(slots, np.zeros(slots.size))
        neighbours = self._around(slots, REACH)
        others = np.setdiff1d(nearby(neighbours, slots), slots)
        records = self.records(np.concatenate([slots, others]))
        return read_in_context(self._lists, asked, slots, others, reading, records, neighbours)

    def neighbours(self, slots: IntArray, reach: int) -> IntArray:
        """Return the memories said around the given ones that may be returned, each once, ascending."""
        near = nearby(self._around(slots, reach), slots)
        return near[self._passing(near, self._allowed)]

    def timely(self, period: Period, limit: int) -> Found:
        """Return the memories from about a period, the closest first, with how close each is."""
        return situated.timely(self._connection, self._number, self._allowed, period, limit)

    def nearby(self, here: Place, limit: int, scale: float) -> Found:
        """Return the memories closest to a point, with how near each is."""
        return situated.nearby(self._connection, self._number, self._allowed, here, limit, scale)

    def without(self, slots: IntArray, terms: Sequence[str]) -> IntArray:
        """Return those of the given memories that have none of the terms in their content."""
        return slots[self._passing(slots, self._without(terms))]

    def cosines(self, query: Floats, slots: IntArray) -> FloatArray:
        """Return the cosine of each memory's best passage with the query; 0 for one without vectors."""
        if self._embedder is None or not slots.size:
            return np.zeros(slots.size)
        expected = self._expected.get(query.tobytes())
        if expected is not None:
            cosines = dict(zip(*(each.tolist() for each in expected), strict=True))
            if all(slot in cosines for slot in slots.tolist()):
                return np.array([cosines[slot] for slot in slots.tolist()])
        if not self._is_small:
            return vectors.cosines(self._connection, self._number, self._embedder, query, slots)
        known, every = self._every_cosine(query)
        if not known.size:
            return np.zeros(slots.size)
        at = np.minimum(known.searchsorted(slots), known.size - 1)
        return np.where(known[at] == slots, every[at], 0.0)

    def expect(self, queries: Floats, limit: int, read: int) -> None:
        """Look for what is nearest to each of some vectors at once, as far as that is sooner done.

        The records of the `limit` nearest are read, and the memories of the first `read` of them.
        """
        if self._embedder is None or self._opened.passages > WORTH * len(queries):
            return
        best = compared(
            self._connection,
            self._number,
            self._embedder,
            queries,
            _KEPT,
            self._namespace.slots,
            lambda slots: self._passing(slots, self._allowed),
        )
        self._expected = {query.tobytes(): each for query, each in zip(queries, best, strict=True)}
        self.records(_together([slots[:limit] for slots, _ in best]))
        self.memories(_together([slots[:read] for slots, _ in best]))

    def document_frequencies(
        self, terms: Sequence[str], field: str = "content"
    ) -> tuple[int, dict[str, int]]:
        """Return how many memories may be seen and how many of those have each term in a field."""
        return self._sight.count, self._lists.frequencies(terms, field)

    def records(self, slots: IntArray) -> Records:
        """Return the records of the given memories."""
        wanted, known = slots.tolist(), self._records
        unread = [slot for slot in wanted if slot not in known]
        if unread:
            rows = self._connection.rows(
                "SELECT slot, record FROM memories WHERE namespace = %s AND slot = ANY (%s::int[])",
                (self._number, array(unread)),
            )
            # Of a purged memory no row is left to hold one.
            known.update(dict.fromkeys(unread, _GONE))
            known.update(rows)
        return unpacked([known[slot] for slot in wanted])

    def vectors(self, slots: IntArray) -> Floats:
        """Return the first passage's vector of each memory; zeros for one without."""
        if self._embedder is None:
            return np.zeros((slots.size, 0), np.float32)
        return vectors.first_passages(self._connection, self._number, self._embedder, slots)

    def memories(self, slots: IntArray) -> list[Memory]:
        """Return the given memories, in the same order."""
        wanted, known = slots.tolist(), self._memories
        unread = [slot for slot in wanted if slot not in known]
        if unread:
            for slot, *row in self._connection.rows(_MEMORIES, (self._number, array(unread))):
                known[slot] = memory(row, self._namespace.path)
        return [known[slot] for slot in wanted]

    @property
    def _is_small(self) -> bool:
        return self._sight.small and self._opened.passages <= SMALL

    def _every_cosine(self, query: Floats) -> tuple[IntArray, FloatArray]:
        """Return every slot with a vector, ascending, and its cosine; read once for a question."""
        assert self._embedder is not None  # callers looked
        if self._meaning is None or not np.array_equal(self._meaning[0], query):
            found = vectors.every_cosine(self._connection, self._number, self._embedder[0], query)
            self._meaning = (query.copy(), *found)
        return self._meaning[1:]

    def _found(self, found: Found) -> Found:
        self._awaited += found.slots.tolist()
        return found

    def _around(self, slots: IntArray, reach: int) -> dict[int, Sides]:
        """Return who was said around some memories, and read their records in passing.

        What else was found will be asked about next, and is read with them.
        """
        known = self._sides.setdefault(reach, {})
        unread = [slot for slot in slots.tolist() if slot not in known]
        if unread:
            unread += [slot for slot in self._awaited if slot not in known]
            self._awaited = []
            records, sides = around(self._connection, self._number, unread, reach)
            self._records.update(records)
            known.update(sides)
        return known

    def _without(self, terms: Sequence[str]) -> Restriction:
        keys = [key_of(term) for term in terms]
        return without_terms(self._allowed, self._number, keys, _CONTENT)

    def _passing(self, slots: IntArray, allowed: Restriction) -> BoolArray:
        """Return which of some slots a restriction lets through."""
        known = allowed.kept(slots)
        if known is not None:
            return known
        rows = self._connection.rows(
            "SELECT m.slot FROM memories m WHERE m.namespace = %s AND m.slot = ANY (%s::int[])"
            f"{allowed.on('m')}",
            (self._number, array(slots.tolist()), *allowed.values),
        )
        return np.isin(slots, np.array([slot for (slot,) in rows], np.intp))


def _together(pieces: Sequence[IntArray]) -> IntArray:
    return np.unique(np.concatenate(pieces)) if pieces else np.zeros(0, np.intp)
