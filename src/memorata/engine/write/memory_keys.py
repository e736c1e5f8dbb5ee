"""Memories under a caller's own key: the current version under a stable name, the older ones in its history.

No index of its own: the id of a version is derived from the key and its number, ``uuid5(family, "number
key")``, so the versions of a key are looked up by id, as many in one statement as a window holds. Two writers
of the same version collide on its id; the second reads again and makes the next.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, Final

from memorata.model import checks
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.filters import parse
from memorata.store.store import Store

KEY: Final = "key"
"""Under which a memory's metadata holds its key."""
KEY_CREATED_AT: Final = "key_created_at"
"""Under which it holds when the first version was written; `created_at` is that of the version."""
MAX_KEY: Final = 1_000
_FAMILY: Final = uuid.UUID("0d0f4a64-7d2b-5c1e-9a53-6c1d4f5b7e21")
_VERSIONS_PER_QUERY: Final = 64
"""Versions that are looked up at once; purged ones may leave gaps, and fewer in a row than this."""
_MAX_ATTEMPTS: Final = 100

ExistingIds = Callable[[list[str]], set[str]]
"""Which of some ids are taken."""


def version_id(key: str, number: int) -> str:
    """Return the id of a version of a key, counted from 0.

    >>> version_id("user/anna", 0) == version_id("user/anna", 0) != version_id("user/anna", 1)
    True
    """
    return str(uuid.uuid5(_FAMILY, f"{number} {key}"))


def checked_key(key: object) -> str:
    """Return a key, or raise."""
    text = checks.text("key", key)
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
            raise MemoryNotFound(f"key {key}", self._path)
        return memory

    def put(self, key: str, content: str, details: dict[str, Any]) -> Memory:
        """Write a version of a key: the first, or one that supersedes the current one.

        The same content again is no new version: only the given details change.
        """
        checked_key(key)
        metadata = dict(details.pop("metadata", None) or {})
        for _ in range(_MAX_ATTEMPTS):
            last = latest_version(key, self._existing_ids)
            current = None if last < 0 else self._visible(version_id(key, last))
            metadata[KEY] = key
            metadata.pop(KEY_CREATED_AT, None)
            if current is not None:
                first = current.metadata.get(KEY_CREATED_AT, current.created_at.isoformat())
                if current.content == content:
                    # The same text has its vector.
                    details.pop("vector", None)
                    creation = {KEY_CREATED_AT: first} if KEY_CREATED_AT in current.metadata else {}
                    return self._update(current.id, **{**details, "metadata": {**metadata, **creation}})
                metadata[KEY_CREATED_AT] = first
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
