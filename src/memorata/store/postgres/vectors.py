"""Vectors on a server: written, removed, and searched by pgvector.

A namespace with few vectors is searched exactly, in one pass over its own. One with many gets an approximate
index of its own (HNSW; Malkov & Yashunin 2018) from `renew_codes`, a partial index for one namespace and one
embedder: small namespaces pay nothing for it, and large ones share it with nobody. pgvector's iterative scan
goes on until enough have passed a filter, so that a filter never starves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from memorata.model.checks import FloatArray, IntArray
from memorata.store.port import Floats
from memorata.store.postgres import methods
from memorata.store.postgres.arrays import array
from memorata.store.postgres.connection import Server
from memorata.store.postgres.sight import Restriction

EXACT: Final = 20_000
"""Up to how many vectors a namespace is searched exactly."""
WIDEST: Final = 2_000
"""The most dimensions that pgvector makes an index of; above, every search is exact."""
_EF: Final = 200
_MOST: Final = 100_000
_ADD: Final = (
    "INSERT INTO vectors (namespace, embedder, slot, passage, digest, embedding) "
    "VALUES (%s, %s, %s, %s, %s, %s)"
)
_COUNT: Final = (
    "INSERT INTO vector_counts (namespace, embedder, memories, passages) VALUES (%s, %s, %s, %s) "
    "ON CONFLICT (namespace, embedder) DO UPDATE SET "
    "memories = vector_counts.memories + excluded.memories, "
    "passages = vector_counts.passages + excluded.passages"
)


def put_vectors(
    connection: Server, number: int, embedder: int, given: Sequence[tuple[int, bytes, Floats]]
) -> None:
    """Write the vectors of memories, given by slot, digest and rows; their namespace must be locked."""
    rows = [
        (number, embedder, slot, passage, digest, vector)
        for slot, digest, vectors in given
        for passage, vector in enumerate(np.asarray(vectors, np.float32))
    ]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(_ADD, rows)
    connection.execute(_COUNT, (number, embedder, len(given), len(rows)))


def remove_vectors(connection: Server, number: int, slot: int, embedder: int | None = None) -> None:
    """Remove a memory's vectors, of all embedders or of one; its namespace must be locked."""
    rows = connection.execute(
        "DELETE FROM vectors WHERE namespace = %s AND slot = %s AND (%s::int IS NULL OR embedder = %s) "
        "RETURNING embedder",
        (number, slot, embedder, embedder),
    ).fetchall()
    for whose in {each for (each,) in rows}:
        passages = sum(each == whose for (each,) in rows)
        connection.execute(
            "UPDATE vector_counts SET memories = memories - 1, passages = passages - %s "
            "WHERE namespace = %s AND embedder = %s",
            (passages, number, whose),
        )


def every_cosine(
    connection: Server, number: int, embedder: int, query: Floats
) -> tuple[IntArray, FloatArray]:
    """Return every slot of a namespace that has a vector, ascending, and the cosine of its best passage."""
    ((found, cosines),) = connection.rows(
        "SELECT array_agg(slot), array_agg(-(embedding <#> %s)) FROM vectors "
        "WHERE namespace = %s AND embedder = %s",
        (query, number, embedder),
    )
    if found is None:
        return np.zeros(0, np.intp), np.zeros(0)
    order = found.argsort(kind="stable")
    ordered, cosines = found[order], cosines[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[first].astype(np.intp), np.maximum.reduceat(cosines, first)


def nearest(
    connection: Server,
    number: int,
    embedder: tuple[int, int],
    query: Floats,
    limit: int,
    among: Restriction,
    passages: int,
    *,
    indexed: bool,
) -> tuple[IntArray, FloatArray, str]:
    """Return the slots whose best passage is closest to a unit vector, best first, their cosines, and how.

    There are so many `passages`, and an index of them if it says so.
    """
    if limit == 0:
        return np.zeros(0, np.intp), np.zeros(0), methods.EXACT
    if indexed and passages > EXACT and not among.few:
        slots, found = _approximately(connection, number, embedder, query, limit, among)
        # A scan ends after so many; what passes a rare filter may all be after that.
        if slots.size == limit or passages <= _MOST:
            return slots, found, methods.HNSW
    return *_exactly(connection, number, embedder, query, limit, among), methods.EXACT


def _exactly(
    connection: Server, number: int, embedder: tuple[int, int], query: Floats, limit: int, among: Restriction
) -> tuple[IntArray, FloatArray]:
    return _columns(
        connection.rows(
            "SELECT p.slot, max(-(p.embedding <#> %s)) AS cosine FROM vectors p "
            f"WHERE p.namespace = %s AND p.embedder = %s{among.on('p')} "
            "GROUP BY p.slot ORDER BY cosine DESC, p.slot LIMIT %s",
            (query, number, embedder[0], *among.values, limit),
        )
    )


def cosines(
    connection: Server, number: int, embedder: tuple[int, int], query: Floats, slots: IntArray
) -> FloatArray:
    """Return the cosine of each memory's best passage with the query; 0 for one without vectors."""
    rows = connection.rows(
        "SELECT slot, max(-(embedding <#> %s)) FROM vectors "
        "WHERE namespace = %s AND embedder = %s AND slot = ANY (%s::int[]) GROUP BY slot",
        (query, number, embedder[0], array(slots.tolist())),
    )
    known: dict[int, float] = dict(rows)
    return np.array([known.get(slot, 0.0) for slot in slots.tolist()], np.float64)


def first_passages(connection: Server, number: int, embedder: tuple[int, int], slots: IntArray) -> Floats:
    """Return the first passage's vector of each memory; zeros for one without."""
    result = np.zeros((slots.size, embedder[1]), np.float32)
    rows = connection.execute(
        "SELECT slot, embedding FROM vectors "
        "WHERE namespace = %s AND embedder = %s AND passage = 0 AND slot = ANY (%s::int[])",
        (number, embedder[0], array(slots.tolist())),
        binary=True,
    )
    known: dict[int, Any] = dict(rows.fetchall())
    for position, slot in enumerate(slots.tolist()):
        if slot in known:
            result[position] = known[slot].to_numpy()
    return result


def index_name(number: int, embedder: int) -> str:
    """Return the name of the approximate index over the vectors of a namespace and an embedder."""
    return f"vectors_hnsw_{number}_{embedder}"


def approximate_query(number: int, embedder: tuple[int, int], among: Restriction) -> str:
    """Return the search that an approximate index answers.

    The numbers stand in the text, for a server finds a partial index by what it reads there.
    """
    away = f"p.embedding::vector({embedder[1]}) <#> %s::vector({embedder[1]})"
    return (
        f"SELECT p.slot, -({away}) AS cosine FROM vectors p "
        f"WHERE p.namespace = {number} AND p.embedder = {embedder[0]}{among.on('p')} "
        f"ORDER BY {away} LIMIT %s"
    )


def _approximately(
    connection: Server, number: int, embedder: tuple[int, int], query: Floats, limit: int, among: Restriction
) -> tuple[IntArray, FloatArray]:
    """Search by the index; as far as it takes to find enough memories, of which some have many passages."""
    connection.execute(
        f"SET LOCAL hnsw.ef_search = {_EF}; SET LOCAL hnsw.iterative_scan = strict_order; "
        f"SET LOCAL hnsw.max_scan_tuples = {_MOST}",
        prepare=False,
    )
    query_text, wanted = approximate_query(number, embedder, among), 2 * limit
    while True:
        rows = connection.execute(query_text, (query, *among.values, query, wanted), prepare=False).fetchall()
        best: dict[int, float] = {}
        for slot, cosine in rows:
            best[slot] = max(cosine, best.get(slot, cosine))
        if len(best) >= limit or len(rows) < wanted:
            return _columns(sorted(best.items(), key=lambda each: (-each[1], each[0]))[:limit])
        wanted *= 4


def _columns(rows: Sequence[tuple[int, float]]) -> tuple[IntArray, FloatArray]:
    slots = np.array([slot for slot, _ in rows], np.intp)
    return slots, np.array([cosine for _, cosine in rows], np.float64)
