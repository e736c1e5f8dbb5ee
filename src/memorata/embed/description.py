"""What has to be known about a model before its files can be used, and files that are read by their hash."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from memorata._frozen import frozen
from memorata.embed.port import Prompts
from memorata.model import checks
from memorata.model.errors import ModelCorrupt, ModelNotInstalled

DESCRIPTION: Final = "model.toml"
"""The file that describes a model in the folder of installed models."""
TOKENIZER: Final = "tokenizer.json"
KINDS: Final = {
    "onnx": "model.onnx",
    "static": "model.safetensors",
    "pieces": "vectors.npy",
    "ngrams": "weights.npz",
}
"""The kinds of embedder, and the name of the file that holds the weights of each."""
_TOKENIZERS: Final = {"pieces": "pieces.txt", "ngrams": "sp.model"}
POOLINGS: Final = ("cls", "mean")
MIN_WINDOW: Final = 16
"""Fewest tokens a model may read at once; below it, prompts would leave no room for text."""


@frozen
class ModelDescription:
    """The facts about an embedder that decide its vectors, and how they are used."""

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
    languages: tuple[str, ...] = ()
    reliability: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", checks.texts("languages", self.languages))
        checks.one_of("kind", self.kind, tuple(KINDS))
        checks.whole("dimension", self.dimension, 1)
        checks.one_of("pooling", self.pooling, POOLINGS)
        for name, low in (("similarity_threshold", -1.0), ("reliability", 0.0)):
            object.__setattr__(self, name, checks.within(name, getattr(self, name), low, 1.0))
        checks.text("prompts.query", self.prompts.query)
        checks.text("prompts.document", self.prompts.document)
        check_common(self)

    @property
    def name(self) -> str:
        """The identity a store records: everything that decides a vector is in its digest."""
        facts = [self.revision, self.kind, self.dimension, self.max_tokens, self.pooling]
        facts += [self.prompts.query, self.prompts.document, sorted(self.files.items())]
        return f"{self.id}@{digest(facts)}:{self.pooling}"

    @property
    def weights(self) -> str:
        """The name of the file that holds the weights."""
        return KINDS[self.kind]

    @property
    def tokenizer(self) -> str:
        """The name of the file that says how texts are cut into tokens."""
        return _TOKENIZERS.get(self.kind, TOKENIZER)

    @property
    def has_table(self) -> bool:
        """Whether it is a table with a row for each token."""
        return self.kind in ("static", "pieces")


def read_checked(folder: Path, name: str, digest: str | None) -> bytes:
    """Return the bytes of a model's file, once its SHA-256 is the pinned one; None pins nothing."""
    path = folder / name
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelNotInstalled(f"{path} is missing: install the model again") from error
    except OSError as error:
        raise ModelCorrupt(f"{path} cannot be read: {error.strerror or error}") from error
    if digest is not None:
        actual = hashlib.sha256(content).hexdigest()
        if actual != digest.lower():
            raise ModelCorrupt(f"{path} has SHA-256 {actual}, not the pinned {digest}: install it again")
    return content


def package_folder(package: str) -> Path | None:
    """Return where a data package is installed, without importing it; None when it is not."""
    spec = importlib.util.find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def check_common(description: Any) -> None:  # noqa: ANN401 - of an embedder or of a re-ranker
    """Check the facts of any model, and make its files immutable."""
    for name in ("id", "licence", "revision"):
        checks.text(name, getattr(description, name))
    checks.whole("max_tokens", description.max_tokens, MIN_WINDOW)
    for name, digest in description.files.items():
        checks.text(f"files[{name!r}]", digest)
    object.__setattr__(description, "files", MappingProxyType(dict(description.files)))


def digest(facts: list[Any]) -> str:
    """Return the part of a name that changes with any of some facts."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8]


def installed_models(folder: Path | None) -> tuple[str, ...]:
    """Return the names of the models in a folder; their hashes are not checked."""
    if folder is None or not folder.is_dir():
        return ()
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{DESCRIPTION}")))
