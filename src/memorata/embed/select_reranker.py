"""From a specification, one line of a settings file, to a re-ranker.

=========================  ================================================================================
``none``                   no re-ranker
``minilm-reranker`` …      an installed re-ranker of the catalogue
``onnx:FOLDER``            any folder with an ONNX cross-encoder
=========================  ================================================================================
"""

from __future__ import annotations

from memorata.embed.catalogue import CATALOGUE, available
from memorata.embed.cross_encoder import OnnxReranker
from memorata.embed.reranker import Reranker
from memorata.embed.reranker_description import RERANKER, RerankerDescription
from memorata.embed.select import Resources, folder_named, installed_folder, need_runtime, readable
from memorata.model.checks import nearest, writable
from memorata.model.errors import EmbedderError

RERANKER_NAMES = ("none", *(entry.name for entry in available(RERANKER)))
RERANKER_FORMS = ("onnx:FOLDER",)


def open_reranker(specification: str | None, resources: Resources | None = None) -> Reranker | None:
    """Return the re-ranker a specification names, None for none; its files are read on first use.

    Examples
    --------
    >>> open_reranker("none") is None
    True

    Raises
    ------
    ModelNotInstalled
        The model is not on this machine; the message says how to get it.
    EmbedderError
        The specification names nothing; the message lists what there is.
    MissingExtra
        A package is missing; the message says which.
    """
    given = resources or Resources()
    if specification is None or writable("specification", specification) == "none":
        return None
    form, _, folder = specification.partition(":")
    if form == "onnx" and folder:
        need_runtime()
        with readable(folder):
            return OnnxReranker(folder_named(folder), threads=given.threads)
    if specification not in CATALOGUE:
        known = ", ".join((*RERANKER_NAMES, *RERANKER_FORMS)) + nearest(specification, RERANKER_NAMES)
        raise EmbedderError(f"there is no re-ranker {specification!r}; there are {known}")
    description = CATALOGUE[specification].description
    if not isinstance(description, RerankerDescription):
        raise EmbedderError(
            f"{specification} is an embedder and no re-ranker; it cannot judge a pair of texts"
        )
    place = installed_folder(specification, given)
    return OnnxReranker(place, threads=given.threads, description=description)
