"""The write path: drafts get their vectors and terms, meet what is there already, and are written.

`update` changes what is known about a memory, never its content, which `correct` alone replaces. It raises
the version by one, in one transaction with what the index keeps, so that two writers of the same memory
never overwrite each other unseen (optimistic concurrency, Kung and Robinson, 1981).

Memories may stand under a key of the caller's: the current version under a stable name, the older ones in its
history. That needs no index: the id of a version is derived from the key and its number, so the versions of a
key are looked up by id, as many in one statement as a window holds. Two writers of the same version collide
on its id; the second reads again and makes the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memorata.dedupe.fingerprint import fingerprint
from memorata.engine.embedding import CallerVector, CurrentEmbedder, address, cached_vectors
from memorata.engine.gc_pause import gc_paused
from memorata.engine.rules import DedupeMode
from memorata.engine.runtime import Runtime
from memorata.engine.write.drafts import Drafts, built_place, cleaned, has_id
from memorata.engine.write.names import NameIndex
from memorata.engine.write.terms import PHRASE, embedded_text, terms_of
from memorata.model import checks
from memorata.model.entity import OWN_TYPES, Relation
from memorata.model.errors import InvalidArgument, MemoryNotFound, VersionConflict
from memorata.model.memory import STANDING_CATEGORIES, Memory
from memorata.store.entries import Entry
from memorata.store.store import Store
from memorata.text.tokens import contains_any, folded

if TYPE_CHECKING:
    from memorata.engine.write.deduplication import Deduplicated

BATCH: Final = 1_000
"""How many memories `remember_many` writes in one transaction."""
UPDATABLE: Final = (
    "category", "tier", "confidence", "importance", "pinned", "tags", "metadata", "entities", "place",
    "valid_from", "valid_to", "expires_at",
)  # fmt: skip
"""The fields of a memory that `update` changes."""
_ELSEWHERE: Final = {
    "content": "to say something new, use correct",
    "untrusted": "whether it is trusted follows from its source, and admin.set_trust changes it",
}
_Item = TypeVar("_Item")
_INHERITED: Final = ("category", "tier", "importance", "pinned", "tags", "place")


class Writer:
    """Writes memories with everything that is derived from them."""

    def __init__(
        self, runtime: Runtime, embedding: CurrentEmbedder, drafts: Drafts, names: NameIndex
    ) -> None:
        self._runtime = runtime
        self._store = runtime.store
        self._embedding = embedding
        self._names = names
        self.drafts = replace(drafts, expect=embedding.expect)

    def with_source_via(self, via: str) -> Writer:
        """Return this writer for memories that come through an interface."""
        view = copy(self)
        view.drafts = replace(self.drafts, via=via)
        return view

    def remember(
        self,
        content: str,
        path: str,
        details: Mapping[str, Any],
        mode: DedupeMode,
        vector: checks.Numbers | None = None,
    ) -> Memory:
        """Add one memory, and return the one that now says it."""
        own_vector = None if vector is None else CallerVector(vector, details.get("embedder") or None)

        def write() -> Memory:
            return self.add([self.drafts.draft(content, path, details)], mode, [own_vector])[0]

        return self._store.attempt(write)[0]

    def add_items(
        self,
        batch: Sequence[Memory | Mapping[str, Any] | str],
        whose: str,
        mode: DedupeMode,
        *,
        verbatim: bool,
        first: int = 0,
    ) -> list[Memory]:
        """Add the items of one transaction, but those whose ids are known; `first` numbers the first one."""
        items, vectors = _vectors_apart(batch, first)

        def write() -> list[Memory]:
            drafts = self.drafts.from_items(items, whose, verbatim=verbatim, first=first)
            kept_vectors = vectors
            # Only an item that brought its own id can be known already.
            identified = [draft for draft, item in zip(drafts, items, strict=True) if has_id(item)]
            if existing := self._store.known([(draft.namespace, draft.id) for draft in identified]):
                fresh = [(draft.namespace, draft.id) not in existing for draft in drafts]
                drafts, kept_vectors = list(compress(drafts, fresh)), list(compress(kept_vectors, fresh))
            return self.add(drafts, mode, kept_vectors)

        return self._store.attempt(write)[0]

    def add_batches(
        self,
        items: Iterable[Memory | Mapping[str, Any] | str],
        whose: str,
        mode: DedupeMode,
        *,
        verbatim: bool,
        progress: Callable[[int], None],
    ) -> list[Memory]:
        """Add many items, a transaction for each batch; see :meth:`Engine.remember_many`."""
        # A text is a sequence of letters, and a mapping one of names, by accident.
        if isinstance(items, str | Mapping) or not checks.iterable(items):
            raise InvalidArgument("items", items, "a list of memories, mappings with a content, or texts")
        remembered: list[Memory] = []
        done = 0
        for batch in batches(items, BATCH):
            with gc_paused():
                remembered += self.add_items(batch, whose, mode, verbatim=verbatim, first=done)
            done += len(batch)
            progress(done)
        return remembered

    def add(
        self, drafts: Sequence[Memory], mode: DedupeMode, vectors: Sequence[CallerVector | None] = ()
    ) -> list[Memory]:
        """Write drafts in one transaction; return for each the memory that now says it."""
        if not drafts:
            return []
        entries = self.entries(drafts, vectors)
        if not self._names.has_relations:
            return self._deduplicated(entries, mode).survivors

        def take() -> list[Memory]:
            with self._store.together():
                result = self._deduplicated(entries, mode)
                self._relate(result.fresh)
            return result.survivors

        return self._runtime.run(sorted({draft.namespace for draft in drafts}), take)

    def update(
        self, path: str, id: str, fields: Mapping[str, Any], expected_version: int | None = None
    ) -> Memory:
        """Change fields of a memory; see :meth:`Engine.update`."""
        if expected_version is not None:
            checks.whole("expected_version", expected_version, 1)
        changes = _checked(cleaned(fields) if self.drafts.redact else fields)
        while True:
            current = self._store.get(path, [id])[0]
            version = current.version if expected_version is None else expected_version
            if version != current.version:
                raise VersionConflict(id, version, current.version)
            if current.untrusted and changes.get("category") in STANDING_CATEGORIES:
                raise InvalidArgument(
                    "category",
                    changes["category"],
                    f"another than {', '.join(sorted(STANDING_CATEGORIES))}, as memory {id} is untrusted; "
                    "call admin.set_trust first if its words can be relied on",
                )
            changed = replace(current, **changes)
            if changed == current:
                return current
            try:
                return self._runtime.run([path], partial(self._update, changed, version))
            except VersionConflict:
                if expected_version is not None:
                    raise
                # Another writer was faster; the same fields are changed of its version.

    def inherited(self, old: Memory, content: str, details: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that a correction takes over from the old memory; see :meth:`Engine.correct`."""
        values: dict[str, Any] = {name: getattr(old, name) for name in _INHERITED}
        # A correction that names no source may be made of the same page; a source decides by itself.
        if "source" not in details:
            values["untrusted"] = old.untrusted
        # The words that its time was read from are not those of the new text.
        values["metadata"] = {name: value for name, value in old.metadata.items() if name != PHRASE}
        mentioned = {folded(name) for name in self._names.mentioned(old.content, old.namespace)}
        values["entities"] = tuple(name for name in old.entities if folded(name) not in mentioned)
        if old.place is not None:
            parts = {folded(part) for part in old.place.name.split(",") if part.strip()}
            if contains_any(old.content, parts) and not contains_any(content, parts):
                values["place"] = None
        expires_at = None if details.get("pinned") else old.expires_at
        if expires_at is not None and expires_at > self._runtime.clock():
            values["expires_at"] = expires_at
        return values

    def entries(
        self, drafts: Sequence[Memory], own_vectors: Sequence[CallerVector | None] = ()
    ) -> list[Entry]:
        """Return drafts with everything that is derived from them."""
        texts = [embedded_text(draft) for draft in drafts]
        vectors = self._embedding.meaning().documents(
            texts, [draft.namespace for draft in drafts], own_vectors
        )
        name = self._embedding.embedder.name if self._embedding.embedder is not None else ""
        entries = []
        for draft, (digest, rows) in zip(drafts, vectors, strict=True):
            embedder = name if rows is not None else ""
            memory = draft.stamped(fingerprint=fingerprint(draft.content), embedder=embedder)
            entries.append(Entry(memory, terms_of(memory, self._runtime.analyser), rows, digest))
        return entries

    def _deduplicated(self, entries: Sequence[Entry], mode: DedupeMode) -> Deduplicated:
        from memorata.engine.write.deduplication import Deduplicator

        deduplicator = Deduplicator(self._store, self._runtime.terms_of, self._runtime.dedupe)
        paths = sorted({entry.memory.namespace for entry in entries})
        return self._runtime.run(
            paths, lambda: deduplicator.add_deduplicated(entries, mode, self._runtime.clock())
        )

    def _relate(self, memories: Sequence[Memory]) -> None:
        """Write down the relations that an extractor read in what was just remembered."""
        by_namespace: dict[str, list[Relation]] = {}
        for memory in memories:
            for relation in self._names.relations_in(memory):
                # What a model calls by a word of the graph's own, or by nothing, is no relation.
                if relation.type not in OWN_TYPES and folded(relation.source) and folded(relation.target):
                    by_namespace.setdefault(memory.namespace, []).append(relation)
        for path, relations in by_namespace.items():
            self._store.relations.add(path, relations, self._runtime.clock())

    def _update(self, changed: Memory, version: int) -> Memory:
        return self._store.update(changed, version, self._runtime.terms_of)


def stored_entries(runtime: Runtime, memories: Sequence[Memory], to: str | None = None) -> list[Entry]:
    """Return memories of a store with the vectors it has of them; `to` is where they move, if they do."""
    keys = [(memory.namespace, address(embedded_text(memory))) for memory in memories]
    vectors = cached_vectors(runtime.store, keys)
    moved = memories if to is None else [replace(memory, namespace=to) for memory in memories]
    return [
        Entry(memory, runtime.terms_of(memory), vectors.get(key), key[1])
        for memory, key in zip(moved, keys, strict=True)
    ]


def _vectors_apart(
    batch: Sequence[Memory | Mapping[str, Any] | str], first: int
) -> tuple[Sequence[Memory | Mapping[str, Any] | str], Sequence[CallerVector | None]]:
    """Return the items of a batch without the vectors that some bring, and these; none where none does."""
    if not any(isinstance(item, Mapping) and "vector" in item for item in batch):
        return batch, ()
    items: list[Memory | Mapping[str, Any] | str] = []
    vectors: list[CallerVector | None] = []
    for number, item in enumerate(batch, first):
        bare = {**item} if isinstance(item, Mapping) else {}
        vector = bare.pop("vector", None)
        embedder, argument = bare.get("embedder") or None, f"items[{number}]"
        vectors.append(None if vector is None else CallerVector(vector, embedder, argument))
        items.append(bare or item)
    return items, vectors


def _checked(fields: Mapping[str, Any]) -> dict[str, Any]:
    for name in fields:
        if name in _ELSEWHERE:
            raise InvalidArgument("fields", name, f"what is known about a memory; {_ELSEWHERE[name]}")
        checks.one_of("fields", name, UPDATABLE)
    values = dict(fields)
    if isinstance(values.get("place"), Mapping):
        values["place"] = built_place(values["place"])
    return values


def batches(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Yield lists of so many items; the last may be shorter."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


KEY: Final = "key"
"""Under which a memory's metadata holds its key."""
KEY_CREATED_AT: Final = "key_created_at"
"""Under which it holds when the first version was written; `created_at` is that of the version."""
MAX_KEY: Final = 1_000
_KEY_FAMILY: Final = "0d0f4a64-7d2b-5c1e-9a53-6c1d4f5b7e21"
_VERSIONS_PER_QUERY: Final = 64
"""Versions that are looked up at once; purged ones may leave gaps, and fewer in a row than this."""
_MAX_ATTEMPTS: Final = 100
_OF_VERSIONS: Final = frozenset({"id", "supersedes", "duplicates"})
"""What the version of a key decides."""

ExistingIds = Callable[[list[str]], set[str]]
"""Which of some ids are taken."""


def version_id(key: str, number: int) -> str:
    """Return the id of a version of a key, counted from 0."""
    from uuid import UUID, uuid5

    return str(uuid5(UUID(_KEY_FAMILY), f"{number} {key}"))


def checked_key(key: object) -> str:
    """Return a key, or raise."""
    text = checks.writable("key", key)
    if not text or len(text) > MAX_KEY:
        raise InvalidArgument("key", text[:80], f"a text of 1 to {MAX_KEY:,} characters")
    return text


def latest_version(key: str, existing_ids: ExistingIds) -> int:
    """Return the number of the last version of a key, hidden ones too; -1 if it never had any."""
    last, start = -1, 0
    while True:
        ids = [version_id(key, number) for number in range(start, start + _VERSIONS_PER_QUERY)]
        existing = existing_ids(ids)
        if not existing:
            return last
        last = max(start + place for place, id_ in enumerate(ids) if id_ in existing)
        start += _VERSIONS_PER_QUERY


class MemoryKeys:
    """Reads and writes the memories of one namespace under their keys."""

    def __init__(
        self, store: Store, path: str, remember: Callable[..., Memory], update: Callable[..., Memory]
    ) -> None:
        self._store = store
        self._path = path
        self._remember = remember
        self._update = update

    def _existing_ids(self, ids: list[str]) -> set[str]:
        return {id_ for _, id_ in self._store.known([(self._path, id_) for id_ in ids])}

    def _visible(self, id: str) -> Memory | None:
        from memorata.store.filters import parse

        page = self._store.page(self._path, parse({"id": id}), 1, None)
        return next(iter(page.memories), None)

    def find(self, key: str) -> Memory | None:
        """Return the current version; None if there is none, or if it was forgotten."""
        last = latest_version(checked_key(key), self._existing_ids)
        return None if last < 0 else self._visible(version_id(key, last))

    def get(self, key: str) -> Memory:
        """Return the current version, or raise :class:`MemoryNotFound`."""
        memory = self.find(key)
        if memory is None:
            raise MemoryNotFound("", self._path, key=key)
        return memory

    def put(self, key: str, content: str, details: dict[str, Any]) -> Memory:
        """Write a version of a key; the same content again is none, and changes the given details only."""
        checked_key(key)
        for name in _OF_VERSIONS.intersection(details):
            raise InvalidArgument("details", name, "a field that `put` does not fill itself")
        stated = details.pop("metadata", None)
        if stated is not None and not isinstance(stated, Mapping):
            raise InvalidArgument("metadata", stated, "a mapping that JSON can hold")
        metadata = dict(stated or {})
        for _ in range(_MAX_ATTEMPTS):
            last = latest_version(key, self._existing_ids)
            current = None if last < 0 else self._visible(version_id(key, last))
            metadata[KEY] = key
            metadata.pop(KEY_CREATED_AT, None)
            if current is not None:
                first = current.metadata.get(KEY_CREATED_AT, current.created_at.isoformat())
                if current.content == checks.writable("content", content):
                    # The same text has its vector, and stays where it came from.
                    for name in ("vector", "source", "untrusted"):
                        details.pop(name, None)
                    creation = {KEY_CREATED_AT: first} if KEY_CREATED_AT in current.metadata else {}
                    return self._update(current.id, **{**details, "metadata": {**metadata, **creation}})
                metadata[KEY_CREATED_AT] = first
                if current.untrusted and "source" not in details:
                    # As for a correction: it may be made of the same page.
                    details["untrusted"] = True
            id_ = version_id(key, last + 1)
            supersedes = () if current is None else (current.id,)
            try:
                return self._remember(
                    content,
                    id=id_,
                    supersedes=supersedes,
                    metadata=dict(metadata),
                    duplicates="off",
                    **details,
                )
            except InvalidArgument:
                # Another writer made this version meanwhile; any other error is raised.
                if id_ not in self._existing_ids([id_]):
                    raise
        raise InvalidArgument("key", key, f"one that others do not write {_MAX_ATTEMPTS} times meanwhile")
