"""Removing memories for good, with everything that only repeats them.

What a purge takes along: what was superseded because it says the same, and summaries and merged memories that
were made from what is removed. The right to be forgotten is article 17 of the General Data Protection
Regulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from memorata.engine.recall.query import parsed_filter
from memorata.engine.runtime import Runtime
from memorata.model.checks import memory_id
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.entries import all_pages
from memorata.store.store import Store

if TYPE_CHECKING:
    from memorata.store.filters import Filter

SUMMARY_OF: Final = "summary_of"
"""The key of the metadata in which a summary names the memories that it was made from."""
MERGED_FROM: Final = "merged_from"
"""The same, of a memory that joins several."""

_REPEATED: Final = frozenset({"exact", "near"})
_JOINED: Final = _REPEATED | {"merge"}
"""The kinds of notes about memories that say no more than what superseded them."""
_PAGE_SIZE: Final = 500


class Purge:
    """Purges memories and namespaces; `before` writes down what waits to be logged."""

    def __init__(self, runtime: Runtime, before: Callable[[], None]) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self.before = before

    def memories(
        self, path: str, ids: Sequence[str], names: Iterable[str] = (), *, dry_run: bool = False
    ) -> list[str]:
        """Purge memories with their copies, and what the logs say of these names; return the ids of all."""
        doomed, erased = self._with_copies(path, ids), sorted(names)
        if not dry_run:
            self.before()
            self._runtime.run([path], lambda: self._store.purge(path, doomed, erased, self._runtime.terms_of))
        return doomed

    def namespace(self, namespace: str) -> int:
        """Remove a namespace; see :meth:`~memorata.engine.namespaces.Namespaces.purge`."""
        path = self._runtime.path(namespace)
        self.before()
        removed = self._runtime.run([path], lambda: self._store.purge_namespace(path))
        self._runtime.names.clear()
        return removed

    def _with_copies(self, path: str, ids: Sequence[str]) -> list[str]:
        """Return ids, and those of what was made from these memories or only repeats one of them."""
        doomed = dict.fromkeys(ids)
        while more := [id_ for id_ in self._repeats_of(path, list(doomed), _JOINED) if id_ not in doomed]:
            doomed |= dict.fromkeys(more)
        derived = [
            (memory.id, _source_ids(memory, key))
            for key in (SUMMARY_OF, MERGED_FROM)
            for memory in made_from_others(self._store, path, key)
        ]
        fresh = list(doomed)
        while fresh:
            more = [id_ for id_, sources in derived if not sources.isdisjoint(fresh)]
            # The other sources of a merged memory are not purged: they are current again.
            more += self._repeats_of(path, fresh, _REPEATED)
            fresh = [id_ for id_ in dict.fromkeys(more) if id_ not in doomed]
            doomed |= dict.fromkeys(fresh)
        return list(doomed)

    def _repeats_of(self, path: str, ids: Sequence[str], kinds: frozenset[str]) -> list[str]:
        """Return the ids of memories that were superseded because they only repeat one of these."""
        repeated: list[str] = []
        for start in range(0, len(ids), _PAGE_SIZE):
            page = ids[start : start + _PAGE_SIZE]
            repeated += [
                note.memory_id for note in self._store.duplicates.repeats(path, of=page) if note.kind in kinds
            ]
            # What came from another store has brought no notes.
            replaced = self._store.duplicates.replaced(path, page)
            prints = {
                memory.id: memory.fingerprint for memory in self._store.get(path, _superseders(replaced))
            }
            repeated += [
                memory.id for memory in replaced if prints[str(memory.superseded_by)] == memory.fingerprint
            ]
        return repeated


def made_from_others(store: Store, path: str, key: str) -> Iterator[Memory]:
    """Return the memories whose metadata name those they were made from, under a key."""
    from memorata.store.filters import parse

    return all_memories(store, path, parse({f"metadata.{key}": {"exists": True}}), hidden=True)


def all_memories(
    store: Store, path: str, condition: Filter | None, *, hidden: bool, oldest_first: bool = False
) -> Iterator[Memory]:
    """Yield the memories of a namespace that pass a condition, read a page at a time."""
    order = {"hidden": hidden, "oldest_first": oldest_first}
    return all_pages(lambda cursor: store.page(path, condition, _PAGE_SIZE, cursor, **order))


def sources_of(summary: Memory) -> frozenset[str]:
    """Return the ids of the memories that a summary was made from; none for any other memory."""
    return _source_ids(summary, SUMMARY_OF)


def _source_ids(memory: Memory, key: str) -> frozenset[str]:
    sources = memory.metadata.get(key)
    return (
        frozenset(id_ for id_ in sources if isinstance(id_, str))
        if isinstance(sources, list)
        else frozenset()
    )


def _superseders(replaced: Sequence[Memory]) -> list[str]:
    return sorted({memory.superseded_by for memory in replaced if memory.superseded_by is not None})


def checked_ids(ids: Iterable[str]) -> list[str]:
    """Return ids of memories, or raise."""
    return [memory_id("id", id_) for id_ in ids]


def selected(ids: Sequence[str], filter: Mapping[str, Any] | None) -> Sequence[str] | Filter:
    """Return what is to be removed: some ids, or what passes a filter; not both, and not all by mistake."""
    if filter is None:
        return checked_ids(ids)
    if ids:
        raise InvalidArgument("filter", filter, "left out where ids are given")
    if isinstance(filter, Mapping) and not filter:
        raise InvalidArgument("filter", filter, 'at least one condition; {"id": {"exists": true}} is all')
    condition = parsed_filter(filter)
    assert condition is not None  # only no filter gives none
    return condition


def matching(
    store: Store, path: str, selection: Sequence[str] | Filter, *, hidden: bool = False
) -> Sequence[str]:
    """Return the ids that are meant; one that is missing raises now, and not when it matters."""
    if not isinstance(selection, Sequence):
        return [memory.id for memory in all_memories(store, path, selection, hidden=hidden)]
    store.get(path, selection)
    return selection
