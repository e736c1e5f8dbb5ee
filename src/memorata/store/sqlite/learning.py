"""The part of the store on one SQLite file that keeps the log of recalls and what was learnt from it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, TypeVar

from memorata.model.errors import InvalidArgument, RecallNotFound
from memorata.model.feedback import Feedback
from memorata.store.recall_log import Lesson, LogBounds, LoggedRecall, Reaction, Sighting
from memorata.store.sqlite import lessons, recall_log
from memorata.store.sqlite.connection import reading, translated
from memorata.store.sqlite.connection import writing as transaction
from memorata.store.sqlite.finding import find_namespace, new_namespace
from memorata.store.sqlite.segments import Namespace

_Named = TypeVar("_Named", LoggedRecall, Sighting)
_INHABITED: Final = "SELECT 1 FROM memories WHERE namespace = ? LIMIT 1"


class LearningStore:
    """What :class:`~memorata.store.port.Store` promises about past recalls and what was learnt."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock

    def log_recalls(
        self,
        recalls: Sequence[LoggedRecall],
        bounds: LogBounds,
        sightings: Sequence[Sighting] = (),
        *,
        patience: float | None = None,
    ) -> None:
        """Write recalls down, and who saw which variant, and let go of the oldest."""
        if not recalls and not sightings:
            return
        lightly = self._lightly(patience)
        with self._lock, translated(self.path), lightly, transaction(self._connection, self.path):
            late = set()
            for found, entries in self._by_namespace(recalls):
                kept = recall_log.untouched(self._connection, found, entries)
                late |= {each.id for each in entries} - {each.id for each in kept}
                if kept:
                    recall_log.add(self._connection, found.number, kept, bounds)
            # Who asked may be who is gone.
            for found, seen in self._by_namespace(each for each in sightings if each.recall_id not in late):
                ids = [id_ for each in seen for id_ in each.teams]
                slots = recall_log.slots_of(self._connection, found.number, ids)
                lessons.see(self._connection, found.number, seen, slots)

    def recalls(
        self,
        namespace: str,
        *,
        since: datetime | None = None,
        limit: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[LoggedRecall]:
        """Return logged recalls, the latest first."""
        with self._seen(namespace) as found:
            if found is None:
                return []
            return recall_log.read(
                self._connection, found.number, namespace, since=since, limit=limit, ids=ids
            )

    def ids_of(self, namespace: str, slots: Sequence[int]) -> dict[int, str]:
        """Return the ids of memories by slot; those that are gone are left out."""
        with self._seen(namespace) as found:
            return {} if found is None else recall_log.names(self._connection, found.number, set(slots))

    def react(self, namespace: str, given: Feedback) -> None:
        """Write down what somebody said about a hit of a logged recall, with what was known of it then."""
        with self._lock, transaction(self._connection, self.path):
            found = find_namespace(self._connection, namespace)
            if found is None:
                raise RecallNotFound(given.recall_id, namespace)
            slots = recall_log.slots_of(self._connection, found.number, [given.memory_id])
            slot = slots.get(given.memory_id, -1)
            recall = recall_log.candidate(self._connection, found.number, namespace, given.recall_id)
            features: Mapping[str, float] = {}
            if given.memory_id in recall.ids:
                features = recall.of(given.memory_id)
            elif slot not in lessons.team_slots(self._connection, found.number, given.recall_id):
                raise InvalidArgument(
                    "memory_id", given.memory_id, f"a memory that the recall {recall.id} found"
                )
            lessons.react(self._connection, found.number, slot, given, features, recall.embedder)

    def reactions(self, namespace: str, *, since: datetime | None = None) -> list[Reaction]:
        """Return what people said about hits, in the order in which they said it."""
        with self._seen(namespace) as found:
            return [] if found is None else lessons.reactions(self._connection, found.number, since=since)

    def sightings(self, namespace: str, experiment: str) -> list[Sighting]:
        """Return who saw which variant of an experiment, in the order in which they did."""
        with self._seen(namespace) as found:
            if found is None:
                return []
            return lessons.sightings(self._connection, found.number, namespace, experiment)

    def keep_lesson(
        self,
        namespace: str,
        kind: str,
        name: str,
        data: Mapping[str, Any],
        evidence: Mapping[str, Any],
        at: datetime,
    ) -> Lesson:
        """Write down what was learnt, as the latest version of it."""
        with self._lock, transaction(self._connection, self.path):
            found = find_namespace(self._connection, namespace)
            number = (found or new_namespace(self._connection, namespace)).number
            return lessons.keep(self._connection, number, kind, name, data, evidence, at)

    def lessons(
        self, namespace: str, kind: str, name: str | None = None, *, withdrawn: bool = False
    ) -> list[Lesson]:
        """Return what was learnt, the latest first; what was withdrawn only if asked."""
        with self._seen(namespace) as found:
            if found is None:
                return []
            return lessons.lessons(self._connection, found.number, kind, name, withdrawn=withdrawn)

    def withdraw_lesson(self, namespace: str, number: int, at: datetime) -> bool:
        """Let a version hold no more; return whether it did until now."""
        with self._lock, transaction(self._connection, self.path):
            found = find_namespace(self._connection, namespace)
            return found is not None and lessons.withdraw(self._connection, found.number, number, at)

    def written(self) -> int:
        """Return a number that moves when another process has written since it was last asked for."""
        with self._lock, translated(self.path):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def _by_namespace(self, given: Iterable[_Named]) -> Iterator[tuple[Namespace, list[_Named]]]:
        """Yield what is to be written by namespace; of one without memories nothing, for it may be purged."""
        groups: dict[str, list[_Named]] = {}
        for each in given:
            groups.setdefault(each.namespace, []).append(each)
        for path, entries in groups.items():
            found = find_namespace(self._connection, path)
            if found is not None and self._connection.execute(_INHABITED, (found.number,)).fetchone():
                yield found, entries

    @contextmanager
    def _lightly(self, patience: float | None) -> Iterator[None]:
        """Do without waiting for the disk, and wait for other writers so many seconds, or as usual.

        A power cut may then lose the last of what is written here; the file stays whole either way. As a part
        of a larger transaction it is written as that is.
        """
        if self._connection.in_transaction:
            yield
            return
        (before,) = self._connection.execute("PRAGMA synchronous").fetchone()
        (timeout,) = self._connection.execute("PRAGMA busy_timeout").fetchone()
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if patience is not None:
            self._connection.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {timeout}")
            self._connection.execute(f"PRAGMA synchronous = {before}")

    @contextmanager
    def _seen(self, namespace: str) -> Iterator[Namespace | None]:
        with self._lock, reading(self._connection, self.path):
            yield find_namespace(self._connection, namespace)
