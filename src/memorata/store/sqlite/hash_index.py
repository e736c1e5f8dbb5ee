"""The hash index of a file: which memories have a fingerprint, and which vectors are of a text.

SQLite would write a leaf of a tree for every hash; sorted runs are appended instead (:mod:`.addresses`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

import numpy as np

from memorata.model.errors import IndexCorrupt
from memorata.store.database import Session
from memorata.store.entries import Entry
from memorata.store.limits import NAMESPACES, SLOTS
from memorata.store.sqlite import addresses, hashes

_OF_ONE_TEXT: Final = 2
"""All vectors of a text are the same, so a few of them are enough to find one that is still there."""


class HashIndex:
    """A :class:`~memorata.store.database.HashIndex` in a file."""

    def add(
        self,
        session: Session,
        number: int,
        first: int,
        batch: Sequence[Entry],
        embedder: tuple[int, int] | None,
        *,
        together: bool,
    ) -> None:
        """Let a batch, whose first slot is given, be found by the hashes of its texts and of its vectors."""
        from memorata.dedupe.verification import is_turn

        said = number * SLOTS + first
        embedded = ((embedder[0] if embedder else 0) * NAMESPACES + number) * SLOTS + first
        if len(batch) == 1 and not together:
            (entry,) = batch
            few = []
            if not is_turn(entry.memory):
                few.append((hashes.fingerprint_key(number, entry.memory.fingerprint), said))
            if embedder is not None and entry.vectors is not None:
                few.append((hashes.digest_key(embedder[0], number, entry.digest), embedded))
            addresses.add_few(session, few)
            return
        plain = [at for at, entry in enumerate(batch) if not is_turn(entry.memory)]
        rows = [] if embedder is None else [at for at, entry in enumerate(batch) if entry.vectors is not None]
        keys = hashes.fingerprint_keys(number, [batch[at].memory.fingerprint for at in plain])
        digests = [batch[at].digest for at in rows]
        keys = np.concatenate([keys, hashes.digest_keys(embedder[0] if embedder else 0, number, digests)])
        places = np.concatenate([said + np.array(plain, np.int64), embedded + np.array(rows, np.int64)])
        addresses.add(session, keys, places, together=together)

    def add_vectors(
        self, session: Session, number: int, embedder: int, placed: Sequence[tuple[bytes, int]]
    ) -> None:
        """Let vectors that slots of a namespace got later be found by the addresses of their texts."""
        keys = hashes.digest_keys(embedder, number, [digest for digest, _ in placed])
        places = (embedder * NAMESPACES + number) * SLOTS + np.array([slot for _, slot in placed], np.int64)
        addresses.add(session, keys, places)

    def add_current(self, session: Session, numbers: Sequence[int]) -> None:
        """Let memories be found again that are current again."""
        addresses.add_current(session, numbers)

    def leave_out(self, session: Session, numbers: Sequence[int]) -> None:
        """Let memories no longer be found that were superseded as soon as they were written."""
        addresses.leave_out(session, numbers)

    def remove(self, session: Session, number: int, slots: Sequence[int]) -> None:
        """Remove all hashes of some slots and of their vectors: they tell a text to who guesses it."""
        embedders = [each for (each,) in session.execute("SELECT number FROM embedders").fetchall()]
        whose = [embedder * NAMESPACES + number for embedder in (0, *embedders)]
        places = np.add.outer(np.array(whose, np.int64) * SLOTS, np.array(slots, np.int64))
        addresses.remove(session, places.ravel())

    def remove_namespace(self, session: Session, number: int) -> None:
        """Remove all hashes of a namespace."""
        addresses.remove_namespace(session, number)

    def keep_vectors_of(self, session: Session, embedder: int) -> None:
        """Remove the hashes of what other embedders read."""
        addresses.keep_vectors_of(session, embedder)

    def memories(self, session: Session, number: int, fingerprints: Sequence[str]) -> list[int]:
        """Return the numbers of memories that may have one of the fingerprints, ascending."""
        book = _book(session)
        if len(fingerprints) == 1:
            return sorted(set(book.of_one(session, hashes.fingerprint_key(number, fingerprints[0]))))
        numbers: list[int] = np.sort(
            book.found(session, hashes.fingerprint_keys(number, fingerprints)).places
        ).tolist()
        return numbers

    def vectors(self, session: Session, number: int, embedder: int, digests: Sequence[bytes]) -> list[int]:
        """Return the numbers of vectors that may be of texts with one of the addresses."""
        book = _book(session)
        if len(digests) == 1:
            places = book.of_one(session, hashes.digest_key(embedder, number, digests[0]))
        else:
            keys = hashes.digest_keys(embedder, number, digests)
            places = book.found(session, keys, _OF_ONE_TEXT).places.tolist()
        return [place for place in places if place // SLOTS == embedder * NAMESPACES + number]

    def make_anew(self, session: Session, error: IndexCorrupt) -> None:
        """Make all hashes anew because some cannot be read."""
        addresses.make_anew(session, error)

    def rebuild(self, session: Session) -> None:
        """Make all hashes anew from the memories and the vectors."""
        addresses.rebuild(session)

    def problems(self, session: Session) -> Iterator[str]:
        """Yield what is wrong with the hashes."""
        return addresses.problems(session)


def _book(session: Session) -> addresses.Book:
    from memorata.store.sqlite.connection import SqliteSession

    return cast(SqliteSession, session).book
