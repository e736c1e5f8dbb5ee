"""What an embedder and a re-ranker are: the ports between texts and what models make of them.

A sentence encoder turns a text into a vector so that texts of like meaning point the same way (Reimers &
Gurevych, Sentence-BERT, 2019). The engine knows encoders by this protocol only; a new one is a class with
these names, and :mod:`memorata.testing` says whether it keeps the promises.

A cross-encoder (Nogueira and Cho, "Passage re-ranking with BERT", 2019) reads a query and a text together,
which is slow and sharp; the engine shows it a few candidates and blends its scores with the first stage's,
because alone it can demote terse facts.

Models that follow instructions (Su et al., "One Embedder, Any Task: Instruction-Finetuned Text Embeddings",
2023) place a text by the task that a prompt names. A specification (:mod:`memorata.embed.selection`) may end
with the prompts to use instead of the model's own, which are what it was trained with and the best choice
unless something else was measured:

===========================  ========================================================================
``builtin#none``             nothing
``builtin#similarity``       both sides alike: which texts say the same
``builtin#retrieval``        questions and passages that answer them
``builtin#narrative``        both sides alike: what happened in a story
``builtin#romance``          both sides alike: what is felt between two people
``builtin#relationship``     both sides alike: relations between people
``builtin#custom:Q|D``       Q before queries, D before documents
===========================  ========================================================================

The vectors of two prompts are as different as those of two models: they have another name, are never
compared, and a change is a matter of re-embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.errors import EmbedderError, InvalidArgument

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


def carried(cosine: float, noise: float, reference: float) -> float:
    """Return what a cosine that was written for embedders of one noise ceiling is for one of another.

    It lies as far between the noise ceiling and 1: ``1 - (1 - cosine)·(1 - noise)/(1 - reference)``. Where a
    ceiling is not known, 0 or less, the cosine is left as it is.

    >>> [round(carried(0.92, noise, 0.35), 3) for noise in (0.0, 0.35, 0.6)]
    [0.92, 0.92, 0.951]
    """
    if noise <= 0 or reference <= 0:
        return cosine
    return 1.0 - (1.0 - cosine) * (1.0 - noise) / (1.0 - reference)


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


_NARRATIVE: Final = "task: events of a story | text: "
_RELATIONSHIP: Final = "task: relationship of people | text: "
PRESETS: Final = MappingProxyType(
    {
        "none": Prompts(),
        "similarity": Prompts("task: sentence similarity | text: ", "task: sentence similarity | text: "),
        "retrieval": Prompts("query: ", "passage: "),
        "narrative": Prompts(_NARRATIVE, _NARRATIVE),
        "romance": Prompts("task: romantic feelings | text: ", "task: romantic feelings | text: "),
        "relationship": Prompts(_RELATIONSHIP, _RELATIONSHIP),
    }
)
"""Prompts by name."""

_MARK: Final = "#"
_CUSTOM: Final = "custom:"
_BETWEEN: Final = "|"


@runtime_checkable
class Promptable(Protocol):
    """An embedder whose prompts can be chosen."""

    def prompted(self, prompts: Prompts) -> Self:
        """Return the same embedder with other prompts; with its own, exactly the same."""
        ...


def split_specification(specification: str) -> tuple[str, str]:
    """Return a specification without its prompts, and their name; an empty one for the model's own.

    A ``#`` that is part of a path is left where it is.
    """
    head, custom, rest = specification.partition(_MARK + _CUSTOM)
    if custom:
        return head, _CUSTOM + rest
    head, _, name = specification.rpartition(_MARK)
    return (head, name) if head and name in PRESETS else (specification, "")


def prompts_named(name: str) -> Prompts:
    """Return the prompts that a specification names."""
    if not name.startswith(_CUSTOM):
        return PRESETS[name]
    query, between, document = name.removeprefix(_CUSTOM).partition(_BETWEEN)
    if not between:
        raise EmbedderError(f"prompts of your own have a {_BETWEEN} between them: #custom:QUERY|DOCUMENT")
    return Prompts(query, document)


OWN: Final = "own"
"""The name of the prompts that a model was trained with."""
_WITHOUT: Final = ("lexical",)
"""What has no prompts, and needs none."""


def checked_prompts(name: str) -> str:
    """Return the name of prompts, or raise with those that there are."""
    if not isinstance(name, str) or not (name == OWN or name in PRESETS or name.startswith(_CUSTOM)):
        names = ", ".join((OWN, *PRESETS))
        raise InvalidArgument("prompts", name, f"one of {names} or custom:QUERY|DOCUMENT")
    if name != OWN:
        prompts_named(name)
    return name


def prompted_specification(specification: str, name: str) -> str:
    """Return a specification with these prompts instead of those that it names.

    >>> prompted_specification("builtin#none", "similarity"), prompted_specification("builtin#none", "own")
    ('builtin#similarity', 'builtin')
    """
    model = split_specification(specification)[0]
    return model if checked_prompts(name) == OWN or model in _WITHOUT else f"{model}{_MARK}{name}"


def with_prompts(embedder: Embedder, name: str) -> Embedder:
    """Return an embedder with the prompts that a specification names."""
    if not isinstance(embedder, Promptable):
        raise EmbedderError(f"{embedder.name} has no prompts; leave out {_MARK}{name}")
    chosen: Embedder = embedder.prompted(prompts_named(name))
    return chosen
