"""Data that is written to a store and read from it, besides memories themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from memorata._frozen import frozen
from memorata.index.codes import Floats
from memorata.model.memory import Memory

"""Called with what is being done, how much of it is, and how much there is."""
Terms = Mapping[str, Mapping[str, int]]
"""The terms of a memory: by field, each term and how often it occurs."""
TermsOf = Callable[[Memory], Terms]
"""Returns the terms of a memory, as they were when it was added."""


@frozen(eq=False)
class Entry:
    """A memory to be added, with everything derived from it."""

    memory: Memory
    """With its fingerprint."""
    terms: Terms
    vectors: Floats | None = None
    """One row per passage, of the store's embedder; None when they could not be computed yet."""
    digest: bytes = b""
    """The hash of the embedded text, so that the same text is embedded once."""


@frozen
class Hidden:
    """Since when a memory has been hidden: forgotten, or superseded, or both."""

    memory_id: str
    forgotten_at: datetime | None
    superseded_at: datetime | None
    end_given: bool | None = None
    """Whether its `valid_to` was set by its successor, so that it was not known before; False for an end of
    its own, or none. None where it is not superseded, or that is unknown."""
    repeat: str | None = None
    """How it repeats what superseded it (:attr:`Repeat.kind`); None where that was not noted."""


@frozen
class Change:
    """One entry of the change feed; `memory_id` is empty for what is about entities."""

    number: int
    namespace: str
    memory_id: str
    kind: str


@frozen
class Page:
    """Some memories of a listing, and where it goes on; `cursor` is None at the end."""

    memories: tuple[Memory, ...]
    cursor: str | None


def all_pages(read: Callable[[str | None], Page]) -> Iterator[Memory]:
    """Yield the memories of every page of a listing; a page is read when the one before is used up."""
    cursor: str | None = None
    while True:
        page = read(cursor)
        yield from page.memories
        cursor = page.cursor
        if cursor is None:
            return
