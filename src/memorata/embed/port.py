"""What an embedder and a re-ranker are: the ports between texts and what models make of them.

A sentence encoder turns a text into a vector so that texts of like meaning point the same way (Reimers &
Gurevych, Sentence-BERT, 2019). The engine knows encoders by this protocol only; a new one is a class with
these names, and :mod:`memorata.testing` says whether it keeps the promises.

A cross-encoder (Nogueira and Cho, "Passage re-ranking with BERT", 2019) reads a query and a text together,
which is slow and sharp; the engine shows it a few candidates and blends its scores with the first stage's,
because alone it can demote terse facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen

Vectors: TypeAlias = npt.NDArray[np.float32]
"""One row per text, each of length one (or all zeros, for a text in which the embedder finds nothing)."""


@frozen
class Prompts:
    """What is written before a text, for models that were trained to tell queries from documents.

    Examples
    --------
    >>> Prompts(query="query: ", document="passage: ").query
    'query: '
    """

    query: str = ""
    document: str = ""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors.

    Every embedder accepts any text: the empty one, a megabyte, any script. A text of more tokens than the
    model reads is cut into overlapping passages, never silently truncated.
    """

    @property
    def name(self) -> str:
        """Identity of the vectors, as a store records it: it changes whenever the vectors would."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    @property
    def max_tokens(self) -> int | None:
        """How many of the model's own tokens one passage holds; None when the model sets no bound."""
        ...

    @property
    def prompts(self) -> Prompts:
        """The prefixes of queries and documents."""
        ...

    @property
    def similarity_threshold(self) -> float:
        """The cosine above which two texts are likelier related than not; 0 when not measured.

        The measured ones are noise ceilings: ``benchmarks/noise.py`` says what that is.
        """
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; a long text is the unit mean of its passages."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, of shape ``(dimension,)``."""
        ...

    def passages(self, text: str) -> list[str]:
        """Return the overlapping passages of `text`; ``[text]`` when it is short enough to be read whole."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text the rows of its passages, computed together in as few batches as possible."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """Scores texts for a query; higher is better, the scale is its own."""

    @property
    def name(self) -> str:
        """What explanations call it."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return one finite number per text."""
        ...
