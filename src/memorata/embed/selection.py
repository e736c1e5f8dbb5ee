"""From a specification, one line of a settings file, to an embedder or a re-ranker.

=========================  ================================================================================
``auto``                   arctic-embed-s, bge-small-zh-v1.5, the built-in model or words
``builtin``                use-multilingual, which comes with Memorata
``lexical``                hashed bags of words; needs no model
=========================  ================================================================================

All others are opened by satellites. An entry point of the group ``memorata.embedders`` or
``memorata.rerankers`` has the name of a model, or the form before the colon of a specification
(``onnx:FOLDER``). Its value is a function of the specification and the :class:`Resources`. It returns a
:class:`Choice`, or a re-ranker. docs/embedders.md lists those of ``memorata-models``.

Any embedder but `lexical` may be followed by the prompts to use, such as ``builtin#retrieval``: see
:mod:`memorata.embed.port`.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memorata import _satellites
from memorata._frozen import frozen
from memorata.embed.circuit_breaker import RetryPolicy, checked_seconds
from memorata.embed.description import installed_models
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.ngram_encoder import BUILTIN, REQUIREMENT, BuiltinEmbedder, builtin_folder
from memorata.embed.port import PRESETS, Embedder, Reranker, split_specification, with_prompts
from memorata.model.checks import nearest, whole, writable
from memorata.model.errors import EmbedderError, MissingExtra

# Loaded when it is chosen, which is seldom.
if TYPE_CHECKING:
    from memorata.rank.bm25 import Statistics

RECOMMENDED: Final = "arctic-embed-s"
BEFORE_BUILTIN: Final = (RECOMMENDED, "bge-small-zh-v1.5")
"""The models that new stores use where one is installed: the first that is."""
NAMES: Final = ("auto", "builtin", "lexical")


@frozen
class Resources:
    """What an embedder may draw on; everything that would otherwise be looked up behind the caller's back.

    Parameters
    ----------
    models
        The folder of installed models: see :func:`memorata._environment.models_folder`.
    hub_cache
        The model hub's cache; None for the usual folder of its tools.
    threads
        How many threads a model may compute with; None for as many as there are processors, up to four.
    api_key
        For services that ask for one.
    api_key_address
        The service that the key is for: it is sent to no other. None for the one that is named.
    dimension
        The length a service's vectors must have; None to ask it.
    retry
        Time limits and retries of services.
    query_seconds
        How long a query waits for a service, before it is answered by words; None for the usual time.
    statistics
        What weighs the terms of queries in the lexical embedder.
    reranker_key
        For the service that a re-ranker names, and for no other.

    Examples
    --------
    >>> Resources(threads=2, api_key="sk-1").threads
    2
    """

    models: Path | None = None
    hub_cache: Path | None = None
    threads: int | None = None
    api_key: str | None = field(default=None, repr=False)
    api_key_address: str | None = None
    dimension: int | None = None
    retry: RetryPolicy | None = None
    query_seconds: float | None = None
    statistics: Statistics | None = None
    reranker_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # Now, and not when a model is first used: by then there is a store that was made with it.
        for name, value in (("threads", self.threads), ("dimension", self.dimension)):
            if value is not None:
                whole(name, value, 1)
        if self.query_seconds is not None:
            checked_seconds("query_seconds", self.query_seconds)


@frozen
class Choice:
    """An embedder, and what a person should know about how it was chosen.

    Parameters
    ----------
    embedder
        The embedder.
    specification
        What opens the same one tomorrow, when ``auto`` may choose another.
    note
        A better choice that could be had, if there is one.

    Examples
    --------
    >>> choose("lexical").embedder.dimension
    512
    """

    embedder: Embedder
    specification: str
    note: str | None = None


def open_embedder(specification: str, resources: Resources | None = None) -> Embedder:
    """Return the embedder a specification names; its files are read on first use.

    Parameters
    ----------
    specification
        One line of the table above, or one of a satellite.
    resources
        What it may draw on; nothing but what is installed with Memorata when left out.

    Examples
    --------
    >>> open_embedder("lexical").dimension
    512

    Raises
    ------
    ModelNotInstalled
        The model is not on this machine; the message says how to get it.
    EmbedderError
        The specification names nothing; the message lists what there is.
    MissingExtra
        A package is missing; the message says which.
    """
    return choose(specification, resources).embedder


def choose(specification: str, resources: Resources | None = None) -> Choice:
    """Do the work of :func:`open_embedder`, and say why, where a better choice could be had.

    Parameters are those of :func:`open_embedder`.

    Examples
    --------
    >>> choose("lexical").specification
    'lexical'
    """
    resources = resources or Resources()
    bare, prompts = split_specification(writable("specification", specification))
    if prompts:
        plain = choose(bare, resources)
        embedder = with_prompts(plain.embedder, prompts)
        return Choice(embedder, f"{plain.specification}#{prompts}", plain.note)
    if specification == "auto":
        return _best(resources)
    if specification in ("builtin", BUILTIN):
        return Choice(BuiltinEmbedder(), BUILTIN)
    if specification == "lexical":
        return Choice(_lexical(resources), specification)
    opener = _satellites.opener("embedders", specification)
    if opener is not None:
        choice: Choice = opener(specification, resources)
        return choice
    names = _names("embedders", *NAMES)
    model, _, prompts = specification.rpartition("#")
    if model in names:
        choices = ", ".join((*PRESETS, "custom:QUERY|DOCUMENT"))
        raise EmbedderError(f"there are no prompts {prompts!r} for {model}; there are {choices}")
    choices = f"{', '.join(names)}{nearest(specification, names)}"
    raise EmbedderError(f"there is no embedder {specification!r}; there are {choices}")


def _names(kind: str, *own: str) -> tuple[str, ...]:
    """Return the names and forms of all that can be opened."""
    names = sorted({*_satellites.declared(kind), *_satellites.OPENED[kind]})
    forms = ("onnx", "static", "hub", "openai", "ollama", "cohere", "jina", "tei", "chat")
    return (*own, *(f"{name}:…" if name in forms else name for name in names))


def _best(resources: Resources) -> Choice:
    present = installed_models(resources.models)
    name = next((name for name in BEFORE_BUILTIN if name in present), None)
    better = how_to_improve()
    if name is not None:
        try:
            return choose(name, resources)
        except MissingExtra as error:
            better = f"{name} is installed: {error}"
    if builtin_folder() is not None:
        return Choice(BuiltinEmbedder(), BUILTIN, f"the built-in model is in use; {better}")
    return Choice(_lexical(resources), "lexical", f"words only, no vectors: pip install {REQUIREMENT}")


def how_to_improve() -> str:
    """Return the commands that get the best model for English, on this machine."""
    missing = RECOMMENDED not in _satellites.declared("embedders")
    install = "pip install . packages/memorata-models && " if missing else ""
    return f"a better one for English: {install}memorata model install"


def _lexical(resources: Resources) -> Embedder:
    return LexicalEmbedder(statistics=resources.statistics)


def open_reranker(specification: str | None, resources: Resources | None = None) -> Reranker | None:
    """Return the re-ranker a specification names, None for none; its files are read on first use.

    Parameters
    ----------
    specification
        ``none``, or a model or service of a satellite.
    resources
        As for :func:`open_embedder`, and raises as that does.

    Examples
    --------
    >>> open_reranker("none") is None
    True
    """
    if specification is None or writable("specification", specification) == "none":
        return None
    opener = _satellites.opener("rerankers", specification)
    if opener is None:
        names = _names("rerankers", "none")
        choices = ", ".join(names) + nearest(specification, names)
        raise EmbedderError(f"there is no re-ranker {specification!r}; there are {choices}")
    reranker: Reranker = opener(specification, resources or Resources())
    return reranker
