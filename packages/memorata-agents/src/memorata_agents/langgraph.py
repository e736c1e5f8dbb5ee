"""LangGraph's long-term memory: a ``BaseStore`` over a memory of ours.

Items are memories under a key (:meth:`memorata.Engine.put`), so an overwritten value is in the history. The
path of LangGraph's namespace and the value are metadata; what is searched is the text of the fields that
`index` names, all of them by default. One namespace of ours holds the whole store, so that a prefix is
searched in one recall.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from memorata.extend.errors import MemoryNotFound, MissingExtra
from memorata.extend.filters import unexpired
from memorata.extend.model import KEY, KEY_CREATED_AT
from memorata.extend.transfer import PAGE_SIZE, listed

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )
except ImportError as error:
    raise MissingExtra("The LangGraph store", "langgraph-checkpoint") from error

if TYPE_CHECKING:
    from memorata import Engine
    from memorata.extend.model import Memory

NAMESPACE: Final = "langgraph"
_OPERATORS: Final = {"$eq": "=", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
# LangGraph's labels hold no period, and no character comes after the last one there is.
_BETWEEN: Final = "."
_LAST: Final = "\U0010ffff"

Json = dict[str, Any]


class MemorataStore(BaseStore):
    """A store for ``graph.compile(store=…)``.

    Parameters
    ----------
    engine
        An open memory.
    namespace
        Where in it the items are.
    index
        The fields of a value that are searched, as LangGraph writes paths; ``$`` is the whole value.
    ttl
        LangGraph's configuration of times to live, in minutes.
    min_confidence
        How confident a search must be to return anything; None for the best `limit`, however unlike.
    """

    supports_ttl = True

    def __init__(
        self,
        engine: Engine,
        *,
        namespace: str = NAMESPACE,
        index: Iterable[str] = ("$",),
        ttl: TTLConfig | None = None,
        min_confidence: float | None = None,
    ) -> None:
        self.engine = engine
        self.namespace = namespace
        self.index = list(index)
        self.ttl_config = ttl
        self.min_confidence = min_confidence

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things; as in LangGraph's own store, what is read is read before anything is written."""
        operations = list(ops)
        results: list[Result] = [None] * len(operations)
        for place, op in enumerate(operations):
            if isinstance(op, GetOp):
                results[place] = self._get(op)
            elif isinstance(op, SearchOp):
                results[place] = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[place] = self._namespaces(op)
        # Of several writes to one key the last one stays.
        writes = {(op.namespace, op.key): op for op in operations if isinstance(op, PutOp)}
        for op in writes.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several things, on a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        try:
            memory = self.engine.get(key=_key(op.namespace, op.key), namespace=self.namespace)
        except MemoryNotFound:
            return None
        if memory.expires_at is not None and memory.expires_at <= self.engine.now():
            return None
        self._refresh(memory, op.refresh_ttl)
        return Item(**_item(memory))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        conditions = _conditions(op)
        end = op.offset + op.limit
        scored: list[tuple[Memory, float | None]]
        if op.query:
            hits = self.engine.recall(
                op.query,
                limit=end,
                namespace=self.namespace,
                filter=conditions,
                min_confidence=self.min_confidence or 0,
            ).hits
            scored = [(hit.memory, float(hit.score)) for hit in hits]
        else:
            scored = [(memory, None) for memory in self._listed(conditions, end)]
        items = []
        for memory, score in scored[op.offset : end]:
            self._refresh(memory, op.refresh_ttl)
            items.append(SearchItem(**_item(memory), score=score))
        return items

    def _put(self, op: PutOp) -> None:
        key = _key(op.namespace, op.key)
        if op.value is None:
            try:
                self.engine.delete(key=key, namespace=self.namespace)
            except MemoryNotFound:
                return
            return
        value = dict(op.value)
        searched = op.index is not False
        paths = self.index if op.index is None or op.index is False else op.index
        texts = [text for path in paths for text in get_text_at_path(value, tokenize_path(path)) if text]
        minutes = op.ttl if op.ttl is not None else (self.ttl_config or {}).get("default_ttl")
        metadata = {"path": _path(op.namespace), "name": op.key, "value": value, "searched": searched}
        # A filter compares lists and objects as they are written.
        if serialised := {
            name: _canonical_json(item) for name, item in value.items() if isinstance(item, list | dict)
        }:
            metadata["written"] = serialised
        if minutes is not None:
            metadata["minutes"] = minutes
        self.engine.put(
            key,
            "\n".join(texts) or json.dumps(value, ensure_ascii=False),
            namespace=self.namespace,
            metadata=metadata,
            category="item",
            expires_at=None if minutes is None else self.engine.now() + timedelta(minutes=minutes),
        )

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        paths = {_labels(memory) for memory in self._listed(None, None)}
        matching = {
            path
            for path in paths
            if all(_matches(path, condition) for condition in op.match_conditions or ())
        }
        if op.max_depth is not None:
            matching = {path[: op.max_depth] for path in matching}
        return sorted(matching)[op.offset : op.offset + op.limit]

    def _listed(self, conditions: Json | None, limit: int | None) -> list[Memory]:
        """Return memories that have not expired, newest first; all of them where there is no limit."""
        alive = unexpired(self.engine.now())
        both = alive if conditions is None else {"and": [conditions, alive]}
        size = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit)
        return list(islice(listed(self.engine, both, namespace=self.namespace, page=size), limit))

    def _refresh(self, memory: Memory, refresh: bool) -> None:
        """Let an item that was read live as long again, if LangGraph says so."""
        minutes = memory.metadata.get("minutes")
        if minutes is not None and refresh and (self.ttl_config or {}).get("refresh_on_read", True):
            expires_at = self.engine.now() + timedelta(minutes=float(minutes))
            self.engine.update(memory.id, namespace=self.namespace, expires_at=expires_at)


def _path(namespace: tuple[str, ...]) -> str:
    return "".join(label + _BETWEEN for label in namespace)


def _labels(memory: Memory) -> tuple[str, ...]:
    return tuple(str(memory.metadata["path"]).split(_BETWEEN)[:-1])


def _key(namespace: tuple[str, ...], key: str) -> str:
    return json.dumps([*namespace, key], ensure_ascii=False)


def _item(memory: Memory) -> Json:
    about = memory.metadata
    created_at = about.get(KEY_CREATED_AT)
    return {
        "namespace": _labels(memory),
        "key": json.loads(str(about[KEY]))[-1],
        "value": about["value"],
        "created_at": memory.created_at if created_at is None else datetime.fromisoformat(str(created_at)),
        "updated_at": memory.created_at,
    }


def _conditions(op: SearchOp) -> Json | None:
    parts: list[Json] = []
    if op.namespace_prefix:
        start = _path(op.namespace_prefix)
        parts.append({"metadata.path": {">=": start, "<": start + _LAST}})
    if op.query:
        parts.append({"metadata.searched": True})
    for name, operators in (op.filter or {}).items():
        if not isinstance(operators, Mapping) or not any(
            str(operator).startswith("$") for operator in operators
        ):
            operators = {"$eq": operators}
        unknown = [operator for operator in operators if operator not in _OPERATORS]
        if unknown:
            raise ValueError(f"Unsupported operator: {unknown[0]}; there are {', '.join(_OPERATORS)}")
        parts += [_comparison(name, operator, value) for operator, value in operators.items()]
    return {"and": parts} if parts else None


def _comparison(name: str, operator: str, value: Any) -> Json:  # noqa: ANN401 - any JSON
    """Return a comparison as a condition of ours; a period in a name leads into an object."""
    if not all(name.split(".")):
        raise ValueError(f"Invalid filter key: {name!r}; it must be a name, or names with periods between")
    path = name.replace("\\", "\\\\")
    if isinstance(value, list | dict):
        return {f"metadata.written.{path}": {_OPERATORS[operator]: _canonical_json(value)}}
    field = f"metadata.value.{path}"
    if isinstance(value, float) and not math.isfinite(value):
        # Every number is below infinity, and above minus infinity; nothing equals any of these.
        holds = (
            operator == "$ne"
            or (operator[:3] == "$lt" and value > 0)
            or (operator[:3] == "$gt" and value < 0)
        )
        return {field: {"exists": True}} if holds else {"and": [{field: 0}, {field: 1}]}
    return {field: {_OPERATORS[operator]: value}}


def _canonical_json(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _matches(path: tuple[str, ...], condition: MatchCondition) -> bool:
    pattern = tuple(condition.path)
    if len(pattern) > len(path):
        return False
    part = path[: len(pattern)] if condition.match_type == "prefix" else path[len(path) - len(pattern) :]
    return all(pattern_label in ("*", label) for pattern_label, label in zip(pattern, part, strict=True))
