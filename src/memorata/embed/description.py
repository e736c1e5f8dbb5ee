"""What has to be known about a model before its files can be used: the small file ``model.toml``.

A model folder holds weights (``model.onnx`` or ``model.safetensors``), ``tokenizer.json``, and this::

    id = "snowflake-arctic-embed-s"
    kind = "onnx"                      # or "static"
    dimension = 384
    max_tokens = 512
    pooling = "cls"                    # or "mean"
    similarity_threshold = 0.7         # 0 when nobody has measured it
    licence = "Apache-2.0"
    revision = "e596f507…"             # the publisher's commit, where known

    [prompts]
    query = "Represent this sentence for searching relevant passages: "
    document = ""

    [files]                            # the SHA-256 of every file, checked whenever the model is loaded
    "model.onnx" = "f93f…"
    "tokenizer.json" = "91f1…"

A re-ranker's says other things: see :mod:`memorata.embed.description`.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from memorata._frozen import frozen
from memorata.embed.port import Prompts
from memorata.model import checks
from memorata.model.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled

DESCRIPTION = "model.toml"
TOKENIZER = "tokenizer.json"
KINDS = {"onnx": "model.onnx", "static": "model.safetensors"}
"""The kinds of model, and the name of the file that holds the weights of each."""
POOLINGS = ("cls", "mean")
SMALLEST_WINDOW = 16
"""Fewest tokens a model may read at once; below it, prompts would leave no room for text."""


@frozen
class ModelDescription:
    """The facts of ``model.toml``.

    Examples
    --------
    >>> ModelDescription(id="tiny", kind="onnx", dimension=8, max_tokens=32, pooling="mean").name
    'tiny@c0e9dad1:mean'
    """

    id: str
    kind: str
    dimension: int
    max_tokens: int
    pooling: str
    similarity_threshold: float = 0.0
    licence: str = "unknown"
    revision: str = ""
    prompts: Prompts = field(default_factory=Prompts)
    files: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.text("id", self.id)
        checks.one_of("kind", self.kind, tuple(KINDS))
        checks.whole("dimension", self.dimension, 1)
        checks.whole("max_tokens", self.max_tokens, SMALLEST_WINDOW)
        checks.one_of("pooling", self.pooling, POOLINGS)
        checks.within("similarity_threshold", self.similarity_threshold, -1.0, 1.0)
        checks.text("licence", self.licence)
        checks.text("revision", self.revision)
        checks.text("prompts.query", self.prompts.query)
        checks.text("prompts.document", self.prompts.document)
        for name, digest in self.files.items():
            checks.text(f"files[{name!r}]", digest)
        object.__setattr__(self, "files", MappingProxyType(dict(self.files)))

    @property
    def name(self) -> str:
        """The identity a store records: everything that decides a vector is in its digest."""
        facts = [self.revision, self.kind, self.dimension, self.max_tokens, self.pooling]
        facts += [self.prompts.query, self.prompts.document, sorted(self.files.items())]
        digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        return f"{self.id}@{digest[:8]}:{self.pooling}"

    @property
    def weights(self) -> str:
        """The name of the file that holds the weights."""
        return KINDS[self.kind]

    def as_toml(self) -> str:
        """Return the text of the ``model.toml`` that :func:`read_description` reads back."""
        return "\n".join(
            [
                f"id = {quoted(self.id)}",
                f"kind = {quoted(self.kind)}",
                f"dimension = {self.dimension}",
                f"max_tokens = {self.max_tokens}",
                f"pooling = {quoted(self.pooling)}",
                f"similarity_threshold = {float(self.similarity_threshold)!r}",
                f"licence = {quoted(self.licence)}",
                f"revision = {quoted(self.revision)}",
                "\n[prompts]",
                f"query = {quoted(self.prompts.query)}",
                f"document = {quoted(self.prompts.document)}",
                "\n[files]",
                *(f"{quoted(name)} = {quoted(digest)}" for name, digest in self.files.items()),
                "",
            ]
        )


def read_description(folder: Path) -> ModelDescription:
    """Return the description in ``folder/model.toml``.

    Raises
    ------
    ModelNotInstalled
        There is no such file.
    ModelCorrupt
        The file cannot be read as a description, or leaves a file without its hash.
    """
    path, found = folder / DESCRIPTION, read_toml(folder)
    try:
        prompts = Prompts(**found.pop("prompts", {}))
        description = ModelDescription(**found, prompts=prompts)
    except (TypeError, AttributeError, InvalidArgument) as error:
        raise ModelCorrupt(f"{path} does not describe a model: {error}") from error
    check_pinned(path, description.files, description.weights)
    return description


def read_toml(folder: Path) -> dict[str, Any]:
    """Return what ``folder/model.toml`` says, whatever kind of model it describes.

    Raises
    ------
    ModelNotInstalled
        There is no such file.
    ModelCorrupt
        The file cannot be read, or is not TOML.
    """
    path = folder / DESCRIPTION
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelNotInstalled(f"there is no model in {folder}: it has no {DESCRIPTION}") from error
    except OSError as error:
        raise ModelCorrupt(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelCorrupt(f"{path} is not a TOML file: {error}") from error


def check_pinned(path: Path, files: Mapping[str, str], weights: str) -> None:
    """Refuse a description that leaves the weights or the tokeniser without a hash."""
    missing = {weights, TOKENIZER} - set(files)
    if missing:
        raise ModelCorrupt(f"{path} names no SHA-256 for {' and '.join(sorted(missing))} under [files]")


def read_checked(folder: Path, name: str, digest: str | None) -> bytes:
    """Return the bytes of a model's file, once its SHA-256 is known to be `digest`.

    Parameters
    ----------
    folder, name
        Where the file is.
    digest
        The pinned SHA-256 in hexadecimal; None for a file nobody has pinned, which is read as it is.

    Raises
    ------
    ModelNotInstalled
        There is no such file.
    ModelCorrupt
        The file cannot be read, or is another one than was pinned.
    """
    path = folder / name
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelNotInstalled(f"{path} is missing: install the model again") from error
    except OSError as error:
        raise ModelCorrupt(f"{path} cannot be read: {error.strerror or error}") from error
    if digest is not None:
        found = hashlib.sha256(content).hexdigest()
        if found != digest.lower():
            raise ModelCorrupt(f"{path} has SHA-256 {found}, not the pinned {digest}: install it again")
    return content


def quoted(text: str) -> str:
    r"""Return `text` as a TOML string.

    Examples
    --------
    >>> quoted("Query: {q}\n")
    '"Query: {q}\\n"'
    """
    # A JSON string is also a TOML string, except for the delete character, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


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
