"""Embedding ahead of a transaction what will be remembered in it.

An embedder may take its time, and a service may hang; a transaction that waited for one would hold up
everybody else who uses the store. So what is to be remembered in one is embedded before it begins, and found
here when it is needed: also that it could not be embedded, so that nobody waits for that a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.store.port import Floats

if TYPE_CHECKING:
    from memorata.engine.engine import Engine
    from memorata.engine.meaning import Meaning

Vectors: TypeAlias = Mapping[bytes, Floats | None]
"""By the addresses of texts, their vectors; None for those that have to wait for theirs."""

_NONE: Final[Vectors] = MappingProxyType({})
_AHEAD: ContextVar[Vectors] = ContextVar("ahead", default=_NONE)


@contextmanager
def embedded_ahead(
    engine: Engine, items: Sequence[Mapping[str, Any]], namespace: str | None = None
) -> Iterator[None]:
    """Embed what will be remembered in the block, in this thread, before it begins.

    Parameters
    ----------
    engine
        What will remember it.
    items
        The fields of the memories, as `remember_many` takes them.
    namespace
        Whose memories; None for the engine's.

    Examples
    --------
    >>> import memorata
    >>> with memorata.open(":memory:", embedder="lexical") as memory:
    ...     with embedded_ahead(memory, [{"content": "Anna likes tea."}]), memory.store.together():
    ...         memory.remember("Anna likes tea.").embedder == memory.embedder.name
    True
    """
    from memorata.engine.meaning import Meaning

    drafts = []
    # What is wrong with one of them is said by who remembers them, and says which.
    with suppress(InvalidArgument):
        for item in items:
            details = {"namespace": namespace, **item}
            drafts.append(engine.draft(details.pop("content"), **details))
    with ahead_of(Meaning(engine.embedder, engine.store), drafts):
        yield


@contextmanager
def ahead_of(meaning: Meaning, memories: Sequence[Memory]) -> Iterator[None]:
    """Embed memories that will be written in the block, in this thread, before it begins."""
    from memorata.engine.words import embedded_text

    texts = [embedded_text(memory) for memory in memories]
    before = _AHEAD.set(dict(meaning.of_documents(texts, [memory.namespace for memory in memories])))
    try:
        yield
    finally:
        _AHEAD.reset(before)


def ahead() -> Vectors:
    """Return what was embedded ahead for what is done now."""
    return _AHEAD.get()
