"""The part of the store on a server that keeps the log of recalls and what was learnt from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from memorata.model.errors import InvalidArgument, RecallNotFound
from memorata.model.feedback import Feedback
from memorata.store.postgres import lessons, namespaces, recall_log
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.namespaces import EMPTY, Namespace
from memorata.store.recall_log import Lesson, LogBounds, LoggedRecall, Reaction, Sighting

_Named = TypeVar("_Named", LoggedRecall, Sighting)
_Result = TypeVar("_Result")


class LearningStore:
    """What :class:`~memorata.store.port.Store` promises about past recalls and what was learnt."""

    _database: Database

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

        def write(connection: Server) -> None:
            # A crash of the server may lose the last of what is written here; nothing else.
            connection.execute("SET LOCAL synchronous_commit = off", prepare=False)
            if patience is not None:
                connection.execute(
                    f"SET LOCAL lock_timeout = {max(1, round(patience * 1000))}", prepare=False
                )
            # All of them before anything is counted: who has counted waits for nobody any more.
            touched = {each.namespace for each in recalls} | {each.namespace for each in sightings}
            namespaces.lock_all_known(connection, touched)
            late = set()
            for found, entries in _by_namespace(connection, recalls):
                kept = recall_log.untouched(connection, found, entries)
                late |= {each.id for each in entries} - {each.id for each in kept}
                if kept:
                    recall_log.add(connection, found.number, kept, bounds)
            # Who asked may be who is gone.
            timely = [each for each in sightings if each.recall_id not in late]
            for found, seen in _by_namespace(connection, timely):
                ids = [id_ for each in seen for id_ in each.teams]
                slots = recall_log.slots_of(connection, found.number, ids)
                lessons.see(connection, found.number, seen, slots)

        with self._database.pool.hurried(patience):
            self._database.write(write)

    def recalls(
        self,
        namespace: str,
        *,
        since: datetime | None = None,
        limit: int | None = None,
        ids: Sequence[str] | None = None,
    ) -> list[LoggedRecall]:
        """Return logged recalls, the latest first."""
        return self._seen(
            namespace,
            lambda server, found: recall_log.read(
                server, found.number, namespace, since=since, limit=limit, ids=ids
            ),
        )

    def ids_of(self, namespace: str, slots: Sequence[int]) -> dict[int, str]:
        """Return the ids of memories by slot; those that are gone are left out."""
        return self._seen(namespace, lambda server, found: recall_log.names(server, found.number, set(slots)))

    def react(self, namespace: str, given: Feedback) -> None:
        """Write down what somebody said about a hit of a logged recall, with what was known of it then."""

        def write(connection: Server) -> None:
            found = namespaces.locked(connection, namespace)
            if found is None:
                raise RecallNotFound(given.recall_id, namespace)
            slots = recall_log.slots_of(connection, found.number, [given.memory_id])
            slot = slots.get(given.memory_id, -1)
            recall = recall_log.candidate(connection, found.number, namespace, given.recall_id)
            features: Mapping[str, float] = {}
            if given.memory_id in recall.ids:
                features = recall.of(given.memory_id)
            elif slot not in lessons.team_slots(connection, found.number, given.recall_id):
                raise InvalidArgument(
                    "memory_id", given.memory_id, f"a memory that the recall {recall.id} found"
                )
            lessons.react(connection, found.number, slot, given, features, recall.embedder)

        self._database.write(write)

    def reactions(self, namespace: str, *, since: datetime | None = None) -> list[Reaction]:
        """Return what people said about hits, in the order in which they said it."""
        return self._seen(
            namespace, lambda server, found: lessons.reactions(server, found.number, since=since)
        )

    def sightings(self, namespace: str, experiment: str) -> list[Sighting]:
        """Return who saw which variant of an experiment, in the order in which they did."""
        return self._seen(
            namespace,
            lambda server, found: lessons.sightings(server, found.number, namespace, experiment),
        )

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

        def write(connection: Server) -> Lesson:
            number = namespaces.made(connection, namespace).number
            return lessons.keep(connection, number, kind, name, data, evidence, at)

        return self._database.write(write)

    def lessons(
        self, namespace: str, kind: str, name: str | None = None, *, withdrawn: bool = False
    ) -> list[Lesson]:
        """Return what was learnt, the latest first; what was withdrawn only if asked."""
        return self._seen(
            namespace,
            lambda server, found: lessons.lessons(server, found.number, kind, name, withdrawn=withdrawn),
        )

    def withdraw_lesson(self, namespace: str, number: int, at: datetime) -> bool:
        """Let a version hold no more; return whether it did until now."""

        def write(connection: Server) -> bool:
            found = namespaces.find(connection, namespace)
            return found is not None and lessons.withdraw(connection, found.number, number, at)

        return self._database.write(write)

    def written(self) -> int:
        """Return a number that moves when another process has written since it was last asked for."""
        return self._database.others_wrote()

    def _seen(self, path: str, read: Callable[[Server, Namespace], _Result]) -> _Result:
        return self._database.read(lambda server: read(server, namespaces.find(server, path) or EMPTY))


def _by_namespace(connection: Server, given: Iterable[_Named]) -> Iterator[tuple[Namespace, list[_Named]]]:
    """Yield what is to be written by namespace; of one without memories nothing, for it may be purged.

    A purge that comes at the same time waits, or is waited for: so nothing is logged of what it removes.
    """
    groups: dict[str, list[_Named]] = {}
    for each in given:
        groups.setdefault(each.namespace, []).append(each)
    for path in sorted(groups):
        found = namespaces.locked(connection, path)
        if found is not None and recall_log.is_inhabited(connection, found.number):
            yield found, groups[path]
