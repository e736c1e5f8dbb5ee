"""What people would build a memory on otherwise, each used as its own documentation suggests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from benchmarks.engine_data import Batch, Question

LIMIT = 10
"""How many results everybody returns."""
POOL = 100
"""How many candidates each leg gives to a fusion, as in our recipe."""


class Peer(Protocol):
    """An engine that stores texts with vectors and answers questions about them."""

    def add(self, batch: Batch) -> None:
        """Store some memories."""
        ...

    def ready(self) -> None:
        """Build what has to be built once everything is stored."""
        ...

    def ways(self) -> Mapping[str, Callable[[Question], list[str]]]:
        """Return each way of asking by its name; it gives the texts of the best ten, best first."""
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
