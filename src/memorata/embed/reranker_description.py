r"""What has to be known about a re-ranker before its files can be used: its ``model.toml``.

Beside ``model.onnx`` and ``tokenizer.json`` lies this::

    id = "mini-reranker"
    kind = "reranker"
    max_tokens = 512
    template = "Query: {q}\nSentence: {d}"   # or "pair": the tokeniser joins question and text
    output = "difference"                  # logit 1 - logit 0; or "logit", for a model with one
    licence = "MIT"
    revision = ""                          # the publisher's commit, where known

    [files]                                # the SHA-256 of every file, checked whenever it is loaded
    "model.onnx" = "accf…"
    "tokenizer.json" = "4356…"
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from memorata._frozen import frozen
from memorata.embed.description import (
    DESCRIPTION,
    KINDS,
    SMALLEST_WINDOW,
    ModelDescription,
    check_pinned,
    quoted,
    read_description,
    read_toml,
)
from memorata.model import checks
from memorata.model.errors import InvalidArgument, ModelCorrupt

RERANKER = "reranker"
PAIR = "pair"
OUTPUTS = {"logit": 1, "difference": 2}
"""How a score is read from a model's output, and how many numbers a text must have there."""


@frozen
class RerankerDescription:
    """The facts of a re-ranker's ``model.toml``.

    Parameters
    ----------
    id
        What the model is called.
    max_tokens
        How many tokens it reads at once: question, text, and what stands around them.
    template
        ``"pair"`` for a tokeniser that joins two texts, or one text with ``{q}`` and ``{d}`` in it.
    output
        ``"logit"`` for a model that gives one number, ``"difference"`` for one that gives two, of which the
        second speaks for the text and the first against it.
    licence, revision, files
        As for every model.

    Examples
    --------
    >>> tiny = RerankerDescription(id="tiny", max_tokens=32, template="Q: {q} D: {d}")
    >>> tiny.name, tiny.filled("who?", "Anna")
    ('tiny@e0eb1372', 'Q: who? D: Anna')
    """

    id: str
    max_tokens: int
    template: str = PAIR
    output: str = "logit"
    licence: str = "unknown"
    revision: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("id", "licence", "revision"):
            checks.text(name, getattr(self, name))
        checks.whole("max_tokens", self.max_tokens, SMALLEST_WINDOW)
        template = checks.text("template", self.template)
        if template != PAIR and not (template.count("{q}") == template.count("{d}") == 1):
            raise InvalidArgument("template", template, f"{PAIR!r}, or a text with {{q}} and {{d}} once each")
        checks.one_of("output", self.output, tuple(OUTPUTS))
        for name, digest in self.files.items():
            checks.text(f"files[{name!r}]", digest)
        object.__setattr__(self, "files", MappingProxyType(dict(self.files)))

    @property
    def kind(self) -> str:
        """Always ``"reranker"``."""
        return RERANKER

    @property
    def name(self) -> str:
        """Identity of the scores: everything that decides one is in its digest."""
        facts = [self.revision, self.max_tokens, self.template, self.output, sorted(self.files.items())]
        return f"{self.id}@{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]}"

    @property
    def weights(self) -> str:
        """The name of the file that holds the weights."""
        return KINDS["onnx"]

    def filled(self, question: str, text: str) -> str:
        """Return the one text that a model with a template reads."""
        if self.template == PAIR:
            raise InvalidArgument("template", PAIR, "a text with {q} and {d}")
        # A question may hold "{d}" and a text "{q}", so neither may be filled into the other.
        before, _, after = self.template.partition("{d}")
        return before.replace("{q}", question) + text + after.replace("{q}", question)

    def as_toml(self) -> str:
        """Return the text of the ``model.toml`` that :func:`read_any_description` reads back."""
        return "\n".join(
            [
                f"id = {quoted(self.id)}",
                f"kind = {quoted(RERANKER)}",
                f"max_tokens = {self.max_tokens}",
                f"template = {quoted(self.template)}",
                f"output = {quoted(self.output)}",
                f"licence = {quoted(self.licence)}",
                f"revision = {quoted(self.revision)}",
                "\n[files]",
                *(f"{quoted(name)} = {quoted(digest)}" for name, digest in self.files.items()),
                "",
            ]
        )


Description: TypeAlias = ModelDescription | RerankerDescription
"""Of whatever model there may be in a folder."""


def read_any_description(folder: Path) -> Description:
    """Return the description in ``folder/model.toml``, of an embedder or of a re-ranker.

    Raises
    ------
    ModelNotInstalled
        There is no such file.
    ModelCorrupt
        The file cannot be read as a description, or leaves a file without its hash.
    """
    found = read_toml(folder)
    if found.pop("kind", None) != RERANKER:
        return read_description(folder)
    path = folder / DESCRIPTION
    try:
        description = RerankerDescription(**found)
    except (TypeError, AttributeError, InvalidArgument) as error:
        raise ModelCorrupt(f"{path} does not describe a re-ranker: {error}") from error
    check_pinned(path, description.files, description.weights)
    return description
