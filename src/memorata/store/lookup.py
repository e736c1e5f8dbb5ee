"""Finding what was said, or embedded, in the same words: by a hash index, or by an index of the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np

from memorata.index.codes import Floats
from memorata.model.memory import Memory
from memorata.store.database import Session
from memorata.store.instants import microseconds
from memorata.store.namespaces import find_namespace
from memorata.store.rows import OWN, marks, memory

PLAIN: Final = "superseded_by IS NULL AND (speaker = '' OR session = '' OR position IS NULL)"
"""Current, and no turn of a transcript, which is an event and no duplicate of another."""
_SAME: Final = (
    f"SELECT {OWN}, NULL FROM memories m WHERE {{key}} AND {PLAIN} AND m.forgotten_at IS NULL "
    "AND (m.expires_at IS NULL OR m.expires_at > ?) ORDER BY m.number"
)
_AT_ONCE: Final = 500
"""How many values one statement is asked for."""


def same(session: Session, path: str, fingerprints: Sequence[str], now: datetime) -> dict[str, list[Memory]]:
    """Return the memories that may be seen at `now` with each of the fingerprints, oldest first.

    Turns of a transcript are left out.
    """
    found: dict[str, list[Memory]] = {}
    namespace = find_namespace(session, path)
    if namespace is None or not fingerprints:
        return found
    index, wanted = session.dialect.hash_index, frozenset(fingerprints)
    keys: Sequence[int | str] = list(dict.fromkeys(fingerprints))
    if index is not None:
        keys = index.memories(session, namespace.number, fingerprints)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        key = "+m.namespace = ? AND m.number" if index is not None else "m.namespace = ? AND m.fingerprint"
        for row in session.execute(
            _SAME.format(key=f"{key} IN ({marks(some)})"), (namespace.number, *some, microseconds(now))
        ).fetchall():
            each = memory(row, path)
            if each.fingerprint in wanted:
                found.setdefault(each.fingerprint, []).append(each)
    return found


def cached_vectors(
    session: Session, path: str, embedder: tuple[int, int], digests: Sequence[bytes]
) -> dict[bytes, Floats]:
    """Return the vectors of an embedder that a namespace has of texts with these addresses."""
    found: dict[bytes, Floats] = {}
    # Every memory that is written asks for this: where its number is known, the row need not be read.
    number = session.dialect.namespace_number(path)
    if number is None:
        namespace = find_namespace(session, path)
        if namespace is None:
            return found
        number = namespace.number
    index, wanted = session.dialect.hash_index, frozenset(digests)
    keys: Sequence[int | bytes] = list(dict.fromkeys(digests))
    if index is not None:
        keys = index.vectors(session, number, embedder[0], digests)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        key = "+namespace = ? AND number" if index is not None else "namespace = ? AND digest"
        rows = session.execute(
            f"SELECT digest, vectors FROM vectors WHERE {key} IN ({marks(some)}) AND embedder = ?",
            (number, *some, embedder[0]),
        ).fetchall()
        found |= {
            digest: np.frombuffer(blob, np.float32).reshape(-1, embedder[1])
            for digest, blob in rows
            if digest in wanted
        }
    return found
