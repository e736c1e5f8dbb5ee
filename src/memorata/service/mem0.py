"""A stand-in for mem0's ``Memory``: the same verbs, arguments and results, over a memory of ours.

Written against mem0ai 2.2. Messages are stored verbatim, whatever `infer` says: no language model is asked,
and `llm`, `embedder` and `vector_store` of a configuration are not used, nor are `memory_type`, `prompt` and
`rerank`. What has expired is listed on demand and never found. Scopes (`user_id`, `agent_id`, `run_id`) are
metadata of the memories of one namespace. An id stays what it is when a memory is updated: it is a key of
:meth:`memorata.Engine.put`, so older versions are in the history. :mod:`memorata.adapters.mem0` gives this to
programs, :mod:`memorata.http.mem0` to clients of mem0's servers.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Final

from memorata.engine.write.writer import KEY, KEY_CREATED_AT, version_id
from memorata.model.errors import MemoryNotFound
from memorata.service.formats.record import text_of
from memorata.service.transfer import PAGE_SIZE, listed
from memorata.store.filters import Field, unexpired

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.model.memory import Memory as Remembered

SCOPES: Final = ("user_id", "agent_id", "run_id", "app_id")
NAMESPACE: Final = "mem0"
_OPERATORS: Final = {
    "eq": "=", "ne": "!=", "in": "in", "nin": "not in", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=",
    "contains": "contains", "icontains": "contains",
}  # fmt: skip
_OWN_FIELDS: Final = {"created_at": "created_at", "updated_at": "created_at", "id": f"metadata.{KEY}"}
_UNCHANGED: Final = object()
_SCOPING: Final = (*SCOPES, "role", "actor_id")
_INTERNAL: Final = {*_SCOPING, KEY, KEY_CREATED_AT}

Json = dict[str, Any]


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
        config: Mapping[str, Any] | None = None,
        *,
        engine: Engine | None = None,
        namespace: str = NAMESPACE,
    ) -> None:
        self._owned = engine is None
        self.engine = _opened(config or {}) if engine is None else engine
        self.namespace = namespace

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Memory:
        """Make one by a configuration of mem0's; see the class."""
        return cls(config_dict)

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        app_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: float | str | None = None,
        expiration_date: str | date | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> Json:
        """Remember messages, all or none, each as it was said; messages of the system are left out."""
        scope = _scope(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        details: Json = {}
        if timestamp is not None:
            details["created_at"] = _moment(timestamp)
        if expiration_date is not None:
            details["expires_at"] = _end_of(expiration_date)
        items: list[Json] = []
        results = []
        for message in _messages(messages):
            role, content = str(message.get("role", "user")), message.get("content")
            if not isinstance(content, str):
                content = text_of(content if isinstance(content, list) else [content])
            if role == "system" or not content.strip():
                continue
            key = str(uuid.uuid4())
            about = {**(metadata or {}), **scope, "role": role, KEY: key}
            if message.get("name"):
                about["actor_id"] = message["name"]
            items.append(
                {
                    "id": version_id(key, 0),
                    "content": content,
                    "metadata": about,
                    "source": {"speaker": message.get("name") or role, "session": run_id or ""},
                    **details,
                }
            )
            results.append({"id": key, "memory": content, "event": "ADD", "role": role})
        self.engine.remember_many(items, namespace=self.namespace, duplicates="off")
        return {"results": results}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: Mapping[str, Any] | None = None,
        threshold: float | None = 0.1,
        rerank: bool = False,
        explain: bool = False,
        reference_date: str | date | None = None,
        show_expired: bool = False,
        **scopes: Any,  # noqa: ANN401 - refused
    ) -> Json:
        """Return what answers a query, best first; `threshold` 0 or None opens the gate."""
        _refuse_scopes("search", scopes)
        result = self.engine.recall(
            query,
            limit=top_k,
            namespace=self.namespace,
            filter=_conditions(filters),
            now=None if reference_date is None else _moment(reference_date),
            gate=bool(threshold),
        )
        rows = []
        for hit in result.hits:
            if hit.score < (threshold or 0.0):
                continue
            row = {**_row(hit.memory), "score": hit.score}
            if explain:
                row["score_details"] = hit.explanation.as_dict()
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
        memories = self._listed(_conditions(filters), show_expired=show_expired, page=top_k)
        return {"results": [_row(memory) for memory in islice(memories, top_k)]}

    def page(self, filters: Mapping[str, Any] | None, number: int, size: int, *, show_expired: bool) -> Json:
        """Return one page of a listing, counted from 1, as mem0's platform does."""
        memories = list(self._listed(_conditions(filters), show_expired=show_expired))
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
        for memory in self._listed(None, show_expired=True):
            counts.update((name, str(memory.metadata[name])) for name in SCOPES if name in memory.metadata)
        rows = [
            {"type": scope.removesuffix("_id"), "name": name, "total_memories": count}
            for (scope, name), count in sorted(counts.items())
        ]
        return {"results": rows, "count": len(rows)}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: str | date | object | None = _UNCHANGED,
        *,
        data: str | None = None,
    ) -> Json:
        """Change the text of a memory, or what is known about it; the id stays. No date lets it last."""
        current = self._current(memory_id)
        scopes = {name: current.metadata[name] for name in _SCOPING if name in current.metadata}
        own_metadata = {name: value for name, value in current.metadata.items() if name not in _INTERNAL}
        details: Json = {"metadata": {**(own_metadata if metadata is None else metadata), **scopes}}
        if expiration_date is not _UNCHANGED:
            details["expires_at"] = None if expiration_date is None else _end_of(expiration_date)
        content = current.content if (text or data) is None else str(text or data)
        if content != current.content:
            details["source"] = current.source
        self.engine.put(memory_id, content, namespace=self.namespace, **details)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> Json:
        """Forget a memory."""
        self.engine.forget(self._current(memory_id).id, namespace=self.namespace)
        return {"message": "Memory deleted successfully!"}

    def update_many(self, changes: Sequence[Mapping[str, Any]]) -> Json:
        """Change several memories; none where one of them is not there."""
        for change in changes:
            self._current(change["memory_id"])
        for change in changes:
            self.update(**change)
        return {"message": f"Successfully updated {len(changes)} memories"}

    def delete_many(self, memory_ids: Sequence[str]) -> Json:
        """Forget several memories, all or none."""
        ids = [self._current(memory_id).id for memory_id in memory_ids]
        self.engine.forget(*ids, namespace=self.namespace)
        return {"message": f"Successfully deleted {len(ids)} memories"}

    def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        app_id: str | None = None,
    ) -> Json:
        """Forget all memories of a scope."""
        scope = _scope(user_id=user_id, agent_id=agent_id, run_id=run_id, app_id=app_id)
        self.engine.forget(filter=_conditions(scope), namespace=self.namespace)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[Json]:
        """Return the versions of a memory, oldest first, each with what it replaced, and its deletion."""
        try:
            versions = self.engine.history(version_id(memory_id, 0), namespace=self.namespace)
        except MemoryNotFound:
            return []
        is_deleted = self.get(memory_id) is None
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
                    "created_at": versions[0].created_at.isoformat(),
                    "updated_at": version.created_at.isoformat() if before and version else None,
                    "is_deleted": int(version is None),
                }
            )
        return rows

    def reset(self) -> None:
        """Remove everything for good."""
        self.engine.admin.purge_namespace(self.namespace)

    def close(self) -> None:
        """Let go of the database, unless it was open before."""
        if self._owned:
            self.engine.close()

    def _current(self, memory_id: str) -> Remembered:
        try:
            return self.engine.get(key=memory_id, namespace=self.namespace)
        except MemoryNotFound as error:
            raise UnknownMemory(memory_id, self.namespace) from error

    def _listed(
        self, conditions: Json | None, *, show_expired: bool, page: int = PAGE_SIZE
    ) -> Iterator[Remembered]:
        """Yield memories, newest first."""
        parts = [] if conditions is None else [conditions]
        if not show_expired:
            parts.append(unexpired(self.engine.now()))
        both = _and(parts) if parts else None
        return listed(self.engine, both, namespace=self.namespace, page=min(page, PAGE_SIZE))


def _opened(config: Mapping[str, Any]) -> Engine:
    from memorata.engine.settings import Settings

    path = config.get("path")
    return Settings(**({} if path is None else {"db": path})).open(must_exist=False, embed=True)


def _scope(**scope: str | None) -> dict[str, str]:
    present = {name: value for name, value in scope.items() if value is not None}
    if not present:
        raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
    return present


def _refuse_scopes(verb: str, arguments: Mapping[str, Any]) -> None:
    if misplaced := sorted(set(arguments) & set(SCOPES)):
        name = misplaced[0]
        raise ValueError(f"{verb} takes {name} in filters: filters={{{name!r}: {arguments[name]!r}}}")
    if arguments:
        raise TypeError(f"{verb} got an unexpected argument {sorted(arguments)[0]!r}")


def _messages(messages: object) -> Sequence[Mapping[str, Any]]:
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        return [messages]
    if isinstance(messages, Sequence) and all(isinstance(message, Mapping) for message in messages):
        return messages
    raise ValueError("messages must be a text, a message, or a list of messages")


def _conditions(filters: Mapping[str, Any] | None) -> Json:
    """Return mem0's filters as ours; they must name a scope."""
    if not _names_scope(filters or {}):
        raise ValueError("filters must contain at least one of: user_id, agent_id, run_id")
    return _and([_condition(name, value) for name, value in (filters or {}).items()])


def _names_scope(filters: Mapping[str, Any]) -> bool:
    parts = [part for name in ("AND", "OR") for part in filters.get(name, ())]
    return bool(filters.keys() & set(SCOPES)) or any(_names_scope(part) for part in parts)


def _condition(name: str, value: Any) -> Json:  # noqa: ANN401 - any JSON
    if name in ("AND", "OR", "NOT"):
        parts = [_and([_condition(*item) for item in part.items()]) for part in value]
        if name == "NOT":
            return {"not": {"or": parts}}
        return {name.lower(): parts}
    field = _OWN_FIELDS.get(name, str(Field("metadata", (name,))))
    if value == "*":
        return {field: {"exists": True}}
    if isinstance(value, list):
        return {field: {"in": value}}
    if isinstance(value, Mapping):
        unknown = sorted(value.keys() - _OPERATORS.keys())
        if unknown:
            raise ValueError(f"unknown operator {unknown[0]!r}; there are {', '.join(_OPERATORS)}")
        return {field: {_OPERATORS[operator]: operand for operator, operand in value.items()}}
    return {field: value}


def _and(parts: list[Json]) -> Json:
    return parts[0] if len(parts) == 1 else {"and": parts}


def _row(memory: Remembered) -> Json:
    about = memory.metadata
    created_at = about.get(KEY_CREATED_AT)
    row: Json = {
        "id": about.get(KEY, memory.id),
        "memory": memory.content,
        "hash": memory.fingerprint,
        "metadata": {name: value for name, value in about.items() if name not in _INTERNAL} or None,
        "created_at": created_at or memory.created_at.isoformat(),
        "updated_at": memory.created_at.isoformat() if created_at else None,
    }
    return row | {name: about[name] for name in _SCOPING if name in about}


def _moment(value: float | str | date) -> datetime:
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time(), UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _end_of(value: Any) -> datetime:  # noqa: ANN401 - a text or a date
    """Return the time at which something expires; a day alone ends at its midnight."""
    moment = _moment(value)
    is_day = type(value) is date or (isinstance(value, str) and len(value) == len("2026-05-07"))
    return datetime.combine(moment.date(), time.max, UTC) if is_day else moment
