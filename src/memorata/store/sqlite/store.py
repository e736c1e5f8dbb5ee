"""The store on one SQLite file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memorata.index.approximate import LARGE
from memorata.index.partition import Partition
from memorata.model import checks
from memorata.model.errors import InvalidArgument, MemorataError
from memorata.model.memory import Memory
from memorata.store.access import KeyStore, ReplyStore, erase_replies
from memorata.store.entities import EntityStore, referred_to, remove_named, remove_unreferred
from memorata.store.exposures import ExposureStore, forget_users, purge_exposures
from memorata.store.feedback import FeedbackStore, purge_feedback
from memorata.store.graph import GraphStore
from memorata.store.leases import LeaseStore
from memorata.store.limits import EMBEDDERS, checked_limit
from memorata.store.memory_rows import slots_of
from memorata.store.namespace_rows import log_change
from memorata.store.port import Entry, Hidden, Terms
from memorata.store.recall_log import RecallLogStore, forget_queries, purge_recalls
from memorata.store.relations import RelationStore
from memorata.store.saved_settings import SavedSettingStore
from memorata.store.sqlite import (
    addresses,
    approximation,
    check,
    condition_functions,
    emptying,
    finding,
    methods,
    purging,
    rebuilding,
    writing,
)
from memorata.store.sqlite.access import AccessStore
from memorata.store.sqlite.connection import expect, reading, translated
from memorata.store.sqlite.connection import writing as transaction
from memorata.store.sqlite.database import SqliteDatabase
from memorata.store.sqlite.embedding import EmbeddingStore
from memorata.store.sqlite.erasing import erase, owe
from memorata.store.sqlite.keeping_up import Added, keep_up
from memorata.store.sqlite.listing import ListingStore
from memorata.store.sqlite.loading import caught_up
from memorata.store.sqlite.looking_up import AddressStore
from memorata.store.sqlite.openings import OpeningStore
from memorata.store.sqlite.repeats import RepeatStore
from memorata.store.sqlite.segments import TAIL, Namespace
from memorata.store.sqlite.view import SqliteView
from memorata.text.folding import folded

if TYPE_CHECKING:
    from memorata.store.filters import Filter

_MEMORY_BUDGET: Final = 1024**3
_EMPTY: Final = Namespace(0, "", 0, 0, 0, 0)


class SqliteStore(
    AccessStore,
    EmbeddingStore,
    AddressStore,
    RepeatStore,
    OpeningStore,
    ListingStore,
):
    """A :class:`~memorata.store.port.Store` on one file; any number of processes may open it.

    Parameters
    ----------
    path
        The file, or ``":memory:"``.
    durable
        Whether an acknowledged write survives a power cut; see :func:`.connection.connect`.
    memory_budget
        About how many bytes of namespaces to keep in memory; the least recently used go first.
    must_exist
        Whether a missing file is an error.
    migration_backup
        Whether a file of an older schema is copied before it is migrated.
    approximate_from
        From how many memories with vectors on a namespace gets an approximate index, if faiss is installed.
    read_only
        Whether nothing is to be written, even though it could be. A file that cannot be is opened so anyway.

    Attributes
    ----------
    read_only
        Whether nothing can be written; `read_only_because` says why.
    migration
        What was done to the file when it was opened, if it was of an older schema.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        durable: bool = True,
        memory_budget: int = _MEMORY_BUDGET,
        must_exist: bool = False,
        migration_backup: bool = True,
        approximate_from: int = LARGE,
        read_only: bool = False,
    ) -> None:
        self.path = str(path)
        self._approximate_from = checks.whole("approximate_from", approximate_from, 1)
        self._database = SqliteDatabase(
            path,
            durable=durable,
            must_exist=must_exist,
            migration_backup=migration_backup,
            read_only=checks.flag("read_only", read_only),
        )
        self.migration = self._database.migration
        self._connection, self._lock = self._database.session, self._database.lock
        self.keys, self.replies = KeyStore(self._database), ReplyStore(self._database)
        self.leases = LeaseStore(self._database)
        self.entities, self.relations = EntityStore(self._database), RelationStore(self._database)
        self.graph = GraphStore(self._database)
        self.recalls, self.feedback = RecallLogStore(self._database), FeedbackStore(self._database)
        self.exposures = ExposureStore(self._database)
        self.saved_settings = SavedSettingStore(self._database)
        self.read_only_because = self._database.read_only_because
        self.read_only = self._database.read_only
        condition_functions.register(self._connection)
        self._partitions: OrderedDict[str, tuple[Partition, int]] = OrderedDict()
        self._used = 0
        self._added: dict[str, list[Added]] = {}
        self._openings = OrderedDict()
        self._memory_budget = memory_budget
        self._embedder: tuple[int, int] | None = None
        self._book = addresses.Book()

    def use_embedder(self, name: str, dimension: int) -> None:
        """Say which embedder the vectors of queries come from; remembered in the database."""
        with self._lock:
            find = "SELECT number, dimension FROM embedders WHERE name = ?"
            with reading(self._connection, self.path):
                found = self._connection.execute(find, (name,)).fetchone()
            if found is None:
                with transaction(self._connection, self.path):
                    self._connection.execute(
                        "INSERT INTO embedders (name, dimension) VALUES (?, ?) ON CONFLICT DO NOTHING",
                        (name, dimension),
                    )
                    found = self._connection.execute(find, (name,)).fetchone()
                    checked_limit("embedders", found[0], EMBEDDERS)
            if found[1] != dimension:
                raise InvalidArgument("dimension", dimension, f"{found[1]}, as recorded for {name!r}")
            if self._embedder != tuple(found):
                self._embedder = (found[0], found[1])
                self._forget_partitions()

    def setting(self, name: str) -> str | None:
        """Return a setting that was remembered in the database."""
        with self._lock, reading(self._connection, self.path):
            found = self._connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def remember_setting(self, name: str, value: str) -> None:
        """Remember a setting in the database."""
        with self._lock, transaction(self._connection, self.path):
            self._connection.execute(
                "INSERT INTO settings (name, value) VALUES (?, ?) "
                "ON CONFLICT DO UPDATE SET value = excluded.value",
                (name, value),
            )

    def add(self, entries: Sequence[Entry]) -> int:
        """Add memories, all or none, and return the number of the last change."""
        added: list[Added] = []
        with self._lock:
            with transaction(self._connection, self.path):
                expect(self._connection, batch=len(entries) >= TAIL)
                change = writing.add(self._connection, entries, self._embedder, added)
                change = self._link_repeats(entries) or change
            # Not before it is written; if it is part of more that fails, partitions are forgotten anyway.
            self._note_added(entries, added)
        return change

    def update(
        self, memory: Memory, expected_version: int, terms_of: Callable[[Memory], Terms] | None = None
    ) -> Memory:
        """Replace what is known about a memory, if it is at that version; return it at the next one."""
        with self._lock, transaction(self._connection, self.path):
            return writing.update(self._connection, memory, expected_version, terms_of)

    def use(self, namespace: str, ids: Sequence[str], now: datetime) -> None:
        """Count that memories were of use at `now`, all or none; each is at its next version then."""
        with self._lock, transaction(self._connection, self.path):
            writing.use(self._connection, namespace, ids, now)

    def forget(self, namespace: str, ids: Sequence[str], now: datetime) -> None:
        """Hide memories; `restore` brings them back."""
        with self._lock, transaction(self._connection, self.path):
            writing.set_forgotten(self._connection, namespace, ids, now)

    def restore(self, namespace: str, ids: Sequence[str]) -> None:
        """Show forgotten memories again."""
        with self._lock, transaction(self._connection, self.path):
            writing.set_forgotten(self._connection, namespace, ids, None)

    def hide(self, namespace: str, hidden: Sequence[Hidden]) -> None:
        """Hide memories as :meth:`hidden` told it elsewhere; None leaves a part as it is."""
        with self._lock, transaction(self._connection, self.path):
            for each in hidden:
                writing.hide(self._connection, namespace, each)

    def purge(
        self,
        namespace: str,
        ids: Sequence[str],
        names: Sequence[str] = (),
        terms_of: Callable[[Memory], Terms] | None = None,
    ) -> None:
        """Remove memories and everything derived from them, for good, and the entities with these names.

        The relations they assert go with them, and the declared entities that only they referred to.
        Afterwards the whole file is written anew, so that its bytes hold no trace: this takes time in
        proportion to the size of the file (:mod:`.erasing`), once for all of the given memories.

        Raises
        ------
        PurgeUnfinished
            If the memories are gone, but others kept the file from being written anew; `vacuum` does it.
        """
        if not ids and not names:
            return
        with self._lock, translated(self.path):
            with transaction(self._connection, self.path):
                whose = (finding.find_namespace(self._connection, namespace) or _EMPTY).number
                session = self._database.session
                entities = referred_to(session, whose, ids)
                slots = list(slots_of(session, whose, ids).values())
                purging.purge(self._connection, namespace, ids, terms_of)
                approximation.remove(self._connection, whose, slots)
                purge_recalls(session, whose, slots)
                purge_feedback(session, whose, slots)
                purge_exposures(session, whose, slots)
                remove_unreferred(session, whose, entities)
                remove_named(session, whose, [folded(name) for name in names])
                if names and whose:
                    forget_queries(session, whose, names)
                    forget_users(session, whose, names)
                    # Of those who wait to log a question, nobody is to bring a name back.
                    log_change(session, whose, "purge")
                erase_replies(session, namespace)
                owe(self._connection)
            erase(self._connection, self.path)

    def purge_namespace(self, namespace: str) -> int:
        """Remove a namespace for good, with its name and all that belongs to it; see :meth:`purge`.

        Returns how many memories it had.
        """
        with self._lock, translated(self.path):
            with transaction(self._connection, self.path):
                found = finding.find_namespace(self._connection, namespace)
                if found is None:
                    raise InvalidArgument("namespace", namespace, "one that there is")
                count = emptying.empty(self._connection, found)
                owe(self._connection)
            self._drop_partition(namespace)
            erase(self._connection, self.path)
        return count

    @contextmanager
    def view(
        self,
        namespace: str,
        now: datetime,
        *,
        as_of: datetime | None = None,
        filter: Filter | None = None,
        true_at: datetime | None = None,
    ) -> Iterator[SqliteView]:
        """Open a consistent look at a namespace: see :meth:`memorata.store.port.Store.view`."""
        with self._lock, reading(self._connection, self.path):
            row = finding.find_namespace(self._connection, namespace) or _EMPTY
            partition = self._partition(row) if row is not _EMPTY else self._nothing()
            try:
                yield SqliteView(
                    self._connection, row, partition, self._embedder, now, as_of, filter, true_at
                )
            except MemorataError:
                raise
            except BaseException:
                # Interrupted, or out of memory: what is kept beside the partition may be half computed.
                self._drop_partition(namespace)
                raise

    def written(self) -> int:
        """Return a number that moves when another process has written since it was last asked for."""
        return self._database.written()

    def statistics(self) -> Mapping[str, Any]:
        """Return sizes and counts, for people."""
        with self._lock, reading(self._connection, self.path):
            return {
                **check.statistics(self._connection, self.path, self._approximate_from),
                "methods": self.methods(),
            }

    def methods(self) -> Mapping[str, str]:
        """Return how searches are done, by leg, for people."""
        return methods.methods()

    def check(self, terms_of: Callable[[Memory], Terms], *, repair: bool = False) -> list[str]:
        """Return what is wrong with the file, in words; nothing for a sound one.

        Parameters
        ----------
        terms_of
            Gives the words of a memory, as they were when it was added.
        repair
            Whether to rebuild derived data that is wrong. What was said is never touched.
        """
        look = transaction if repair else reading
        with self._lock, look(self._connection, self.path):
            found = check.problems(self._connection, terms_of)
            sound = all(problem.namespace for problem in found)
            if repair and not sound:
                # An index of SQLite's own can be made anew; what else is wrong with the file stays so.
                rebuilding.mend_file(self._connection)
                if sound := not check.file_problems(self._connection):
                    found += check.problems(self._connection, terms_of)
            mendable = {problem.namespace for problem in found if problem.mendable}
            for namespace in sorted(mendable - {""}) if repair else ():
                rebuilding.rebuild(self._connection, namespace, terms_of, self._embedder)
            lost = list(addresses.problems(self._connection)) if sound else []
            if lost and repair:
                addresses.rebuild(self._connection)
            self._forget_partitions()
        return [*(problem.text for problem in found), *lost]

    def rebuild(self, namespace: str, terms_of: Callable[[Memory], Terms]) -> None:
        """Write everything derived from the memories of a namespace anew."""
        with self._lock, transaction(self._connection, self.path):
            rebuilding.rebuild(self._connection, namespace, terms_of, self._embedder)
            self._forget_partitions()

    def backup(self, target: str | Path) -> None:
        """Copy the database to `target` while others go on reading and writing."""
        self._database.backup(target)

    def vacuum(self) -> None:
        """Write the file anew: give back the space of what was removed, and erase every trace of it."""
        self._database.vacuum()

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._forget_partitions()
            self._database.close()

    def _partition(self, namespace: Namespace) -> Partition:
        known, size = self._partitions.pop(namespace.path, (None, 0))
        self._used -= size
        if known is not None and known.change < namespace.begun:
            known = None
        added = self._added.pop(namespace.path, ())
        if known is not None and added:
            keep_up(known, added, self._embedder[1] if self._embedder else 0)
        fresh = caught_up(self._connection, namespace, self._embedder, known)
        size = fresh.nbytes
        self._partitions[namespace.path] = fresh, size
        self._used += size
        while self._used > self._memory_budget and len(self._partitions) > 1:
            _, (_, dropped) = self._partitions.popitem(last=False)
            self._used -= dropped
        return fresh

    def _note_added(self, entries: Sequence[Entry], added: Sequence[Added]) -> None:
        """Keep what was added for the next look, where there has been one and no segment was written."""
        for path in {entry.memory.namespace for entry in entries} - {each.namespace.path for each in added}:
            self._added.pop(path, None)
        self._note_openings(added)
        for each in added:
            if each.namespace.path in self._partitions:
                self._added.setdefault(each.namespace.path, []).append(each)

    def _drop_partition(self, path: str) -> None:
        _, size = self._partitions.pop(path, (None, 0))
        self._used -= size

    def _forget_partitions(self) -> None:
        self._partitions.clear()
        self._added.clear()
        self._openings.clear()
        self._used = 0

    def _nothing(self) -> Partition:
        return Partition(self._embedder[1] if self._embedder else 0, exact=True)
