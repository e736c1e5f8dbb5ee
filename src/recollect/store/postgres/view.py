"""One consistent look at one namespace on a server: every leg selects its candidates there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from recollect.index.lexical import LexicalQuery
from recollect.index.record import Records, unpacked
from recollect.model.checks import FloatArray, IntArray
from recollect.model.memory import Memory
from recollect.model.period import Period
from recollect.model.place import Place
from recollect.rank.context import REACH, Reading
from recollect.store.filters import Filter
from recollect.store.port import Floats, Found
from recollect.store.postgres import lexical, situated, vectors
from recollect.store.postgres.arrays import array
from recollect.store.postgres.connection import Server
from recollect.store.postgres.context import around, read_in_context
from recollect.store.postgres.lexical import Asked
from recollect.store.postgres.methods import POSTINGS
from recollect.store.postgres.namespaces import Namespace
from recollect.store.postgres.rows import OWN, memory
from recollect.store.postgres.sight import Restriction, both, filtered, look, without_terms
from recollect.store.postgres.words import NUMBER_OF, key_of

_CONTENT = NUMBER_OF["content"]


class PostgresView:
    """A :class:`~recollect.store.port.View` on a server, inside a read transaction."""

    def __init__(
        self,
        connection: Server,
        namespace: Namespace,
        embedder: tuple[int, int] | None,
        now: datetime,
        as_of: datetime | None,
        filter: Filter | None,
        true_at: datetime | None = None,
    ) -> None:
        self._connection = connection
        self._namespace = namespace
        self._number = namespace.number
        self._embedder = embedder
        self._sight = look(connection, namespace, now, as_of, true_at)
        self._filtered = filter is not None
        self._allowed = self._sight.seen
        if filter is not None:
            self._allowed = both(self._allowed, filtered(connection, namespace, filter))
        self._asked: Asked | None = None
        self._memories: dict[int, Memory] = {}
        self._records: dict[int, bytes] = {}
        self._methods: dict[str, str] = {}
        self._counted: tuple[int, int, bool] | None = None

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
        if self._embedder is None:
            return self._namespace.memories
        return self._namespace.memories - self._vectors_of(self._embedder[0])[0]

    def nearest(
        self, query: Floats, limit: int, excluded: Sequence[str] = (), *, rough: bool = False
    ) -> Found:
        """Return the memories whose best passage is closest to a unit vector, with their cosines."""
        if self._embedder is None:
            return Found(np.zeros(0, np.intp), np.zeros(0))
        allowed = self._without(excluded)
        slots, cosines, self._methods["vectors"] = vectors.nearest(
            self._connection,
            self._number,
            self._embedder,
            query,
            limit,
            allowed,
            self._vectors_of(self._embedder[0]),
        )
        return Found(slots, cosines)

    def lexical(self, query: LexicalQuery, limit: int) -> Found:
        """Return the memories with the highest BM25 scores; only those that share a term."""
        allowed = self._without(query.excluded)
        self._methods["words"] = POSTINGS
        # What may be seen is all that is listed already.
        extra = Restriction(allowed.parts[len(self._sight.seen.parts) :])
        self._asked, found = lexical.search(self._connection, self._number, self._sight, query, limit, extra)
        return found

    def in_context(self, query: LexicalQuery, slots: IntArray, reading: Reading) -> Found:
        """Return the BM25 scores of the given memories, each read with its neighbours in the session."""
        asked = self._asked
        if asked is None or asked.query is not query:
            asked = self._asked = lexical.ask(self._connection, self._number, self._sight, query)
        if not asked.wanted or not slots.size:
            return Found(slots, np.zeros(slots.size))
        neighbours = self._around(slots, REACH)
        near = {each for sides in neighbours.values() for side in sides for each in side}
        others = np.array(sorted(near - set(slots.tolist())), np.intp)
        records = self.records(np.concatenate([slots, others]))
        return read_in_context(
            self._connection, self._number, self._sight, asked, slots, reading, records, neighbours
        )

    def neighbours(self, slots: IntArray, reach: int) -> IntArray:
        """Return the memories said around the given ones that may be returned, each once, ascending."""
        found = self._around(slots, reach)
        near = sorted({each for sides in found.values() for side in sides for each in side})
        return np.array(self._kept(near, self._allowed), np.intp)

    def timely(self, period: Period, limit: int) -> Found:
        """Return the memories from about a period, the closest first, with how close each is."""
        return situated.timely(self._connection, self._number, self._allowed, period, limit)

    def nearby(self, here: Place, limit: int, scale: float) -> Found:
        """Return the memories closest to a point, with how near each is."""
        return situated.nearby(self._connection, self._number, self._allowed, here, limit, scale)

    def without(self, slots: IntArray, terms: Sequence[str]) -> IntArray:
        """Return those of the given memories that have none of the terms in their content."""
        kept = set(self._kept(slots.tolist(), self._without(terms)))
        return slots[[slot in kept for slot in slots.tolist()]] if slots.size else slots

    def cosines(self, query: Floats, slots: IntArray) -> FloatArray:
        """Return the cosine of each memory's best passage with the query; 0 for one without vectors."""
        if self._embedder is None or not slots.size:
            return np.zeros(slots.size)
        return vectors.cosines(self._connection, self._number, self._embedder, query, slots)

    def document_frequencies(
        self, terms: Sequence[str], field: str = "content"
    ) -> tuple[int, dict[str, int]]:
        """Return how many memories may be seen and how many of those have each term in a field."""
        sight = self._sight
        return sight.count, lexical.frequencies(self._connection, self._number, sight, terms, field)

    def records(self, slots: IntArray) -> Records:
        """Return the records of the given memories."""
        wanted, known = slots.tolist(), self._records
        unread = [slot for slot in wanted if slot not in known]
        if unread:
            rows = self._connection.execute(
                "SELECT slot, record FROM memories WHERE namespace = %s AND slot = ANY (%s::int[])",
                (self._number, array(unread)),
                binary=True,
            )
            known.update(rows.fetchall())
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
            for slot, *row in self._connection.execute(
                f"SELECT m.slot, {OWN} FROM memories m WHERE m.namespace = %s AND m.slot = ANY (%s::int[])",
                (self._number, array(unread)),
            ):
                known[slot] = memory(row, self._namespace.path)
        return [known[slot] for slot in wanted]

    def _around(self, slots: IntArray, reach: int) -> dict[int, list[list[int]]]:
        """Return who was said around some memories; nobody is asked about those of no session."""
        spoken = slots[self.records(slots)["session"] >= 0].tolist()
        return around(self._connection, self._number, spoken, reach) if spoken else {}

    def _vectors_of(self, embedder: int) -> tuple[int, int, bool]:
        if self._counted is None:
            self._counted = vectors.counted(self._connection, self._number, embedder)
        return self._counted

    def _without(self, terms: Sequence[str]) -> Restriction:
        keys = [key_of(term) for term in terms]
        return without_terms(self._allowed, self._number, keys, _CONTENT)

    def _kept(self, slots: Sequence[int], allowed: Restriction) -> list[int]:
        """Return those of some slots that a restriction lets through, ascending."""
        if not slots:
            return []
        rows = self._connection.execute(
            "SELECT m.slot FROM memories m WHERE m.namespace = %s AND m.slot = ANY (%s::int[])"
            f"{allowed.on('m')} ORDER BY m.slot",
            (self._number, array(slots), *allowed.values),
        )
        return [slot for (slot,) in rows]
