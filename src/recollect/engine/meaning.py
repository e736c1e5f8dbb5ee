"""Meaning: the vectors of what is remembered and of what is asked.

A text that the store knows is not embedded again. When the embedder fails, nothing is lost: what was said is
stored and waits for its vector, and a question is answered by words.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recollect.embed.port import Embedder
from recollect.model.errors import EmbedderError, InvalidArgument
from recollect.store.port import Floats, Store

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Meaning:
    """An embedder, and the store that remembers what it computed."""

    embedder: Embedder | None
    store: Store

    def of_documents(self, texts: Sequence[str]) -> list[tuple[bytes, Floats | None]]:
        """Return the address and the vectors of each text; None where they have to wait."""
        digests = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        if self.embedder is None:
            return [(digest, None) for digest in digests]
        known = self.store.cached_vectors(digests)
        new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        try:
            rows = self.embedder.embed_passages(list(new.values())) if new else []
        except EmbedderError as error:
            _LOG.warning("%d memories are stored without vectors for now: %s", len(new), error)
            return [(digest, known.get(digest)) for digest in digests]
        fresh = dict(zip(new, rows, strict=True))
        return [(digest, known.get(digest, fresh.get(digest))) for digest in digests]

    def of_question(self, text: str, given: Floats | None) -> tuple[Floats | None, str]:
        """Return the vector of a question, and what was wrong if there is none.

        Parameters
        ----------
        text
            The question; an empty one has no meaning, and nothing is wrong with that.
        given
            Its vector, if the caller has it already.
        """
        if given is not None:
            if self.embedder is not None and given.shape != (self.embedder.dimension,):
                raise InvalidArgument("vector", given.shape, f"of shape ({self.embedder.dimension},)")
            if not np.isfinite(given).all():
                raise InvalidArgument("vector", given, "finite numbers")
            return given, ""
        if self.embedder is None:
            return None, "no embedder: words only"
        if not text:
            return None, ""
        try:
            return self.embedder.embed_query(text), ""
        except EmbedderError as error:
            return None, f"the embedder failed, words only: {error}"

    @property
    def threshold(self) -> float:
        """The cosine above which texts are likelier related than not."""
        return self.embedder.similarity_threshold if self.embedder is not None else 0.0
