"""Who is compared on the same memories: the engine on PostgreSQL, the engine in a file, a search by hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import psycopg

from benchmarks.engine_data import CHUNK, Batch, FixedVectors, Floats, Question, about, batches, naturally
from benchmarks.engine_store import namespace_name
from benchmarks.peers import LIMIT
from benchmarks.postgres_by_hand import ByHand
from benchmarks.postgres_scale import NAME
from benchmarks.postgres_server import Running
from memorata import Query
from memorata.engine import Engine
from memorata.engine import open as open_engine

_BATCHES_ASKED = 8
_DEDUPE = {True: "near", False: "off"}


@dataclass(frozen=True, slots=True)
class Shape:
    """How memories are spread: so many namespaces with so many each."""

    namespaces: int
    each: int

    @property
    def size(self) -> int:
        """How many memories there are in all."""
        return self.namespaces * self.each

    @property
    def name(self) -> str:
        """What files and databases with it are called."""
        return f"{self.namespaces}x{self.each}"

    def __str__(self) -> str:
        """Say it."""
        if self.namespaces == 1:
            return f"{self.each:,} memories in one namespace"
        return f"{self.namespaces:,} namespaces of {self.each:,} memories"

    def namespaces_of(self, first: int, count: int) -> list[str]:
        """Return where each of some memories belongs; what comes after the last goes to new namespaces."""
        if self.namespaces == 1:
            return [namespace_name(0)] * count
        return [namespace_name(number // self.each) for number in range(first, first + count)]

    def questions(self, count: int, seed: int) -> list[Asked]:
        """Return questions of a few words and natural ones in turn, of as many namespaces as there can be."""
        chance = np.random.default_rng([seed, self.size])
        made = -(-self.size // CHUNK)
        most = _BATCHES_ASKED if self.namespaces == 1 else count
        drawn = np.resize(chance.choice(made, min(most, made, count), replace=False), count)
        starts = CHUNK * np.sort(drawn)
        memories = [int(chance.integers(start, min(start + CHUNK, self.size))) for start in starts.tolist()]
        kinds = about(memories, seed), naturally(memories, seed, self.size)
        return [
            Asked(kinds[turn % 2][turn], *self.namespaces_of(memory, 1))
            for turn, memory in enumerate(memories)
        ]


class Asked(NamedTuple):
    """A question, and whose memories it is about."""

    question: Question
    namespace: str


class Single(NamedTuple):
    """One memory to write."""

    text: str
    vector: Floats
    namespace: str


class Contender(Protocol):
    """Somebody who keeps memories and answers questions."""

    name: str
    database: str | None
    dedupes: bool
    """Whether it can look for duplicates."""

    def count(self) -> int:
        """Return how many memories there are."""
        ...

    def add(self, batch: Batch, namespaces: Sequence[str], *, dedupe: bool) -> None:
        """Write a batch; `dedupe`: duplicates of what is there are looked for, where that can be done."""
        ...

    def add_one(self, single: Single, *, dedupe: bool) -> None:
        """Write one, durably."""
        ...

    def finish(self, shape: Shape) -> None:
        """Build what is built once all are there."""
        ...

    def ways(self) -> dict[str, Callable[[Asked], list[str]]]:
        """Return the ways of asking, each giving the best ten texts."""
        ...

    def processes(self) -> dict[str, list[int]]:
        """Return the server's processes that work for each way."""
        ...

    def pages(self) -> int:
        """Return how many pages of its database were looked at so far."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


class Ours:
    """The engine, in a file or on a server, with vectors given and everything else as it is delivered."""

    dedupes = True

    def __init__(self, name: str, where: Path | str, database: str | None) -> None:
        self.name = name
        self.database = database
        self._embedder = FixedVectors()
        self._where = where
        self._engine: Engine = open_engine(where, embedder=self._embedder)

    def count(self) -> int:
        """Return how many memories there are."""
        return sum(self._engine.store.namespaces().values())

    def add(self, batch: Batch, namespaces: Sequence[str], *, dedupe: bool) -> None:
        """Write a batch with `remember_many`."""
        self._embedder.give(batch.texts, batch.vectors)
        items = [item | {"namespace": where} for item, where in zip(batch.items(), namespaces, strict=True)]
        self._engine.remember_many(items, duplicates=_DEDUPE[dedupe])

    def add_one(self, single: Single, *, dedupe: bool) -> None:
        """Write one with `remember`."""
        self._embedder.give([single.text], single.vector[None])
        self._engine.remember(single.text, namespace=single.namespace, duplicates=_DEDUPE[dedupe])

    def finish(self, shape: Shape) -> None:
        """Write codes of vectors that were added late, as `memorata admin reembed` does, and analyse."""
        while self._engine.store.renew_codes():
            pass
        if self.database is not None:
            with psycopg.connect(str(self._where), autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")

    def ways(self) -> dict[str, Callable[[Asked], list[str]]]:
        """Return the one way of asking."""
        return {
            self.name: lambda asked: [
                hit.memory.content
                for hit in self._engine.recall(
                    Query(asked.question.text, vector=asked.question.vector),
                    limit=LIMIT,
                    namespace=asked.namespace,
                )
            ]
        }

    def processes(self) -> dict[str, list[int]]:
        """Return the server's processes that work for this engine."""
        if self.database is None:
            return {}
        with psycopg.connect(str(self._where)) as connection:
            found = connection.execute(
                "SELECT pid FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = 'memorata'"
            ).fetchall()
        return {self.name: [pid for (pid,) in found]}

    def pages(self) -> int:
        """Return how many pages of its database were looked at so far."""
        return 0 if self.database is None else looked_at(str(self._where))

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()


class Handmade:
    """The table that people make, asked on one connection with OR and on another with AND."""

    name = "pgvector + tsvector by hand"
    dedupes = False

    def __init__(self, url: str, database: str) -> None:
        self.database: str | None = database
        self._url = url
        self._asked = {words: ByHand(url) for words in ("or", "and")}
        self._writing = self._asked["or"]

    def count(self) -> int:
        """Return how many notes there are."""
        return self._writing.count()

    def add(self, batch: Batch, namespaces: Sequence[str], *, dedupe: bool) -> None:
        """Write a batch by COPY."""
        self._writing.add(batch, namespaces)

    def add_one(self, single: Single, *, dedupe: bool) -> None:
        """Write one by INSERT."""
        self._writing.add_one(single.text, single.vector, single.namespace)

    def finish(self, shape: Shape) -> None:
        """Build the HNSW index, unless tenants are so small that a server reads all of one sooner."""
        if shape.namespaces == 1:
            self._writing.index_meanings()
        self._writing.analyse()

    def ways(self) -> dict[str, Callable[[Asked], list[str]]]:
        """Return a way that joins words by OR, and one by AND."""

        def way(words: str) -> Callable[[Asked], list[str]]:
            return lambda asked: self._asked[words].recall(asked.question, asked.namespace, words)

        return {self._called(words): way(words) for words in self._asked}

    def processes(self) -> dict[str, list[int]]:
        """Return the server's process behind each connection."""
        return {self._called(words): [one.process] for words, one in self._asked.items()}

    def pages(self) -> int:
        """Return how many pages of its database were looked at so far."""
        return looked_at(self._url)

    def close(self) -> None:
        """Let go of the server."""
        for each in self._asked.values():
            each.close()

    def _called(self, words: str) -> str:
        return f"{self.name}, {words.upper()}"


def looked_at(url: str) -> int:
    """Return how many pages of a database were looked at so far, in memory or on the disk."""
    # A server's processes tell what they did about once a second.
    time.sleep(1.5)
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT blks_hit + blks_read FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    return int((row or (0,))[0])


def opened(shape: Shape, server: Running, folder: Path) -> list[Contender]:
    """Open everybody on databases of their own for a shape."""
    ours, by_hand = f"memorata_{shape.name}", f"by_hand_{shape.name}"
    return [
        Ours(NAME, server.made(ours), ours),
        Ours("Memorata in a file", folder / f"memorata-{shape.name}.db", None),
        Handmade(server.made(by_hand), by_hand),
    ]


def following(shape: Shape, already: int, count: int) -> list[tuple[Batch, list[str]]]:
    """Return batches of memories that nobody has yet."""
    first = -(-already // CHUNK)
    made = enumerate(batches((first + count) * CHUNK, first), first)
    return [(batch, shape.namespaces_of(number * CHUNK, CHUNK)) for number, batch in made]


def singles(shape: Shape, already: int, count: int) -> list[Single]:
    """Return memories that nobody has yet, for namespaces drawn from all."""
    ((batch, _),) = following(shape, already, 1)
    chance: Any = np.random.default_rng(already)
    numbers = chance.integers(0, shape.namespaces, count).tolist()
    return [
        Single(text, vector, namespace_name(number))
        for text, vector, number in zip(batch.texts, batch.vectors, numbers, strict=False)
    ]
