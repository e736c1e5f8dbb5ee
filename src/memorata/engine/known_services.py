"""What a store knows of an embedding service: how long its vectors are, so that it need not be asked.

A service that is away tells nothing, and one that hangs tells it late; but whoever was embedded by it before
has left the length of its vectors in the store. So a memory opens without asking, answers by words for as
long as the service is away, and by meaning as soon as it is back.

A service may come back with another model by the same name. If its vectors have another length, they are
known by a name of their own, and nothing is compared that must not be: the old ones wait to be replaced by
`reembed`, as after any other change of embedders.
"""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

from memorata.embed.port import Embedder
from memorata.model.errors import InvalidArgument
from memorata.store.port import Store

DIMENSION: Final = "embedder_dimension"
"""The setting of a store that says how long the vectors are of the service it is opened with."""

_PROBE: Final = "Is all well?"


@runtime_checkable
class Service(Protocol):
    """An embedder that has to be asked how long its vectors are."""

    @property
    def known_dimension(self) -> int | None:
        """How long they are, if that was given; nobody is asked."""
        ...

    def of_dimension(self, dimension: int, *, apart: bool = False) -> Embedder:
        """Return the same embedder, known to give vectors of this length; `apart` to say so in its name."""
        ...


def settled(embedder: Embedder, store: Store, *, recorded: bool, named: bool = True) -> Embedder:
    """Return an embedder of which it is known how long its vectors are.

    Parameters
    ----------
    embedder
        The embedder.
    store
        What it is for.
    recorded
        Whether it is the one that the store is opened with: then what the store knows is believed. Any other
        has to be asked, and takes the time it takes.
    named
        Whether it was named by a specification, and is not an object of the caller's.

    Raises
    ------
    EmbedderError
        It has to be asked, and is away, or gives vectors of another length than was said.
    """
    if not isinstance(embedder, Service):
        # Its description says so, which may turn out to be damaged.
        _ = embedder.dimension
        return embedder
    said, before = embedder.known_dimension, None
    if recorded:
        kept = store.setting(DIMENSION) if named else None
        before = store.dimension_of(embedder.name) if kept is None else _number(kept)
    if before is None or said not in (None, before):
        if recorded and named:
            embedder.embed_query(_PROBE)
        else:
            embedder.embed_documents([_PROBE])
        before = embedder.dimension
    first = store.dimension_of(embedder.name)
    other = store.dimension_of(embedder.of_dimension(before, apart=True).name)
    apart = other is not None if first is None else first != before
    return embedder if said == before and not apart else embedder.of_dimension(before, apart=apart)


def _number(kept: str) -> int:
    if not (kept.isascii() and kept.isdigit() and 1 <= len(kept) <= 9 and int(kept)):
        raise InvalidArgument(DIMENSION, kept, "a whole number of at least 1, as the store has recorded it")
    return int(kept)
