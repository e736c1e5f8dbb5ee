"""Is a store on a server sound? What was said, what was derived from it, and whether the two agree.

Records, words, posting lists and counters can always be rebuilt from the memories and their vectors. What was
said is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.dedupe.fingerprint import fingerprint
from memorata.index import tail
from memorata.index.postings import MOST
from memorata.index.record import FORGOTTEN, packed, unpacked
from memorata.model.errors import IndexCorrupt, StoreCorrupt
from memorata.model.memory import Memory
from memorata.store.port import Terms
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.finding import is_shown
from memorata.store.postgres.namespaces import NO_RECORDS, Namespace
from memorata.store.postgres.rows import OWN, memory
from memorata.store.postgres.words import NUMBER_OF, key_of, relist_words

Words = Callable[[Memory], Terms]

_EACH: Final = (
    f"SELECT m.slot, m.record, m.words, m.forgotten_at, m.superseded_at, {OWN} FROM memories m "
    "WHERE m.namespace = %s ORDER BY m.slot"
)
_LISTED: Final = (
    "SELECT field, term, slot, hidden, frequency, length, slot >= first AND slot < coalesce(until, slot + 1) "
    "AND frequency <= most AND length >= least FROM (SELECT *, unnest(slots) AS slot, "
    "unnest(frequencies) AS frequency, unnest(lengths) AS length FROM (SELECT *, lead(first) OVER "
    "(PARTITION BY hidden, field, term ORDER BY first) AS until FROM postings WHERE namespace = %s) p) each"
)
"""Every posting, and whether it stands in the block in which it is looked for."""
_COUNTED: Final = (
    "SELECT embedder, count(DISTINCT slot)::int, count(*)::int FROM vectors WHERE namespace = %s "
    "GROUP BY embedder ORDER BY embedder"
)


@frozen
class Problem:
    """Something wrong with the derived data of a namespace.

    One that is not mendable is wrong with what was said, from which nothing can be derived then.
    """

    namespace: str
    text: str
    mendable: bool = True


def problems(connection: Server, terms_of: Words) -> list[Problem]:
    """Return everything that is wrong."""
    paths = connection.execute("SELECT path FROM namespaces ORDER BY path").fetchall()
    found = []
    for (path,) in paths:
        namespace = namespaces.find(connection, path)
        if namespace is None:
            continue
        try:
            texts = list(_namespace_problems(connection, namespace, terms_of))
            found += [Problem(path, f"{path}: {text}") for text in texts]
        except StoreCorrupt:
            found += [
                Problem(path, f"{path}: {text}", mendable=False)
                for text in _unreadable(connection, namespace)
            ]
    return found


def rebuild(connection: Server, path: str, terms_of: Words, embedder: tuple[int, int] | None) -> None:
    """Write all derived data of a namespace anew, inside a write transaction."""
    namespace = namespaces.locked(connection, path)
    if namespace is None:
        return
    number = namespace.number
    sessions = _sessions(connection, number)
    passages = _passages(connection, number, embedder)
    connection.execute("DELETE FROM postings WHERE namespace = %s", (number,))
    records = []
    for slot, _, _, forgotten, superseded, *row in connection.execute(_EACH, (number,)).fetchall():
        said = memory(row, path)
        terms = terms_of(said)
        record = packed(
            said,
            state=0 if forgotten is None else FORGOTTEN,
            session=sessions.get(said.source.session, -1),
            vectors=passages.get(slot, 0),
            superseded_at=None if superseded is None else superseded / 1_000_000,
            lengths={field: sum(words.values()) for field, words in terms.items()},
        )
        records.append(record)
        relist_words(connection, number, slot, terms, hidden=not is_shown(unpacked([record])))
        connection.execute(
            "UPDATE memories SET record = %s, words = %s WHERE namespace = %s AND slot = %s",
            (record, tail.encoded(terms), number, slot),
        )
    connection.execute(
        "UPDATE namespaces SET memories = 0, shown = 0, sums = %s, holders = %s WHERE number = %s",
        ([0] * len(NUMBER_OF), [0] * len(NUMBER_OF), number),
    )
    shown = [record for record in records if is_shown(unpacked([record]))]
    namespaces.count(connection, namespace, unpacked(shown), NO_RECORDS, memories=len(records))
    connection.execute("UPDATE vector_counts SET memories = 0, passages = 0 WHERE namespace = %s", (number,))
    for whose, memories, rows in connection.execute(_COUNTED, (number,)).fetchall():
        connection.execute(
            "INSERT INTO vector_counts (namespace, embedder, memories, passages) VALUES (%s, %s, %s, %s) "
            "ON CONFLICT (namespace, embedder) DO UPDATE SET memories = excluded.memories, "
            "passages = excluded.passages",
            (number, whose, memories, rows),
        )


def _unreadable(connection: Server, namespace: Namespace) -> Iterator[str]:
    """Yield why memories of a namespace cannot be read."""
    for _, _, _, _, _, *row in connection.execute(_EACH, (namespace.number,)).fetchall():
        try:
            memory(row, namespace.path)
        except StoreCorrupt as error:
            yield str(error)


def _namespace_problems(connection: Server, namespace: Namespace, terms_of: Words) -> Iterator[str]:
    number, path = namespace.number, namespace.path
    sessions = _sessions(connection, number)
    wanted: dict[tuple[int, str, int], tuple[bool, int, int, bool]] = {}
    memories, shown = 0, []
    for slot, stored, words, forgotten, superseded, *row in connection.execute(_EACH, (number,)).fetchall():
        said = memory(row, path)
        terms = terms_of(said)
        memories += 1
        if said.fingerprint and said.fingerprint != fingerprint(said.content):
            yield f"the content of memory {said.id} does not match its fingerprint; restore it from a backup"
        try:
            record = unpacked([stored])
            known = tail.decoded(words)
        except IndexCorrupt as error:
            yield f"memory {said.id}: {error}"
            continue
        expected = packed(
            said,
            state=0 if forgotten is None else FORGOTTEN,
            session=sessions.get(said.source.session, -1),
            # How many passages there were says nothing about the memory: another embedder makes others.
            vectors=int(record["vectors"][0]),
            superseded_at=None if superseded is None else superseded / 1_000_000,
            lengths={field: sum(each.values()) for field, each in terms.items()},
        )
        if stored != expected:
            yield f"the record of memory {said.id} does not say what the memory says"
        if known != {field: dict(each) for field, each in terms.items()}:
            yield f"the words beside memory {said.id} are not those it says"
        hidden = not is_shown(record)
        if not hidden:
            shown.append(stored)
        for field, each in terms.items():
            length = sum(each.values())
            for term, times in each.items():
                wanted[NUMBER_OF[field], key_of(term), slot] = hidden, min(times, MOST), length, True
    rows = connection.execute(_LISTED, (number,)).fetchall()
    listed = {(field, term, slot): tuple(posting) for field, term, slot, *posting in rows}
    different = sum(listed.get(key) != wanted.get(key) for key in listed.keys() | wanted.keys())
    different += len(rows) - len(listed)
    if different:
        yield f"{different} words are not listed where they are said"
    lengths = unpacked(shown)["lengths"]
    sums = tuple(lengths.sum(axis=0, dtype=np.int64).tolist())
    holders = tuple((lengths > 0).sum(axis=0).tolist())
    counted = namespace.memories, namespace.shown, namespace.sums, namespace.holders
    if counted != (memories, len(shown), sums, holders):
        yield "what is counted is not what there is"
    known_counts = connection.execute(
        "SELECT embedder, memories, passages FROM vector_counts WHERE namespace = %s AND memories > 0 "
        "ORDER BY embedder",
        (number,),
    ).fetchall()
    if known_counts != connection.execute(_COUNTED, (number,)).fetchall():
        yield "vectors are not counted as they are"


def _sessions(connection: Server, number: int) -> dict[str, int]:
    rows = connection.execute("SELECT name, number FROM sessions WHERE namespace = %s", (number,))
    return dict(rows.fetchall())


def _passages(connection: Server, number: int, embedder: tuple[int, int] | None) -> dict[int, int]:
    if embedder is None:
        return {}
    rows = connection.execute(
        "SELECT slot, count(*)::int FROM vectors WHERE namespace = %s AND embedder = %s GROUP BY slot",
        (number, embedder[0]),
    )
    return dict(rows.fetchall())
