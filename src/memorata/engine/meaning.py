"""Meaning: the vectors of what is remembered and of what is asked.

A text that the store knows is not embedded again. When the embedder fails, nothing is lost: what was said is
stored and waits for its vector, and a question is answered by words.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.embed.port import Embedder
from memorata.engine.ahead import ahead
from memorata.index.directions import are_directions, is_direction
from memorata.model import checks
from memorata.model.errors import DimensionMismatch, EmbedderError, InvalidArgument, MissingExtra
from memorata.store.port import Floats, Store

_DIGEST_BYTES: Final = 16
_NO_DIRECTION: Final = "are not finite, or not of length 1"
_FAILURES: Final = (EmbedderError, MissingExtra)
"""What may be wrong with an embedder: a package that was there when it was chosen may fail to load."""
_LOG: Final = logging.getLogger(__name__)


@frozen
class Meaning:
    """An embedder, and the store that remembers what it computed; without one, why there is none."""

    embedder: Embedder | None
    store: Store
    absence: str = ""

    def of_documents(
        self, texts: Sequence[str], namespaces: Sequence[str]
    ) -> list[tuple[bytes, Floats | None]]:
        """Return the address and the vectors of each text; None where they have to wait.

        A text that its own namespace holds is not embedded again. What another holds does not count: the time
        that is saved would tell.
        """
        digests = [address(text) for text in texts]
        if self.embedder is None:
            return [(digest, None) for digest in digests]
        early = ahead()
        wanted = list(zip(namespaces, digests, strict=True))
        known: dict[tuple[str, bytes], Floats | None] = {
            key: early[key[1]] for key in wanted if key[1] in early
        }
        known |= cached_vectors(self.store, [key for key in wanted if key not in known])
        new = {key[1]: text for key, text in zip(wanted, texts, strict=True) if key not in known}
        try:
            rows = self.computed(list(new.values()))
        except _FAILURES as error:
            stored = "1 memory is" if len(new) == 1 else f"{len(new):,} memories are"
            _LOG.warning("%s stored without vectors for now: %s", stored, error)
            return [(key[1], known.get(key)) for key in wanted]
        fresh = dict(zip(new, rows, strict=True))
        return [(key[1], known[key] if key in known else fresh[key[1]]) for key in wanted]

    def computed(self, texts: Sequence[str]) -> list[Floats]:
        """Return the vectors of texts, one row per passage, as the embedder computes them.

        Raises
        ------
        EmbedderError
            It failed, or gave something else than it promises.
        """
        if self.embedder is None:
            raise EmbedderError("there is no embedder; open the memory with one, such as embedder='builtin'")
        if not texts:
            return []
        rows = self.embedder.embed_passages(texts)
        if len(rows) != len(texts):
            raise EmbedderError(
                f"{self.embedder.name} gave the vectors of {len(rows)} texts for {len(texts)}"
            )
        for each in rows:
            if not isinstance(each, np.ndarray):
                raise EmbedderError(f"{self.embedder.name} gave {type(each).__name__} where an array belongs")
            if each.ndim != 2 or each.shape[1] != self.embedder.dimension:
                got = each.shape[-1] if each.ndim else 0
                raise DimensionMismatch(self.embedder.name, expected=self.embedder.dimension, got=got)
        # All at once: asking numpy a thousand times takes longer than the answers.
        whole = rows[0] if len(rows) == 1 else np.concatenate(rows)
        if not all(map(len, rows)) or not are_directions(whole):
            raise EmbedderError(f"{self.embedder.name} gave vectors that {_NO_DIRECTION}, or none")
        return rows

    def of_question(self, text: str, given: Floats | None) -> tuple[Floats | None, str]:
        """Return the vector of a question, and what was wrong if there is none.

        Parameters
        ----------
        text
            The question; an empty one has no meaning, and nothing is wrong with that.
        given
            Its vector, if the caller has it already.
        """
        if self.embedder is None:
            return None, self.absence or "no embedder: words only"
        if given is not None:
            return self._given(given, self.embedder.dimension), ""
        if not text:
            return None, ""
        try:
            row = np.asarray(self.embedder.embed_query(text))
            if row.shape != (self.embedder.dimension,):
                raise DimensionMismatch(self.embedder.name, expected=self.embedder.dimension, got=row.size)
            if not are_directions(row[None, :]):
                raise EmbedderError(f"{self.embedder.name} gave a vector whose numbers {_NO_DIRECTION}")
        except _FAILURES as error:
            return None, f"the embedder failed, words only: {error}"
        return row, ""

    def _given(self, vector: Floats, dimension: int) -> Floats:
        """Return a vector that a caller computed, in an array of our own: theirs may be used again."""
        as_embedded = type(vector) is np.ndarray and vector.dtype == np.float32
        if as_embedded and vector.shape == (dimension,) and is_direction(vector):
            return vector.copy()
        numbers = checks.numbers("vector", vector)
        if numbers.shape != (dimension,):
            raise InvalidArgument("vector", numbers.shape, f"of shape ({dimension},)")
        if not are_directions(numbers[None, :]):
            raise InvalidArgument(
                "vector", float(np.linalg.norm(numbers)), "one whose norm is 1 (divide it by its norm)"
            )
        return numbers.astype(np.float32)

    @property
    def threshold(self) -> float:
        """The cosine above which texts are likelier related than not."""
        return self.embedder.similarity_threshold if self.embedder is not None else 0.0


def cached_vectors(store: Store, wanted: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], Floats]:
    """Return the vectors that a store has of texts, by namespace and address; each from its own namespace."""
    by_namespace: dict[str, list[bytes]] = {}
    for namespace, digest in wanted:
        by_namespace.setdefault(namespace, []).append(digest)
    return {
        (namespace, digest): rows
        for namespace, digests in by_namespace.items()
        for digest, rows in store.cached_vectors(namespace, digests).items()
    }


def address(text: str) -> bytes:
    """Return the address of a text that is embedded; equal texts have the same one.

    Examples
    --------
    >>> address("tea") == address("tea"), len(address("tea"))
    (True, 16)
    """
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()
