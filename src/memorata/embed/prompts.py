"""Prompts: what is written before a query and before a document, chosen beside the model.

Models that follow instructions (Su et al., "One Embedder, Any Task: Instruction-Finetuned Text Embeddings",
2023) place a text by what they are told it is for. A specification may end with the prompts to use instead of
the model's own, which are what it was trained with and the best choice unless something else was measured:

===========================  ========================================================================
``builtin#none``             nothing
``builtin#similarity``       both sides alike: which texts say the same
``builtin#retrieval``        questions and passages that answer them
``builtin#narrative``        questions about what happened, and parts of a story
``builtin#romance``          both sides alike: what is felt between two people
``builtin#relationship``     both sides alike: who is what to whom
``builtin#custom:Q|D``       Q before queries, D before documents
===========================  ========================================================================

The vectors of two prompts are as different as those of two models: they have another name, are never
compared, and a change is a matter of re-embedding.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Protocol, Self, runtime_checkable

from memorata.embed.port import Embedder, Prompts
from memorata.model.errors import EmbedderError, InvalidArgument

_RELATIONSHIP: Final = "task: relationship of people | text: "
PRESETS: Final = MappingProxyType(
    {
        "none": Prompts(),
        "similarity": Prompts("task: sentence similarity | text: ", "task: sentence similarity | text: "),
        "retrieval": Prompts("query: ", "passage: "),
        "narrative": Prompts("question about what happened: ", "part of a story: "),
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


def split(specification: str) -> tuple[str, str]:
    """Return a specification without its prompts, and their name; an empty one for the model's own.

    A ``#`` that is part of a path is left where it is.
    """
    head, custom, rest = specification.partition(_MARK + _CUSTOM)
    if custom:
        return head, _CUSTOM + rest
    head, _, name = specification.rpartition(_MARK)
    return (head, name) if head and name in PRESETS else (specification, "")


def parsed(name: str) -> Prompts:
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


def checked_name(name: str) -> str:
    """Return the name of prompts, or raise with those that there are."""
    if name != OWN and name not in PRESETS and not (isinstance(name, str) and name.startswith(_CUSTOM)):
        names = ", ".join((OWN, *PRESETS))
        raise InvalidArgument("prompts", name, f"one of {names} or custom:QUERY|DOCUMENT")
    if name != OWN:
        parsed(name)
    return name


def prompted_specification(specification: str, name: str) -> str:
    """Return a specification with these prompts instead of those that it names.

    >>> prompted_specification("builtin#none", "similarity"), prompted_specification("builtin#none", "own")
    ('builtin#similarity', 'builtin')
    """
    model = split(specification)[0]
    return model if checked_name(name) == OWN or model in _WITHOUT else f"{model}{_MARK}{name}"


def with_prompts(embedder: Embedder, name: str) -> Embedder:
    """Return an embedder with the prompts that a specification names."""
    if not isinstance(embedder, Promptable):
        raise EmbedderError(f"{embedder.name} has no prompts; leave out {_MARK}{name}")
    chosen: Embedder = embedder.prompted(parsed(name))
    return chosen
