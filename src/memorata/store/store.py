"""The store: memories and everything about them, in any database that the port describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memorata.index.cache import Added, PartitionCache
from memorata.index.codes import Floats
from memorata.index.search import NamespaceIndex, methods
from memorata.index.segments import TAIL, Embedder
from memorata.model.errors import InvalidArgument, MemorataError, StoreCorrupt
from memorata.model.memory import Memory
from memorata.store import check, rebuild
from memorata.store.access import KeyStore, ReplyStore
from memorata.store.database import Database, Session
from memorata.store.entities import EntityStore
from memorata.store.entries import Change, Entry, Page, TermsOf
from memorata.store.facets import Facet, read_by, writes_namespace, written_by
from memorata.store.feedback import FeedbackStore
from memorata.store.graph import GraphStore, RelationStore
from memorata.store.leases import LeaseStore
from memorata.store.memory import embedding, lookup, memories, purge, supersession
from memorata.store.memory.contradictions import ContradictionStore
from memorata.store.memory.duplicates import DuplicateStore, link_repeats
from memorata.store.memory.embedding import Embedded
from memorata.store.recall_log import ExposureStore, RecallLogStore
from memorata.store.rows import EMPTY, Namespace, find_namespace, log_change
from memorata.store.saved_settings import SavedSettingStore

if TYPE_CHECKING:
    from memorata.store.filters import Filter

_Result = TypeVar("_Result")
MEMORY_BUDGET: Final = 1024**3


class Store(Facet):
    """Memories in a database; any number of processes may open it.

    It keeps about `memory_budget` bytes of namespaces in memory, and drops the least recently used first.
    """

    def __init__(self, database: Database, *, memory_budget: int = MEMORY_BUDGET) -> None:
        super().__init__(database)
        info = database.info
        self.path = info.path
        """Where it is, for display: without a password."""
        self.read_only = info.read_only
        """Whether nothing can be written to it, as it is or as it was opened."""
        self.notices = info.notices
        """Notices for display about how the database was opened."""
        self._cache = PartitionCache(memory_budget)
        self._embedder: Embedder | None = None
        self.rollbacks = 0
        """How often a write of several parts was undone after one of them had been written."""
        self.keys, self.replies = KeyStore(database), ReplyStore(database)
        self.leases = LeaseStore(database)
        self.entities, self.relations = EntityStore(database), RelationStore(database)
        self.graph = GraphStore(database)
        self.duplicates, self.contradictions = DuplicateStore(database), ContradictionStore(database)
        self.recalls, self.feedback = RecallLogStore(database), FeedbackStore(database)
        self.exposures, self.saved_settings = ExposureStore(database), SavedSettingStore(database)

    def setting(self, name: str) -> str | None:
        """Return a setting that was remembered in the database."""
        find = "SELECT value FROM settings WHERE name = ?"
        row = self._database.read(lambda session: session.execute(find, (name,)).fetchone())
        return None if row is None else str(row[0])

    def remember_setting(self, name: str, value: str) -> None:
        """Remember a setting in the database."""
        put = "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        self._database.write(lambda session: session.execute(put, (name, value)))

    def together(self) -> AbstractContextManager[None]:
        """Make everything that this thread writes in the block one transaction: all of it, or nothing."""
        return self._database.together(self._undone)

    def attempt(
        self, work: Callable[[], _Result], *, replica: bool = False, fresh: bool = False
    ) -> tuple[_Result, str]:
        """Return what `work` returns, as :meth:`Database.attempt` does."""
        return self._database.attempt(work, replica=replica, fresh=fresh)

    def naming_change(self, namespace: str) -> int:
        """Return the last change of the names of a namespace's entities; 0 if there was none."""
        return self._row(namespace).naming

    def settings_change(self, namespace: str) -> tuple[int, int]:
        """Return a pair that changes with the saved settings of a namespace."""
        row = self._row(namespace)
        return (row.begun, row.settings) if row.settings else (0, 0)

    def last_change(self, namespace: str) -> int:
        """Return the number of the last change of a namespace; 0 if there was none."""
        return self._row(namespace).change

    def _row(self, namespace: str) -> Namespace:
        return self._database.read(lambda session: find_namespace(session, namespace)) or EMPTY

    def backup(self, target: str | Path) -> None:
        """Copy the database to `target` while others go on reading and writing."""
        self._database.backup(target)

    def vacuum(self) -> None:
        """Write the database anew: give back the space of what was removed, and erase every trace of it."""
        self._database.vacuum()

    def close(self) -> None:
        """Let go of the database."""
        self._forget()
        self._database.close()

    def add(self, entries: Sequence[Entry]) -> int:
        """Add memories, all or none, and return the number of the last change.

        A memory that supersedes others marks them, in the same transaction; they count as superseded from its
        `created_at` on. It can supersede only what was added before it and is still current. Its own
        `superseded_by` counts if that names a current memory which was added before it; a younger memory has
        to name it in `supersedes`.
        """
        added: list[Added] = []

        def write(session: Session) -> int:
            added.clear()
            change = memories.add(session, entries, self._embedder, added)
            repeats = [entry for entry in entries if entry.memory.superseded_by is not None]
            return (link_repeats(session, repeats) if repeats else 0) or change

        paths = sorted({entry.memory.namespace for entry in entries})
        change = self._database.write(write, *paths, batch=len(entries) >= TAIL)
        # Not before it is written; if it is part of more that fails, partitions are forgotten anyway.
        self._cache.note_added(entries, added)
        return change

    def update(self, memory: Memory, expected_version: int, terms_of: TermsOf | None = None) -> Memory:
        """Replace fields of a memory, if it is at that version; return it at the next one.

        Tags, entities and the time it happened are searched by their terms: they can change only with
        `terms_of`, which returns the terms of a memory as they were when it was added.
        """
        return self._database.write(
            lambda session: memories.update(session, memory, expected_version, terms_of), memory.namespace
        )

    use = written_by(memories.use)
    hide = written_by(memories.hide)

    @writes_namespace
    def forget(
        self, session: Session, namespace: str, ids: Sequence[str] | Filter, now: datetime
    ) -> list[str]:
        """Hide memories, or all visible ones that pass a filter; `restore` brings them back."""
        wanted = list(ids) if isinstance(ids, Sequence) else lookup.matching(session, namespace, ids)
        memories.set_forgotten(session, namespace, wanted, now)
        return wanted

    def restore(self, namespace: str, ids: Sequence[str]) -> None:
        """Show forgotten memories again."""
        self._database.write(lambda session: memories.set_forgotten(session, namespace, ids, None), namespace)

    def purge(
        self,
        namespace: str,
        ids: Sequence[str],
        names: Sequence[str] = (),
        terms_of: TermsOf | None = None,
        *,
        erase: bool = True,
    ) -> None:
        """Remove memories and everything derived from them, for good, and the entities with these names.

        The relations they assert go with them, and the declared entities that only they referred to; and the
        text of logged queries that have such a name. With `terms_of`, which returns the terms of a memory,
        those that stay give back what they took over from purged repeats. Without `erase`, the bytes of the
        file are left as they are. If others kept the file from being written anew, `PurgeUnfinished` is
        raised: the memories are gone, and `vacuum` does the rest.
        """
        if not ids and not names:
            return
        self._database.write(
            lambda session: purge.purge(session, namespace, ids, names, terms_of), namespace, erasing=erase
        )

    def purge_namespace(self, namespace: str) -> int:
        """Remove a namespace for good, with its name and all that belongs to it; return how many memories."""
        count = self._database.write(lambda session: purge.empty(session, namespace), namespace, erasing=True)
        self._forget_namespace(namespace)
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
        former: bool = False,
    ) -> Iterator[NamespaceIndex]:
        """Open a consistent view of a namespace: at `now`, as believed at `as_of`, what passes the filter.

        With `true_at`, what held in the world at that instant, as far as it is known (at `as_of`, if set: an
        end that a later successor set was not known then). With `former`, what a newer memory superseded and
        ended is found, too.
        """
        with self._database.reading(namespace) as (session, held):
            row = find_namespace(session, namespace) or EMPTY
            cache = self._cache if held else PartitionCache(0)
            partition = cache.partition(session, row, self._embedder)
            ends = None
            if as_of is not None and true_at is not None:
                ends = supersession.ends_at(session, row.number, as_of)
            try:
                yield NamespaceIndex(
                    session, row, partition, self._embedder, now, as_of, filter, true_at, ends, former=former
                )
            except MemorataError:
                raise
            except BaseException:
                # Interrupted, or out of memory: what is cached beside the partition may be half computed.
                self._cache.drop(namespace)
                raise

    def look(
        self,
        work: Callable[[NamespaceIndex], _Result],
        namespace: str,
        now: datetime,
        *,
        as_of: datetime | None = None,
        filter: Filter | None = None,
        true_at: datetime | None = None,
        former: bool = False,
        fresh: bool = True,
    ) -> tuple[_Result, str]:
        """Return what `work` finds in a :meth:`view`, perhaps of a replica, as :meth:`attempt` does."""

        def once() -> _Result:
            with self.view(
                namespace, now, as_of=as_of, filter=filter, true_at=true_at, former=former
            ) as view:
                return work(view)

        return self._database.attempt(once, replica=True, fresh=fresh)

    get = read_by(lookup.get)
    known = read_by(lookup.existing)
    slots = read_by(lookup.slots)
    ids = read_by(lookup.ids)
    page = read_by(lookup.page)
    hidden = read_by(lookup.hidden)
    namespaces = read_by(lookup.namespaces)

    def export(
        self, namespace: str | None, unreadable: Callable[[StoreCorrupt], None] | None = None
    ) -> Iterator[Memory]:
        """Yield every memory, hidden ones too, as added; `unreadable` gets the error of a damaged one."""
        return lookup.export(self._database, namespace, unreadable)

    def rename_namespaces(self, paths: Mapping[str, str]) -> None:
        """Give namespaces other paths that nothing was written to, with all that they hold, all or none."""

        def work(session: Session) -> None:
            for old, new in paths.items():
                namespace = find_namespace(session, old)
                if namespace is None:
                    raise InvalidArgument("namespace", old, "one that there is")
                if find_namespace(session, new) is not None:
                    raise InvalidArgument("to", new, "a namespace that nothing was written to")
                number = session.dialect.rename_namespace(session, namespace.number, old, new)
                # Other processes drop their caches of either name.
                log_change(session, number, "rename", naming=True)

        self._database.write(work, *sorted({*paths, *paths.values()}))
        for path in (*paths, *paths.values()):
            self._forget_namespace(path)

    def changes(self, since: int, limit: int) -> list[Change]:
        """Return the changes after `since`, oldest first."""
        until = self._database.settled()
        return self._database.read(lambda session: lookup.changes(session, since, until, limit))

    def same(self, namespace: str, statements: Sequence[str], now: datetime) -> dict[str, list[Memory]]:
        """Return the memories seen at `now` by the key of their statement, without turns of transcripts."""
        return self._database.read(lambda session: lookup.same(session, namespace, statements, now))

    def use_embedder(self, name: str, dimension: int) -> None:
        """Set the embedder that the vectors of queries come from; it is recorded in the database."""
        recorded = embedding.recorded(self._database, name, dimension)
        if self._embedder != recorded:
            self._embedder = recorded
            self._forget()

    def dimension_of(self, embedder: str) -> int | None:
        """Return how long the vectors of an embedder are, as recorded; None for one that was never used."""
        row = self._database.read(lambda session: embedding.find(session, embedder))
        return None if row is None else row[1]

    @cached_property
    def is_remote(self) -> bool:
        """Whether every statement waits for a network."""
        return self._database.read(lambda session: session.dialect.remote)

    def is_loaded(self, namespace: str) -> bool:
        """Return whether the partition of a namespace is in memory; to load one may take seconds."""
        return self._cache.holds(namespace)

    def expect(self, namespace: str, entries: Sequence[Entry], now: datetime) -> None:
        """Inside a write, read ahead the rows that comparing entries and adding them need."""
        if self.is_remote:
            self._database.read(lambda session: memories.expect(session, namespace, entries, now))

    def expect_vectors(self, namespace: str, digests: Callable[[], Sequence[bytes]]) -> None:
        """Read ahead the rows that :meth:`cached_vectors` will need, where that saves a round trip."""
        embedder = self._embedder
        if self.is_remote and embedder is not None:
            self._database.read(
                lambda session: lookup.expect_vectors(session, namespace, embedder, digests())
            )

    def cached_vectors(self, namespace: str, digests: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the vectors that texts of a namespace with these hashes have from the current embedder."""
        # Of that namespace alone: otherwise the time of a write would reveal what other namespaces hold.
        embedder = self._embedder
        if embedder is None or not digests:
            return {}
        return self._database.read(
            lambda session: lookup.cached_vectors(session, namespace, embedder, digests)
        )

    def waiting(self, limit: int, cursor: str | None = None) -> Page:
        """Return memories without a vector of the current embedder, hidden ones too, a page at a time."""
        embedder = self._in_use()
        return self._database.read(lambda session: embedding.waiting(session, embedder, limit, cursor))

    def count_waiting(self) -> int:
        """Return how many memories have no vector of the current embedder."""
        return self._database.read(partial(embedding.count_waiting, embedder=self._in_use()))

    def other_vectors(self) -> Mapping[str, int]:
        """Return how many memories have vectors of each other embedder, without embedders that have none."""
        return self._database.read(partial(embedding.other_vectors, embedder=self._in_use()))

    def put_vectors(self, embedded: Sequence[Embedded]) -> int:
        """Give memories their vectors, in one transaction; return how many still waited for them."""
        embedder = self._in_use()
        paths = sorted({entry.namespace for entry in embedded})
        return self._database.write(
            lambda session: embedding.put_vectors(session, embedder, embedded), *paths
        )

    def renew_codes(self) -> bool:
        """Write the codes of one run of vectors that were added late; return whether any was due.

        Searches are right before and after; a process that loads the namespace is faster afterwards.
        """
        return self._embedder is not None and embedding.renew_codes(self._database, self._embedder)

    def drop_vectors(self, limit: int) -> int:
        """Remove up to `limit` vectors of other embedders than the current one; return how many."""
        return embedding.drop_vectors(self._database, self._in_use(), limit)

    methods = staticmethod(methods)

    def statistics(self) -> Mapping[str, Any]:
        """Return sizes and counts for display."""
        counts = self._database.read(
            lambda session: {
                **check.statistics(session),
                **session.dialect.statistics(session),
            }
        )
        if replica := self._database.info.replica:
            _, why = self._database.attempt(lambda: self.setting(""), replica=True)
            counts["replica"] = why.removeprefix("read from the primary: ") or f"{replica} answers"
        return {**counts, "methods": self.methods()}

    def check(self, terms_of: TermsOf, *, repair: bool = False) -> list[str]:
        """Return messages of all problems; with `repair`, rebuild derived data that has one."""
        work = partial(check.checked, terms_of=terms_of, embedder=self._embedder, repair=repair)
        paths = self.namespaces() if repair else ()
        problems = self._database.write(work, *paths) if repair else self._database.read(work)
        self._forget()
        return problems

    def rebuild(self, namespace: str, terms_of: TermsOf) -> None:
        """Write everything derived from the memories of a namespace anew."""
        self._database.write(
            lambda session: rebuild.rebuild(session, namespace, terms_of, self._embedder), namespace
        )
        self._forget()

    def _undone(self) -> None:
        self.rollbacks += 1  # what was read inside the block may be of changes that were rolled back
        self._forget()

    def _in_use(self) -> Embedder:
        if self._embedder is None:
            raise InvalidArgument("embedder", None, "in use, for vectors to belong to it")
        return self._embedder

    def _forget_namespace(self, namespace: str) -> None:
        self._cache.drop(namespace)

    def _forget(self) -> None:
        self._cache.clear()
