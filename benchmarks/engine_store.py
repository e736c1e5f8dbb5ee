"""Databases of made-up memories, written through the engine with their vectors given."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.engine_data import FixedVectors, Floats, batches
from memorata.engine import Engine
from memorata.engine import open as open_engine


@dataclass(frozen=True, slots=True)
class Built:
    """A database and how long its memories took to write."""

    path: Path
    size: int
    seconds: float

    @property
    def rate(self) -> float:
        """How many memories were written in a second."""
        return self.size / self.seconds

    @property
    def megabytes(self) -> float:
        """How many megabytes it takes on the disk."""
        return self.path.stat().st_size / 1e6


def opened(path: Path) -> Engine:
    """Open a database with the embedder that computes nothing."""
    return open_engine(path, embedder=FixedVectors())


def built(work: Path, size: int) -> Built:
    """Return a database of `size` memories in one namespace, written in batches of a thousand."""
    path = work / f"memorata-{size}.db"
    embedder = FixedVectors()
    spent = 0.0
    with open_engine(path, embedder=embedder) as engine:
        for batch in batches(size):
            items = batch.items()
            embedder.give(batch.texts, batch.vectors)
            began = time.perf_counter()
            engine.remember_many(items)
            spent += time.perf_counter() - began
    return Built(path, size, spent)


def built_namespaces(work: Path, namespaces: int, each: int) -> Path:
    """Return a database of many small namespaces, each with `each` memories of its own."""
    path = work / f"memorata-{namespaces}x{each}.db"
    embedder = FixedVectors()
    with open_engine(path, embedder=embedder) as engine:
        number = 0
        for batch in batches(namespaces * each):
            items = []
            for item in batch.items():
                items.append(item | {"namespace": namespace_name(number // each)})
                number += 1
            embedder.give(batch.texts, batch.vectors)
            engine.remember_many(items)
    return path


def namespace_name(number: int) -> str:
    """Return the name of a small namespace."""
    return f"people/number-{number}"


def vectors_of(size: int) -> Floats:
    """Return all vectors of a size as one matrix."""
    return np.concatenate([batch.vectors for batch in batches(size)])


def texts_of(size: int) -> list[str]:
    """Return all texts of a size."""
    return [text for batch in batches(size) for text in batch.texts]
