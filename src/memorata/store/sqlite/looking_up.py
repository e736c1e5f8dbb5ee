"""The part of the store on one SQLite file that finds what was said or embedded in the same words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np

from memorata.model.errors import IndexCorrupt
from memorata.model.memory import Memory
from memorata.store.instants import microseconds
from memorata.store.limits import NAMESPACES, SLOTS
from memorata.store.port import Floats
from memorata.store.sqlite import addresses, hashes
from memorata.store.sqlite.connection import reading, translated
from memorata.store.sqlite.connection import writing as transaction
from memorata.store.sqlite.finding import find_namespace
from memorata.store.sqlite.rows import SELECTED, SOURCE, marks, memory

_AT_ONCE: Final = 500
"""How many values one statement is asked for."""
_OF_ONE_TEXT: Final = 2
"""All vectors of a text are the same, so a few of them are enough to find one that is still there."""


class AddressStore:
    """What :class:`~memorata.store.port.Store` promises about texts that were there before."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock
    _embedder: tuple[int, int] | None
    _book: addresses.Book

    def same(self, namespace: str, fingerprints: Sequence[str], now: datetime) -> dict[str, list[Memory]]:
        """Return the memories that may be seen at `now` with each of the fingerprints, oldest first.

        Turns of a transcript are left out.
        """
        with self._lock:
            try:
                with reading(self._connection, self.path):
                    return self._same(namespace, fingerprints, now)
            except IndexCorrupt as error:
                self._make_addresses_anew(error)
                return self.same(namespace, fingerprints, now)

    def cached_vectors(self, namespace: str, digests: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the vectors of the current embedder that a namespace has of texts with these addresses."""
        if self._embedder is None or not digests:
            return {}
        with self._lock:
            try:
                # The vectors of a text never change, so several statements need no common view.
                with translated(self.path):
                    return self._cached_vectors(namespace, self._embedder, digests)
            except IndexCorrupt as error:
                self._make_addresses_anew(error)
                return self._cached_vectors(namespace, self._embedder, digests)

    def _same(self, namespace: str, fingerprints: Sequence[str], now: datetime) -> dict[str, list[Memory]]:
        found: dict[str, list[Memory]] = {}
        whose = find_namespace(self._connection, namespace)
        if whose is None or not fingerprints:
            return found
        if len(fingerprints) == 1:
            key = hashes.fingerprint_key(whose.number, fingerprints[0])
            places = sorted(set(self._book.of_one(self._connection, key)))
        else:
            keys = hashes.fingerprint_keys(whose.number, fingerprints)
            places = np.sort(self._book.found(self._connection, keys).places).tolist()
        wanted = frozenset(fingerprints if places else ())
        for start in range(0, len(places), _AT_ONCE):
            some = places[start : start + _AT_ONCE]
            for row in self._connection.execute(
                f"SELECT {SELECTED} FROM {SOURCE} WHERE m.number IN ({marks(some)}) AND m.namespace = ? "
                f"AND {addresses.PLAIN} AND m.forgotten_at IS NULL AND coalesce(m.expires_at > ?, 1) "
                "ORDER BY m.number",
                (*some, whose.number, microseconds(now)),
            ):
                each = memory(row)
                if each.fingerprint in wanted:
                    found.setdefault(each.fingerprint, []).append(each)
        return found

    def _cached_vectors(
        self, namespace: str, embedder: tuple[int, int], digests: Sequence[bytes]
    ) -> dict[bytes, Floats]:
        number, dimension = embedder
        found: dict[bytes, Floats] = {}
        whose = find_namespace(self._connection, namespace)
        if whose is None:
            return found
        if len(digests) == 1:
            key = hashes.digest_key(number, whose.number, digests[0])
            places = self._book.of_one(self._connection, key)
        else:
            keys = hashes.digest_keys(number, whose.number, digests)
            places = self._book.found(self._connection, keys, _OF_ONE_TEXT).places.tolist()
        own = [place for place in places if place // SLOTS == number * NAMESPACES + whose.number]
        wanted = frozenset(digests if own else ())
        for start in range(0, len(own), _AT_ONCE):
            some = own[start : start + _AT_ONCE]
            rows = self._connection.execute(
                f"SELECT digest, vectors FROM vectors WHERE number IN ({marks(some)})", some
            )
            found |= {
                digest: np.frombuffer(blob, np.float32).reshape(-1, dimension)
                for digest, blob in rows
                if digest in wanted
            }
        return found

    def _make_addresses_anew(self, error: IndexCorrupt) -> None:
        with transaction(self._connection, self.path):
            addresses.make_anew(self._connection, error)
