"""Small memories, vectors and questions, for suites and tests that need a store with something in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from memorata.dedupe.fingerprint import fingerprint
from memorata.index.candidates import LegCandidates
from memorata.index.codes import Floats
from memorata.index.lexical import LexicalQuery
from memorata.index.search import NamespaceIndex
from memorata.model.memory import Memory
from memorata.rank.bm25 import BM25
from memorata.store.entries import Entry
from memorata.store.filters import Filter
from memorata.store.store import Store

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
EMBEDDER = "conformance"
DIMENSION = 8
HERE, THERE = "acme/alice", "acme/bob"
SCORER = BM25(1.2, 0.75)


def words(text: str) -> dict[str, int]:
    """Return the words of a text, lower case, and how often each occurs.

    Examples
    --------
    >>> words("Tea, tea and milk")
    {'tea,': 1, 'tea': 1, 'and': 1, 'milk': 1}
    """
    found = text.lower().split()
    return {word: found.count(word) for word in dict.fromkeys(found)}


def direction(*components: float) -> Floats:
    """Return one unit row with these first components.

    Examples
    --------
    >>> direction(3, 4)[0, :2].tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    row = np.zeros((1, DIMENSION))
    row[0, : len(components)] = components
    return (row / np.linalg.norm(row)).astype(np.float32)


def entry(id: str, content: str, vectors: Floats | None = None, **fields: Any) -> Entry:
    """Return an entry whose words are those of its content and tags, as :func:`words` reads them."""
    usual: dict[str, Any] = {"namespace": HERE, "created_at": NOW, "fingerprint": fingerprint(content)}
    memory = Memory(id=id, content=content, **(usual | fields))
    terms = {"content": words(content)}
    if memory.tags:
        terms["tags"] = words(" ".join(memory.tags))
    digest = b"" if vectors is None else f"digest of {content}".encode()
    return Entry(memory, terms, vectors, digest)


def query(*terms: str, excluded: Sequence[str] = (), **fields: float) -> LexicalQuery:
    """Return a query for terms of equal weight, in the content unless fields and their weights are given."""
    wanted = dict.fromkeys(terms, 1.0)
    return LexicalQuery(wanted, fields or {"content": 1.0}, tuple(excluded), SCORER)


def found_ids(view: NamespaceIndex, found: LegCandidates) -> list[str]:
    """Return the ids of what a leg found, in its order."""
    return [memory.id for memory in view.memories(found.slots)]


def pages(store: Store, limit: int, filter: Filter | None = None, *, hidden: bool = False) -> Iterator[str]:
    """Yield the ids of all memories of a namespace, newest first, page by page."""
    cursor = None
    while True:
        page = store.page(HERE, filter, limit, cursor, hidden=hidden)
        assert len(page.memories) <= limit
        yield from (memory.id for memory in page.memories)
        cursor = page.cursor
        if cursor is None:
            return


def recalled(store: Store, now: datetime = NOW, as_of: datetime | None = None) -> tuple[list[str], list[str]]:
    """Return what is found by the word "tea" and by the first direction."""
    with store.view(HERE, now, as_of=as_of) as view:
        by_words = found_ids(view, view.search(query("tea"), 10))
        return by_words, found_ids(view, view.search(direction(1)[0], 10))
