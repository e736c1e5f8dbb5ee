"""The hash index of a file: which memories have a fingerprint, and which vectors are of a text.

SQLite would write a leaf of a tree for every hash; sorted runs are appended instead (:mod:`.hash_runs`). New
hashes wait in a small table until a segment is written, or a batch brings enough to make a run of;
neighbouring runs of a size become one. All of it happens inside the transaction of the write that caused it.
A hash may be left of a memory that was superseded, and of a vector that is gone: a look-up reads the rows and
drops those. None is ever missing of a current memory that is no turn of a transcript, nor of a vector.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from memorata.model.errors import IndexCorrupt
from memorata.store.database import Session
from memorata.store.entries import Entry
from memorata.store.memory.lookup import PLAIN
from memorata.store.rows import NAMESPACES, SLOTS
from memorata.store.sqlite.hash_runs import (
    HashRun,
    Keys,
    Places,
    digest_key,
    digest_keys,
    fingerprint_key,
    fingerprint_keys,
)

_VECTORS_PER_TEXT: Final = 2
"""All vectors of a text are the same, so a few of them are enough to find one that is still there."""
MIN_RUN_ENTRIES: Final = 256
"""From how many entries on a batch becomes a run of its own."""
_MAX_MERGED: Final = 2**20
"""The most entries that runs are merged to."""
_FAN_OUT: Final = 8
_FIRST_LEVEL: Final = 4_096
"""A run of fewer entries is of the first level; every further level is `_FAN_OUT` times as large."""
_IN: Final = "IN (SELECT value FROM json_each(?))"
"""With a list of whole numbers, which is written in JSON as in Python."""
_RECENT_SLOTS: Final = 1_000
"""Only among so many of the last memories of a namespace are hashes of repeats looked for to be removed."""
_ROWS_PER_BLOCK: Final = 100_000
_FINGERPRINTS: Final = "SELECT number, CAST(fingerprint AS BLOB) FROM memories"
"""As bytes: a damaged text cannot be read; `check` reports it."""
_NEWEST: Final = "SELECT number FROM address_runs ORDER BY number DESC LIMIT 1"
_Gone = Callable[[HashRun], npt.NDArray[np.bool_]]
_LOG: Final = logging.getLogger(__name__)


class HashIndex:
    """Finds memories by their fingerprints, and vectors by the digests of the texts they were made of."""

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
        """Add the hashes of a batch's texts and of its vectors; `first` is its first slot."""
        row = number * SLOTS + first
        embedded = ((embedder[0] if embedder else 0) * NAMESPACES + number) * SLOTS + first
        if len(batch) == 1 and not together:
            (entry,) = batch
            few = []
            if not entry.memory.source.is_turn:
                few.append((fingerprint_key(number, entry.memory.fingerprint), row))
            if embedder is not None and entry.vectors is not None:
                few.append((digest_key(embedder[0], number, entry.digest), embedded))
            add_few(session, few)
            return
        plain = [at for at, entry in enumerate(batch) if not entry.memory.source.is_turn]
        rows = [] if embedder is None else [at for at, entry in enumerate(batch) if entry.vectors is not None]
        keys = fingerprint_keys(number, [batch[at].memory.fingerprint for at in plain])
        digests = [batch[at].digest for at in rows]
        keys = np.concatenate([keys, digest_keys(embedder[0] if embedder else 0, number, digests)])
        places = np.concatenate([row + np.array(plain, np.int64), embedded + np.array(rows, np.int64)])
        add_hashes(session, keys, places, together=together)

    def add_vectors(
        self, session: Session, number: int, embedder: int, placed: Sequence[tuple[bytes, int]]
    ) -> None:
        """Add the hashes of vectors that slots of a namespace got later, by the digests of their texts."""
        keys = digest_keys(embedder, number, [digest for digest, _ in placed])
        places = (embedder * NAMESPACES + number) * SLOTS + np.array([slot for _, slot in placed], np.int64)
        add_hashes(session, keys, places)

    def add_current(self, session: Session, numbers: Sequence[int]) -> None:
        """Add the hashes of memories that are current again, which may have been left out before."""
        keys, places = _hashes_of(session, numbers)
        add_hashes(session, keys, places)

    def leave_out(self, session: Session, numbers: Sequence[int]) -> None:
        """Remove hashes of memories of one namespace that were superseded as soon as they were written.

        Otherwise a text that is repeated thousands of times would have thousands of entries.
        """
        if not numbers:
            return
        (slots,) = session.execute(
            "SELECT slots FROM namespaces WHERE number = ?", (numbers[0] // SLOTS,)
        ).fetchone()
        recent = [number for number in numbers if number % SLOTS >= slots - _RECENT_SLOTS]
        if not recent:
            return
        repeated = HashRun(*_hashes_of(session, recent))
        if _remove_waiting(session, repeated) < len(repeated):
            _rewrite_runs(session, lambda run: np.isin(run.places, repeated.places), _NEWEST)

    def remove(self, session: Session, number: int, slots: Sequence[int]) -> None:
        """Remove all hashes of some slots and of their vectors: a guessed text can be verified by them."""
        embedders = [embedder for (embedder,) in session.execute("SELECT number FROM embedders").fetchall()]
        owners = [embedder * NAMESPACES + number for embedder in (0, *embedders)]
        places = np.add.outer(np.array(owners, np.int64) * SLOTS, np.array(slots, np.int64))
        _rewrite(session, lambda run: np.isin(run.places, places))

    def remove_namespace(self, session: Session, number: int) -> None:
        """Remove all hashes of a namespace."""
        _rewrite(session, lambda run: run.places // SLOTS % NAMESPACES == number)

    def keep_vectors_of(self, session: Session, embedder: int) -> None:
        """Remove the hashes of the vectors of all other embedders."""

        def others(run: HashRun) -> npt.NDArray[np.bool_]:
            embedders = run.places // (SLOTS * NAMESPACES)
            gone: npt.NDArray[np.bool_] = (embedders > 0) & (embedders != embedder)
            return gone

        _rewrite(session, others)

    def memories(self, session: Session, number: int, fingerprints: Sequence[str]) -> list[int]:
        """Return the numbers of memories that may have one of the fingerprints, ascending."""
        cache = _cache(session)
        if len(fingerprints) == 1:
            return sorted(set(cache.of_one(session, fingerprint_key(number, fingerprints[0]))))
        numbers: list[int] = np.sort(
            cache.of_many(session, fingerprint_keys(number, fingerprints)).places
        ).tolist()
        return numbers

    def vectors(self, session: Session, number: int, embedder: int, digests: Sequence[bytes]) -> list[int]:
        """Return the numbers of vectors that may be of texts with one of the digests."""
        cache = _cache(session)
        if len(digests) == 1:
            places = cache.of_one(session, digest_key(embedder, number, digests[0]))
        else:
            keys = digest_keys(embedder, number, digests)
            places = cache.of_many(session, keys, _VECTORS_PER_TEXT).places.tolist()
        return [place for place in places if place // SLOTS == embedder * NAMESPACES + number]

    def make_anew(self, session: Session, error: IndexCorrupt) -> None:
        """Rebuild the hash index because a part of it cannot be read, inside a write transaction."""
        _LOG.warning("rebuilding the hash index of memories and vectors: %s", error)
        self.rebuild(session)

    def rebuild(self, session: Session) -> None:
        """Make all hashes anew from the memories and the vectors."""
        session.execute("DELETE FROM address_runs")
        session.execute("DELETE FROM new_addresses")
        for block in everything(session):
            _write(session, block)
        while _merge_newest(session):
            pass

    def problems(self, session: Session) -> Iterator[str]:
        """Yield what is wrong with the hash index."""
        try:
            runs = [*HashRunCache().runs(session), _waiting(session)]
        except IndexCorrupt as error:
            yield str(error)
            return
        joined = HashRun.joined(runs)
        missing = 0
        for block in everything(session):
            stored = joined.of_many(np.unique(block.keys))
            missing += len(HashRun.joined([stored, block])) - len(stored)
        if missing:
            yield f"{missing} memories or vectors are missing in the hash index"


HASH_INDEX: Final = HashIndex()


def _cache(session: Session) -> HashRunCache:
    from memorata.store.sqlite.session import SqliteSession

    return cast("SqliteSession", session).hash_runs


def add_few(session: Session, entries: Iterable[tuple[int, int]]) -> None:
    """Add hashes and their places to the entries that wait to become a run, inside a write transaction."""
    session.executemany("INSERT OR IGNORE INTO new_addresses (key, place) VALUES (?, ?)", entries)


def add_hashes(session: Session, keys: Keys, places: Places, *, together: bool = False) -> None:
    """Add hashes; as a run if they are many, or many wait, or all that wait are to become one `together`."""
    if len(keys) < MIN_RUN_ENTRIES and not together:
        add_few(session, zip(keys.tolist(), places.tolist(), strict=True))
        (waiting,) = session.execute("SELECT count(*) FROM new_addresses").fetchone()
        if waiting < 2 * MIN_RUN_ENTRIES:
            return
    try:
        run = HashRun.joined([_waiting(session), HashRun.of(keys, places)])
        session.execute("DELETE FROM new_addresses")
        if len(run):
            _write(session, run)
        while _merge_newest(session):
            pass
    except IndexCorrupt as error:
        HASH_INDEX.make_anew(session, error)
        # Their rows may be still to come.
        add_few(session, zip(keys.tolist(), places.tolist(), strict=True))


class HashRunCache:
    """The runs of a file, as far as this process has read them.

    Waiting entries are read before the runs: outside a transaction, another process may make a run of them
    in between, and read the other way round they would be missed.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[int, int], HashRun] = {}

    def of_many(self, session: Session, wanted: Keys, limit: int | None = None) -> HashRun:
        """Return the entries with one of some hashes, at most `limit` of a hash and run."""
        wanted = np.unique(wanted)
        waiting = session.execute(
            f"SELECT key, place FROM new_addresses WHERE key {_IN} ORDER BY key, place",
            (str(wanted.tolist()),),
        ).fetchall()
        parts = [_table(waiting), *(run.of_many(wanted, limit) for run in self.runs(session))]
        return HashRun.joined([part for part in parts if len(part)] or parts[:1])

    def of_one(self, session: Session, key: int) -> list[int]:
        """Return the places of one hash, in no order; as :meth:`of_many`, where there is one to look for."""
        rows = session.execute("SELECT key, place FROM new_addresses WHERE key = ?", (key,)).fetchall()
        # Most texts are new: there is nothing to make a table of.
        places: list[int] = _table(rows).places.tolist() if rows else []
        for run in self.runs(session):
            places += run.of_one(key)
        return places

    def runs(self, session: Session) -> Iterable[HashRun]:
        """Return all runs as they are in the session's view."""
        while True:
            # A number is used again if the transaction that had it was rolled back; the checksum differs.
            stored = session.execute("SELECT number, checksum FROM address_runs").fetchall()
            if self._runs.keys() == set(stored):
                return self._runs.values()
            runs = self._runs | _read(session, [key[0] for key in stored if key not in self._runs])
            # Outside a transaction one may have been merged meanwhile; then there is another to be read.
            self._runs = {key: runs[key] for key in stored if key in runs}


def everything(session: Session) -> Iterator[HashRun]:
    """Yield the entries that the index has to have, a block at a time."""
    fingerprints = session.execute(f"{_FINGERPRINTS} WHERE {PLAIN} ORDER BY number")
    while rows := list(islice(fingerprints, _ROWS_PER_BLOCK)):
        yield HashRun.of(*_of_memories(rows))
    embedded = session.execute("SELECT number, CAST(digest AS BLOB) FROM vectors ORDER BY number")
    while rows := list(islice(embedded, _ROWS_PER_BLOCK)):
        places = np.array([number for number, _ in rows], np.int64)
        embedders, namespaces = np.divmod(places // SLOTS, NAMESPACES)
        yield HashRun.of(digest_keys(embedders, namespaces, [digest for _, digest in rows]), places)


def _hashes_of(session: Session, numbers: Sequence[int]) -> tuple[Keys, Places]:
    rows = session.execute(f"{_FINGERPRINTS} WHERE number {_IN}", (str(list(numbers)),))
    return _of_memories(rows.fetchall())


def _of_memories(rows: Sequence[tuple[int, bytes]]) -> tuple[Keys, Places]:
    places = np.array([number for number, _ in rows], np.int64)
    fingerprints = [str(fingerprint, "utf-8", "surrogateescape") for _, fingerprint in rows]
    return fingerprint_keys(places // SLOTS, fingerprints), places


def _table(rows: Sequence[tuple[int, int]]) -> HashRun:
    if not all(type(key) is int and type(place) is int for key, place in rows):
        raise IndexCorrupt("a waiting entry of the hash index is no number")
    keys, places = np.array(rows, np.int64).reshape(-1, 2).T
    return HashRun(keys, places)


def _write(session: Session, run: HashRun) -> None:
    blob = run.encoded()
    session.execute(
        "INSERT INTO address_runs (entries, checksum, run) VALUES (?, ?, ?)",
        (len(run), _checksum(blob), blob),
    )


def _read(session: Session, numbers: Sequence[int]) -> dict[tuple[int, int], HashRun]:
    """Return the runs with some numbers, and with their checksums, as far as they are there."""
    runs = {}
    for number, checksum, blob in session.execute(
        f"SELECT number, checksum, run FROM address_runs WHERE number {_IN}", (str(list(numbers)),)
    ):
        if type(blob) is not bytes or checksum != _checksum(blob):
            raise IndexCorrupt("a run of the hash index is not as it was written")
        runs[number, checksum] = HashRun.decoded(blob)
    return runs


def _checksum(blob: bytes) -> int:
    """Return the checksum in the head of a run."""
    return int.from_bytes(blob[4:8], "little")


def _rewrite(session: Session, gone: _Gone) -> None:
    """Rewrite the index without the entries that `gone` marks."""
    try:
        waiting = _waiting(session)
    except IndexCorrupt as error:
        HASH_INDEX.make_anew(session, error)
        waiting = _waiting(session)
    _remove_waiting(session, waiting.without(~gone(waiting)))
    _rewrite_runs(session, gone, "SELECT number FROM address_runs")


def _rewrite_runs(session: Session, gone: _Gone, which: str) -> None:
    try:
        for (number,) in session.execute(which).fetchall():
            (run,) = _read(session, [number]).values()
            left = run.without(gone(run))
            if not len(left):
                session.execute("DELETE FROM address_runs WHERE number = ?", (number,))
            elif len(left) < len(run):
                blob = left.encoded()
                session.execute(
                    "UPDATE address_runs SET entries = ?, checksum = ?, run = ? WHERE number = ?",
                    (len(left), _checksum(blob), blob, number),
                )
    except IndexCorrupt as error:
        HASH_INDEX.make_anew(session, error)


def _waiting(session: Session) -> HashRun:
    return _table(session.execute("SELECT key, place FROM new_addresses ORDER BY key, place").fetchall())


def _remove_waiting(session: Session, leaving: HashRun) -> int:
    """Remove waiting entries, and return how many of them there were."""
    removed = session.executemany(
        "DELETE FROM new_addresses WHERE key = ? AND place = ?",
        zip(leaving.keys.tolist(), leaving.places.tolist(), strict=True),
    )
    return int(cast("Any", removed).rowcount)


def _merge_newest(session: Session) -> bool:
    """Merge the newest runs if there are enough of one size; return whether there were."""
    newest = session.execute(
        "SELECT number, entries FROM address_runs ORDER BY number DESC LIMIT ?", (_FAN_OUT,)
    ).fetchall()
    sizes = [entries for _, entries in newest]
    if not all(type(entries) is int for entries in sizes):
        raise IndexCorrupt("the length of a run of the hash index is no number")
    if len(newest) < _FAN_OUT or sum(sizes) > _MAX_MERGED or len(set(map(_level, sizes))) > 1:
        return False
    merged = HashRun.joined(list(_read(session, [number for number, _ in newest]).values()))
    session.execute("DELETE FROM address_runs WHERE number >= ?", (newest[-1][0],))
    _write(session, merged)
    return True


def _level(entries: int) -> int:
    level = 0
    while entries >= _FIRST_LEVEL:
        entries //= _FAN_OUT
        level += 1
    return level
