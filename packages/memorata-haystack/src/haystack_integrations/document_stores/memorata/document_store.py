"""Documents as memories under their ids."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cached_property, wraps
from typing import Any

from haystack import Document, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.errors import FilterError

import memorata
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.store.entries import all_pages

_COMPARISONS = {
    "==": "=",
    "!=": "!=",
    ">": ">",
    ">=": ">=",
    "<": "<",
    "<=": "<=",
    "in": "in",
    "not in": "not in",
}
_PAGE = 1_000
_ALL = {"id": {"exists": True}}
# A memory has a text; a document may have none.
_NO_CONTENT = "(no text)"


def _awaited(verb: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Return a method that does what another one does, on a thread."""

    @wraps(verb)
    async def method(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(verb, *args, **kwargs)

    return method


@contextmanager
def _filter_errors() -> Iterator[None]:
    """Raise what Haystack raises for a filter that cannot be carried out."""
    try:
        yield
    except InvalidArgument as error:
        raise FilterError(str(error)) from error


class MemorataDocumentStore:
    """A document store in a file, or wherever :func:`memorata.open` finds one.

    Parameters
    ----------
    path
        The database.
    namespace
        Where in it the documents are.
    embedder
        What measures meaning; see :func:`memorata.open`.
    """

    def __init__(
        self, path: str = ":memory:", *, namespace: str = "haystack", embedder: str = "auto"
    ) -> None:
        self.path = path
        self.namespace = namespace
        self.embedder = embedder

    @cached_property
    def engine(self) -> memorata.Engine:
        """The memory, opened when it is first used."""
        return memorata.open(self.path, embedder=self.embedder, config={"duplicates": "off"})

    def to_dict(self) -> dict[str, Any]:
        """Return what makes this store again."""
        return default_to_dict(self, path=self.path, namespace=self.namespace, embedder=self.embedder)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MemorataDocumentStore:
        """Make a store by what `to_dict` returned."""
        store: MemorataDocumentStore = default_from_dict(cls, data)
        return store

    def count_documents(self) -> int:
        """Return how many documents there are."""
        return len(self._memories(None))

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """Return the documents that a filter lets through, in the order in which they were written."""
        return [document_of(memory) for memory in self._memories(conditions(filters))]

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """Write documents; one whose id is there fails, is skipped or overwritten, as the policy says."""
        if not isinstance(documents, list) or not all(isinstance(each, Document) for each in documents):
            raise ValueError("write_documents takes a list of Documents")
        written = 0
        for document in documents:
            if policy != DuplicatePolicy.OVERWRITE and self._find(document.id) is not None:
                if policy == DuplicatePolicy.SKIP:
                    continue
                raise DuplicateDocumentError(f"ID '{document.id}' already exists.")
            self.engine.put(
                document.id,
                document.content or _NO_CONTENT,
                namespace=self.namespace,
                category="document",
                source={"role": "document"},
                metadata={"document": document.to_dict(flatten=False)},
            )
            written += 1
        return written

    def delete_documents(self, document_ids: list[str]) -> None:
        """Forget documents; those that are not there are passed over."""
        if document_ids:
            self.engine.forget(filter={"metadata.key": {"in": document_ids}}, namespace=self.namespace)

    def delete_all_documents(self, recreate_index: bool = False) -> None:
        """Forget every document; `recreate_index` removes them for good."""
        if recreate_index:
            self.engine.admin.namespaces.purge(self.namespace)
        else:
            self.engine.forget(filter=_ALL, namespace=self.namespace)

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """Forget the documents that a filter lets through, and return how many."""
        with _filter_errors():
            return len(self.engine.forget(filter=conditions(filters) or _ALL, namespace=self.namespace))

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Set metadata of the documents that a filter lets through, and return how many."""
        documents = self.filter_documents(filters)
        changed = [replace(document, meta={**document.meta, **meta}) for document in documents]
        return self.write_documents(changed, DuplicatePolicy.OVERWRITE)

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        """Return how many documents a filter lets through."""
        return len(self._memories(conditions(filters)))

    def search(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int,
        *,
        min_confidence: float | None = None,
    ) -> list[Document]:
        """Return the best documents for a query, with their scores.

        With `min_confidence`, from 0 to 1, none where the search is less confident.
        """
        result = self.engine.recall(
            query,
            limit=top_k,
            namespace=self.namespace,
            filter=conditions(filters),
            min_confidence=min_confidence or 0,
        )
        return [document_of(hit.memory, float(hit.score)) for hit in result.hits]

    def _find(self, name: str) -> memorata.Memory | None:
        try:
            return self.engine.get(key=name, namespace=self.namespace)
        except MemoryNotFound:
            return None

    def _memories(self, filter: dict[str, Any] | None) -> list[memorata.Memory]:
        """Return memories in the order in which they were written."""
        with _filter_errors():
            return list(
                all_pages(
                    lambda cursor: self.engine.list(
                        namespace=self.namespace,
                        filter=filter,
                        limit=_PAGE,
                        cursor=cursor,
                        oldest_first=True,
                    )
                )
            )

    count_documents_async = _awaited(count_documents)
    count_documents_by_filter_async = _awaited(count_documents_by_filter)
    filter_documents_async = _awaited(filter_documents)
    write_documents_async = _awaited(write_documents)
    delete_documents_async = _awaited(delete_documents)
    delete_all_documents_async = _awaited(delete_all_documents)
    delete_by_filter_async = _awaited(delete_by_filter)
    update_by_filter_async = _awaited(update_by_filter)


def document_of(memory: memorata.Memory, score: float | None = None) -> Document:
    """Return the document that was written, with a score if it was searched."""
    document = Document.from_dict(dict(memory.metadata["document"]))
    return document if score is None else replace(document, score=score)


def conditions(filters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a filter of Haystack's as one of Memorata's; None for none."""
    return _condition(filters) if filters else None


def _condition(given: dict[str, Any]) -> dict[str, Any]:
    if "field" in given:
        return _comparison(given)
    for name in ("operator", "conditions"):
        if name not in given:
            raise FilterError(f"'{name}' key missing in {given}")
    parts = [_condition(each) for each in given["conditions"]]
    if given["operator"] == "NOT":
        return {"not": {"and": parts}}
    if given["operator"] not in ("AND", "OR"):
        raise FilterError(f"unknown operator {given['operator']!r}; there are AND, OR and NOT")
    return {given["operator"].lower(): parts}


def _comparison(given: dict[str, Any]) -> dict[str, Any]:
    for name in ("operator", "value"):
        if name not in given:
            raise FilterError(f"'{name}' key missing in {given}")
    operator, value = given["operator"], given["value"]
    if operator not in _COMPARISONS:
        raise FilterError(f"unknown operator {operator!r}; there are {', '.join(_COMPARISONS)}")
    field = f"metadata.document.{given['field']}"
    if operator in (">", ">=", "<", "<="):
        if value is None:
            # No document is above or below nothing.
            return {"and": [{field: {"exists": True}}, {field: {"exists": False}}]}
        if isinstance(value, list) or (isinstance(value, str) and not _is_time(value)):
            raise FilterError(f"{operator} compares numbers and dates, not {value!r}")
    if operator in ("in", "not in") and not isinstance(value, list):
        raise FilterError(f"{operator} takes a list, not {value!r}")
    return {field: {_COMPARISONS[operator]: value}}


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
