"""The embedders and re-rankers of this distribution by their specifications: entry points of the core.

docs/embedders.md lists the specifications.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memorata.extend.embedding import (
    QUERY_SECONDS,
    Choice,
    Embedder,
    ModelDescription,
    Reranker,
    Resources,
    TokenTable,
    origin_of,
    service_address,
)
from memorata.extend.errors import EmbedderError, ModelCorrupt, ModelNotInstalled, shown
from memorata_models.catalogue import CATALOGUE, installed
from memorata_models.chat import ChatReranker
from memorata_models.description import RerankerDescription
from memorata_models.hub import cached_snapshot, describe_hub_folder, hub_cache
from memorata_models.onnx import OnnxEmbedder, OnnxReranker
from memorata_models.roles import chat_address
from memorata_models.services import OllamaEmbedder, OpenAIEmbedder, ServiceReranker
from memorata_models.static import StaticEmbedder, installed_tables

_SERVICES = {"openai": OpenAIEmbedder, "ollama": OllamaEmbedder}


def open_embedder(specification: str, resources: Resources) -> Choice:
    """Return the embedder that a specification of the first table names."""
    form, _, rest = specification.partition(":")
    if specification in CATALOGUE:
        return Choice(_installed(specification, resources), specification)
    if not rest:
        raise EmbedderError(
            f"there is no embedder {specification!r}: {form}: is followed by {_FOLLOWS[form]}"
        )
    if form in _SERVICES:
        return _service(form, specification, rest, resources)
    where = rest if form == "hub" else str(folder_named(rest))
    with readable(where):
        return Choice(_from_folder(form, where, resources), f"{form}:{where}")


_FOLLOWS = {
    **dict.fromkeys(("onnx", "static"), "a folder"),
    "hub": "ORG/NAME",
    **dict.fromkeys(("openai", "ollama", "cohere", "jina", "chat"), "MODEL@ADDRESS"),
    "tei": "an address",
}


def _service(form: str, specification: str, rest: str, resources: Resources) -> Choice:
    model, address = service_address(form, rest)
    bound, note, key = resources.api_key_address, None, resources.api_key
    if key and bound is not None and origin_of(bound) != origin_of(address):
        note = f"the API key is for {bound}, and is not sent to {origin_of(address)}"
        key = None
    embedder = _SERVICES[form](
        model,
        address,
        api_key=key,
        dimension=resources.dimension,
        retry=resources.retry,
        query_seconds=_query_seconds(resources),
        token_tables=_tables(resources),
    )
    return Choice(embedder, specification, note)


def _installed(name: str, resources: Resources) -> Embedder:
    description = CATALOGUE[name].description
    assert isinstance(description, ModelDescription)  # the entry points say so
    folder, tables = installed_folder(name, resources), _tables(resources)
    if description.has_table:
        return StaticEmbedder(folder, description=description, token_tables=tables)
    return OnnxEmbedder(folder, threads=resources.threads, description=description, token_tables=tables)


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
    tables = _tables(resources)
    if form == "static":
        return StaticEmbedder(Path(rest), token_tables=tables)
    if form == "onnx":
        return OnnxEmbedder(Path(rest), threads=resources.threads, token_tables=tables)
    cache = resources.hub_cache or hub_cache(os.environ, Path.home())
    folder, revision = cached_snapshot(rest, cache)
    description = describe_hub_folder(folder, model_id=rest, revision=revision)
    return OnnxEmbedder(folder, threads=resources.threads, description=description, token_tables=tables)


def _tables(resources: Resources) -> tuple[TokenTable, ...]:
    try:
        return installed_tables(resources.models)
    except OSError:
        # A folder that may not be read has none; a model that is asked for by name says so.
        return ()


def _query_seconds(resources: Resources) -> float:
    return QUERY_SECONDS if resources.query_seconds is None else resources.query_seconds


def open_reranker(specification: str, resources: Resources) -> Reranker:
    """Return the re-ranker that a specification of the second table names."""
    form, _, rest = specification.partition(":")
    if specification in CATALOGUE:
        description = CATALOGUE[specification].description
        assert isinstance(description, RerankerDescription)  # the entry points say so
        place = installed_folder(specification, resources)
        return OnnxReranker(place, threads=resources.threads, description=description)
    if not rest:
        raise EmbedderError(
            f"there is no re-ranker {specification!r}: {form}: is followed by {_FOLLOWS[form]}"
        )
    if form == "onnx":
        with readable(rest):
            return OnnxReranker(folder_named(rest), threads=resources.threads)
    key, seconds = resources.reranker_key, _query_seconds(resources)
    if form == "chat":
        model, address = chat_address("reranker", specification)
        return ChatReranker(model, address, api_key=key, retry=resources.retry, seconds=seconds)
    model, address = ("", rest) if form == "tei" else service_address(form, rest)
    return ServiceReranker(form, model, address, api_key=key, retry=resources.retry, seconds=seconds)
