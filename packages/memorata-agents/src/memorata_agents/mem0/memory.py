"""A stand-in for mem0's ``Memory``: the same verbs, arguments and results, over an engine.

Written against mem0ai 2.2. Messages are stored verbatim, whatever `infer` says: no language model is called,
and `llm`, `embedder` and `vector_store` of a configuration are not used, nor are `memory_type`, `prompt` and
`rerank`. The ids of a memory (`user_id`, `agent_id`, `run_id`, `app_id`) are metadata of the engine's memory;
the caller's metadata is one object beside them, so that it never names an owner. An id stays what it is when
a memory is updated: it is a key of :meth:`memorata.Engine.put`, so older versions are in the history.
:mod:`memorata_agents.mem0` is for programs, :mod:`memorata_agents.mem0.routes` for clients of mem0's servers.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Final, Self

from memorata import When
from memorata.extend.errors import MemoryNotFound
from memorata.extend.model import KEY, TRUSTED_ROLES, version_id
from memorata.extend.transfer import PAGE_SIZE, listed, text_of
from memorata_agents.mem0.filters import (
    METADATA,
    PROMOTED,
    SCOPES,
    both,
    conditions,
    entity_id,
    instant,
    unexpired,
)

if TYPE_CHECKING:
    from memorata import Engine
    from memorata import Memory as Remembered

NAMESPACE: Final = "mem0"
_UNCHANGED: Final = object()
_IDENTITY: Final = (*SCOPES, "actor_id")
_LOG: Final = logging.getLogger(__name__)

Json = dict[str, Any]
Identifier = str | int


class UnknownMemory(MemoryNotFound, ValueError):  # noqa: N818 - named after what went wrong
    """No memory has that id; mem0 raises a ValueError with this text."""

    def __str__(self) -> str:
        return f"Memory with id {self.memory_id} not found"


class Memory:
    """What mem0 calls a memory.

    Parameters
    ----------
    config
        A configuration of mem0's, of which ``path`` is used: the database, where it is not the usual one.
    engine
        A memory that is open already, instead; it stays open when this is closed.
    namespace
        Where in it the memories are.

    Examples
    --------
    >>> import memorata
    >>> memory = Memory(engine=memorata.open(":memory:", embedder="lexical"))
    >>> added = memory.add("Anna drinks green tea.", user_id="anna")
    >>> memory.search("what does Anna drink?", filters={"user_id": "anna"})["results"][0]["memory"]
    'Anna drinks green tea.'
    """

    def __init__(
        self,
        config: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None,
        *,
        engine: Engine | None = None,
        namespace: str = NAMESPACE,
    ) -> None:
        self._owned = engine is None
        self.engine = _opened(dict(config or ())) if engine is None else engine
        self.namespace = namespace

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """Make one by a configuration of mem0's; see the class."""
        return cls(config_dict)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: Identifier | None = None,
        agent_id: Identifier | None = None,
        run_id: Identifier | None = None,
        app_id: Identifier | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: float | str | None = None,
        expiration_date: str | date | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> Json:
        """Remember messages, all or none, each as it was said; messages of the system are left out."""
        scope = _scope(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        moment = self.engine.now() if timestamp is None else instant(timestamp)
        shared = {**scope, **_times(moment, moment), METADATA: _own_metadata(metadata, {})}
        if expiration_date is not None:
            shared["expiration_date"] = _day(expiration_date)
        items: list[Json] = []
        results = []
        for place, message in enumerate(_messages(messages)):
            role, content = str(message.get("role") or "user"), _content(place, message)
            if role == "system" or not content.strip():
                continue
            key, name = str(uuid.uuid4()), message.get("name") or None
            about = {**shared, "role": role, KEY: key} | ({} if name is None else {"actor_id": name})
            items.append(
                {
                    "id": version_id(key, 0),
                    "content": content,
                    "metadata": about,
                    "source": {
                        # The name of a tool is no speaker's.
                        "speaker": (name or role) if role in TRUSTED_ROLES else role,
                        "role": role,
                        "session": scope.get("run_id", ""),
                    },
                    "created_at": moment,
                }
            )
            results.append({"id": key, "memory": content, "event": "ADD", "role": role, "actor_id": name})
        self.engine.remember_many(items, namespace=self.namespace, duplicates="off")
        return {"results": results}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = None,
        rerank: bool = False,
        explain: bool = False,
        reference_date: float | str | date | None = None,
        show_expired: bool = False,
        **scopes: Any,  # noqa: ANN401 - refused
    ) -> Json:
        """Return the best memories for a query, with their confidence as `score`.

        All `top_k` come, however unlike, unless `threshold` says how confident a memory must be.
        """
        _refuse_scopes("search", scopes)
        _check_top_k(top_k)
        _check_threshold(threshold)
        if not isinstance(query, str) or not query.strip():
            raise ValueError(f"Invalid query: cannot be empty or whitespace-only, got {query!r}")
        wanted = conditions(filters)
        now = self.engine.now() if reference_date is None else instant(reference_date)
        result = self.engine.recall(
            query.strip(),
            limit=top_k,
            namespace=self.namespace,
            filter=_shown(wanted, now, show_expired=show_expired),
            when=When(now=now),
            min_confidence=0,
        )
        rows = []
        for hit in result.hits:
            if hit.confidence < (threshold or 0.0):
                continue
            row = {**_row(hit.memory), "score": hit.confidence}
            if explain:
                row["score_details"] = {
                    **hit.explanation.as_dict(),
                    "final_score": hit.confidence,
                    "threshold": threshold,
                }
            rows.append(row)
        return {"results": rows}

    def get(self, memory_id: str) -> Json | None:
        """Return one memory; None if there is none."""
        try:
            return _row(self._current(memory_id))
        except UnknownMemory:
            return None

    def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **scopes: Any,  # noqa: ANN401 - refused
    ) -> Json:
        """Return memories, newest first."""
        _refuse_scopes("get_all", scopes)
        _check_top_k(top_k)
        wanted = _shown(conditions(filters), self.engine.now(), show_expired=show_expired)
        memories = self._listed(wanted, page=max(1, top_k))
        return {"results": [_row(memory) for memory in islice(memories, top_k)]}

    def page(self, filters: Mapping[str, Any] | None, number: int, size: int, *, show_expired: bool) -> Json:
        """Return one page of a listing, counted from 1, as mem0's platform does."""
        wanted = _shown(conditions(filters), self.engine.now(), show_expired=show_expired)
        memories = list(self._listed(wanted))
        rows = [_row(memory) for memory in memories[(number - 1) * size : number * size]]
        return {
            "count": len(memories),
            "next": f"?page={number + 1}&page_size={size}" if number * size < len(memories) else None,
            "previous": f"?page={number - 1}&page_size={size}" if number > 1 else None,
            "results": rows,
        }

    def entities(self) -> Json:
        """Return the users, agents, runs and apps that have memories."""
        counts: Counter[tuple[str, str]] = Counter()
        for memory in self._listed(None):
            counts.update((name, str(memory.metadata[name])) for name in SCOPES if name in memory.metadata)
        rows = [
            {"id": name, "type": scope.removesuffix("_id"), "name": name, "total_memories": count}
            for (scope, name), count in sorted(counts.items())
        ]
        return {"results": rows, "count": len(rows), "next": None, "previous": None}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | object | None = _UNCHANGED,
        data: str | None = None,
    ) -> Json:
        """Change the text of a memory, its metadata or its last day; the id and the owners stay.

        New metadata is merged into the old. No date lets the memory last; `data` is mem0's older name of
        `text`.
        """
        self._put(**self._version(memory_id, text, metadata, expiration_date, data))
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> Json:
        """Forget a memory."""
        self.engine.forget(self._current(memory_id).id, namespace=self.namespace)
        return {"message": "Memory deleted successfully!"}

    def update_many(self, changes: Sequence[Mapping[str, Any]]) -> Json:
        """Change several memories; none where one of them is not there."""
        for version in [self._version(**change) for change in changes]:
            self._put(**version)
        return {"message": f"Successfully updated {len(changes)} memories"}

    def delete_many(self, memory_ids: Sequence[str]) -> Json:
        """Forget several memories, all or none."""
        ids = [self._current(memory_id).id for memory_id in memory_ids]
        self.engine.forget(*ids, namespace=self.namespace)
        return {"message": f"Successfully deleted {len(ids)} memories"}

    def delete_all(
        self,
        user_id: Identifier | None = None,
        agent_id: Identifier | None = None,
        run_id: Identifier | None = None,
        app_id: Identifier | None = None,
    ) -> Json:
        """Forget all memories of a scope."""
        scope = _scope(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        self.engine.forget(filter=conditions(scope), namespace=self.namespace)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Json]:
        """Return the versions of a memory, oldest first, each with what it replaced, and its deletion."""
        try:
            versions = self.engine.history(version_id(memory_id, 0), namespace=self.namespace)
        except MemoryNotFound:
            return []
        is_deleted = self.get(memory_id) is None
        first = _row(versions[0])
        rows: list[Json] = []
        for before, version in zip_longest([None, *versions], versions):
            if version is None and not is_deleted:
                break
            event = "DELETE" if version is None else "ADD" if before is None else "UPDATE"
            rows.append(
                {
                    "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{memory_id} {len(rows)}")),
                    "memory_id": memory_id,
                    "old_memory": None if before is None else before.content,
                    "new_memory": None if version is None else version.content,
                    "event": event,
                    "created_at": first["created_at"],
                    "updated_at": None if version is None else version.created_at.isoformat(),
                    "is_deleted": version is None,
                    "actor_id": first.get("actor_id"),
                    "role": first.get("role"),
                }
            )
        return rows

    def reset(self) -> None:
        """Remove everything for good."""
        if self.namespace in self.engine.admin.namespaces.list():
            self.engine.admin.namespaces.purge(self.namespace)

    def close(self) -> None:
        """Let go of the database, unless it was open before."""
        if self._owned:
            self.engine.close()

    def _current(self, memory_id: str) -> Remembered:
        try:
            return self.engine.get(key=memory_id, namespace=self.namespace)
        except MemoryNotFound as error:
            raise UnknownMemory(memory_id, self.namespace) from error

    def _version(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | object | None = _UNCHANGED,
        data: str | None = None,
    ) -> Json:
        """Return the arguments of `put` that change a memory."""
        if data is not None:
            _LOG.warning("`data` is deprecated in update(): use `text`")
        content = data if text is None else text
        if content is None and metadata is None and expiration_date is _UNCHANGED:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        current = self._current(memory_id)
        row, about = _row(current), dict(current.metadata)
        about |= _times(row["created_at"], self.engine.now())
        about[METADATA] = {**(row["metadata"] or {}), **_own_metadata(metadata, about)}
        if expiration_date is not _UNCHANGED:
            about.pop("expiration_date", None)
            if expiration_date is not None:
                about["expiration_date"] = _day(expiration_date)
        version: Json = {"key": memory_id, "content": current.content, "metadata": about}
        if content is not None and content != current.content:
            version |= {"content": content, "source": current.source}
        return version

    def _put(self, key: str, content: str, **details: Any) -> None:  # noqa: ANN401 - those of put
        self.engine.put(key, content, namespace=self.namespace, **details)

    def _listed(self, wanted: Json | None, *, page: int = PAGE_SIZE) -> Iterator[Remembered]:
        """Yield memories, newest first."""
        return listed(self.engine, wanted, namespace=self.namespace, page=min(page, PAGE_SIZE))


def _opened(config: Mapping[str, Any]) -> Engine:
    from memorata.extend.settings import Settings

    path = config.get("path")
    return Settings(**({} if path is None else {"db": path})).open(must_exist=False, embed=True)


def _scope(**scope: Identifier | None) -> dict[str, str]:
    present = {name: entity_id(name, value) for name, value in scope.items() if value is not None}
    if not present:
        raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
    return present


def _refuse_scopes(verb: str, arguments: Mapping[str, Any]) -> None:
    if misplaced := sorted(set(arguments) & set(SCOPES)):
        name = misplaced[0]
        raise ValueError(f"{verb} takes {name} in filters: filters={{{name!r}: {arguments[name]!r}}}")
    if arguments:
        raise TypeError(f"{verb} got an unexpected argument {sorted(arguments)[0]!r}")


def _check_top_k(top_k: object) -> None:
    if not isinstance(top_k, int) or isinstance(top_k, bool) or top_k < 0:
        raise ValueError(f"Invalid top_k: {top_k!r}. Must be a non-negative integer.")


def _check_threshold(threshold: object) -> None:
    if threshold is not None and not (isinstance(threshold, float | int) and 0 <= threshold <= 1):
        raise ValueError(f"Invalid threshold: {threshold!r}. Must be between 0 and 1.")


def _messages(messages: object) -> Sequence[Mapping[str, Any]]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, Sequence) and all(isinstance(message, Mapping) for message in messages):
        return messages
    raise ValueError("messages must be a text, a message, or a list of messages")


def _content(place: int, message: Mapping[str, Any]) -> str:
    """Return the text of a message; raise where it holds only what is no text, an image for example."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    text = text_of(parts)
    others = sorted({_kind(part) for part in parts if not text_of([part])} - {"text"})
    if others and not text:
        raise ValueError(
            f"messages[{place}] holds {', '.join(others)} and no text, and only text is remembered: "
            "describe it in words, or leave the message out"
        )
    if others:
        _LOG.warning("messages[%d]: %s is not remembered, only the text beside it", place, ", ".join(others))
    return text


def _kind(part: object) -> str:
    return str(part.get("type")) if isinstance(part, Mapping) else type(part).__name__


def _own_metadata(metadata: object, current: Mapping[str, Any]) -> Json:
    """Return the caller's metadata without ids, which only the arguments of `add` set."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise ValueError(f"metadata must be a mapping, got {metadata!r}")
    for name in _IDENTITY:
        if name in metadata and metadata[name] != current.get(name):
            _LOG.warning("metadata[%r] is ignored: ids cannot be set through metadata", name)
    return {name: value for name, value in metadata.items() if name not in _IDENTITY}


def _day(value: object) -> str:
    """Return a day as ``YYYY-MM-DD``."""
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError as error:
        raise ValueError(f"expiration_date must be a date as YYYY-MM-DD, got {value!r}") from error


def _times(created: datetime | str, updated: datetime) -> dict[str, str]:
    """Return when a memory was made and last changed, as texts that compare like times."""
    return {"created_at": instant(created).isoformat(), "updated_at": instant(updated).isoformat()}


def _shown(wanted: Json, now: datetime, *, show_expired: bool) -> Json:
    return wanted if show_expired else both([wanted, unexpired(now.astimezone(UTC).date())])


def _row(memory: Remembered) -> Json:
    about = memory.metadata
    own_metadata = about.get(METADATA)
    return {
        "id": about.get(KEY, memory.id),
        "memory": memory.content,
        "hash": memory.fingerprint,
        "metadata": dict(own_metadata) if isinstance(own_metadata, Mapping) and own_metadata else None,
        "created_at": about.get("created_at", memory.created_at.isoformat()),
        "updated_at": about.get("updated_at", memory.created_at.isoformat()),
    } | {name: about[name] for name in PROMOTED if name in about}
