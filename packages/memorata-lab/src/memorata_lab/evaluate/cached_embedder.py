"""An embedder with a cache on disk, so that a second evaluation costs minutes.

A vector is addressed by the model's name, the prompt and the text; nothing else goes into it. What was
computed before an interruption stays.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from memorata.extend.embedding import Embedder, Vectors, unit_means
from memorata.extend.errors import StoreUnavailable

BATCH: Final = 64
"""How many new texts are computed between two writes."""


class CachedEmbedder:
    """An :class:`~memorata.embed.port.Embedder` with a file of everything it ever computed."""

    def __init__(self, embedder: Embedder, path: str | Path) -> None:
        self.embedder = embedder
        self.name, self.prompts, self.max_tokens = embedder.name, embedder.prompts, embedder.max_tokens
        self.similarity_threshold = embedder.similarity_threshold
        self.languages: tuple[str, ...] = getattr(embedder, "languages", ())
        self.reliability = float(getattr(embedder, "reliability", 1.0))
        self._path = path
        self.computed = 0
        with self._usable():
            self._file = sqlite3.connect(str(path), timeout=60, isolation_level=None, check_same_thread=False)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute(
                "CREATE TABLE IF NOT EXISTS vectors (address BLOB PRIMARY KEY, rows BLOB NOT NULL)"
            )

    @property
    def dimension(self) -> int:
        """Length of every vector; a service is asked for it when it is first needed."""
        return self.embedder.dimension

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; a long text is the unit mean of its passages."""
        return unit_means(self.embed_passages(texts), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        address = self._address("query", self.prompts.query, text)
        rows = self._cached([address]).get(address)
        if rows is None:
            rows = self.embedder.embed_query(text)[np.newaxis]
            self._keep([(address, rows)])
        vector: Vectors = rows[0]
        return vector

    def passages(self, text: str) -> list[str]:
        """Return the overlapping passages of `text`."""
        return self.embedder.passages(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text the rows of its passages."""
        addresses = [self._address("document", self.prompts.document, text) for text in texts]
        cached = self._cached(addresses)
        new = {address: text for address, text in zip(addresses, texts, strict=True) if address not in cached}
        # Texts of like length go together, so that a batch is not as slow as its longest text.
        waiting = sorted(new.items(), key=lambda item: len(item[1]))
        for start in range(0, len(waiting), BATCH):
            batch = waiting[start : start + BATCH]
            rows = self.embedder.embed_passages([text for _, text in batch])
            done = [(address, row) for (address, _), row in zip(batch, rows, strict=True)]
            self._keep(done)
            cached |= dict(done)
        return [cached[address] for address in addresses]

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _address(self, side: str, prompt: str, text: str) -> bytes:
        parts = (self.name, str(self.dimension), side, prompt, text)
        return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=20).digest()

    def _cached(self, addresses: Sequence[bytes]) -> dict[bytes, Vectors]:
        cached: dict[bytes, Vectors] = {}
        with self._usable():
            for address in addresses:
                row = self._file.execute("SELECT rows FROM vectors WHERE address = ?", (address,)).fetchone()
                if row is not None:
                    cached[address] = np.frombuffer(row[0], np.float32).reshape(-1, self.dimension)
        return cached

    def _keep(self, done: Sequence[tuple[bytes, Vectors]]) -> None:
        self.computed += len(done)
        with self._usable():
            self._file.execute("BEGIN IMMEDIATE")
            try:
                self._file.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    [(address, np.ascontiguousarray(rows, np.float32).tobytes()) for address, rows in done],
                )
                self._file.execute("COMMIT")
            finally:
                # A full disk or an interrupt must not leave the file in the middle of a write.
                if self._file.in_transaction:
                    self._file.execute("ROLLBACK")

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreUnavailable(f"the embedding cache {self._path} cannot be used: {error}") from error
