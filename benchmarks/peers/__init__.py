"""What people would build a memory on otherwise, each used as its own documentation suggests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from benchmarks.engine_data import Batch, Question

LIMIT = 10
"""How many results everybody returns."""
POOL = 100
"""How many candidates each leg gives to a fusion, as in our recipe."""


class Way(NamedTuple):
    """One way of asking a peer.

    Attributes
    ----------
    name
        What the table calls it.
    run
        Returns the texts of the best ten, best first.
    is_hybrid
        Whether both words and meaning take part; otherwise it does less than the others.
    """

    name: str
    run: Callable[[Question], list[str]]
    is_hybrid: bool = True


class Peer(Protocol):
    """An engine that stores texts with vectors and answers questions about them."""

    def add(self, batch: Batch) -> None:
        """Store some memories."""
        ...

    def ready(self) -> None:
        """Build what has to be built once everything is stored."""
        ...

    def ways(self) -> Sequence[Way]:
        """Return the ways of asking it."""
        ...

    def close(self) -> None:
        """Let go of files."""
        ...


def peers() -> Sequence[Callable[[Path], Peer]]:
    """Return what makes each peer in a new folder; importing them takes seconds, so it happens here."""
    from benchmarks.peers.chroma import Chroma
    from benchmarks.peers.lance import Lance
    from benchmarks.peers.sqlite_pair import SqlitePair

    return Chroma, Lance, SqlitePair
