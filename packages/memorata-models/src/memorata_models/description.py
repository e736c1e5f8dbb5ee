"""The ``model.toml`` of a model: what has to be known before its files can be used (docs/models.md)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Final, TypeAlias

from memorata.extend import frozen
from memorata.extend.embedding import (
    DESCRIPTION,
    TOKENIZER,
    ModelDescription,
    Prompts,
    check_common,
    digest,
)
from memorata.extend.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled
from memorata.extend.model import checks

RERANKER: Final = "reranker"
PAIR: Final = "pair"
OUTPUTS: Final = {"logit": 1, "difference": 2}
"""How a re-ranker's score is read from its output, and how many numbers a text must have there."""
_WEIGHTS: Final = "model.onnx"


@frozen
class RerankerDescription:
    """The facts of a re-ranker's ``model.toml``.

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
        template = checks.text("template", self.template)
        if template != PAIR and not (template.count("{q}") == template.count("{d}") == 1):
            raise InvalidArgument("template", template, f"{PAIR!r}, or a text with {{q}} and {{d}} once each")
        checks.one_of("output", self.output, tuple(OUTPUTS))
        check_common(self)

    @property
    def kind(self) -> str:
        """Always ``"reranker"``."""
        return RERANKER

    @property
    def name(self) -> str:
        """Identity of the scores: everything that decides one is in its digest."""
        facts = [self.revision, self.max_tokens, self.template, self.output, sorted(self.files.items())]
        return f"{self.id}@{digest(facts)}"

    @property
    def weights(self) -> str:
        """The name of the file that holds the weights."""
        return _WEIGHTS

    def filled(self, query: str, text: str) -> str:
        """Return the one text that a model with a template reads."""
        if self.template == PAIR:
            raise InvalidArgument("template", PAIR, "a text with {q} and {d}")
        # A query may hold "{d}" and a text "{q}", so neither may be filled into the other.
        before, _, after = self.template.partition("{d}")
        return before.replace("{q}", query) + text + after.replace("{q}", query)


Description: TypeAlias = ModelDescription | RerankerDescription
"""Of whatever model there may be in a folder."""


def described(facts: Mapping[str, Any]) -> Description:
    """Return the description that the facts of a ``model.toml`` make, by their kind."""
    other_facts = {name: value for name, value in facts.items() if name not in ("kind", "prompts")}
    if facts.get("kind") == RERANKER:
        return RerankerDescription(**other_facts)
    return ModelDescription(
        **other_facts, kind=facts.get("kind", ""), prompts=Prompts(**facts.get("prompts", {}))
    )


def read_description(folder: Path) -> ModelDescription:
    """Return the description of an embedder in ``folder/model.toml``; raises as the next one does."""
    description = read_any_description(folder)
    if not isinstance(description, ModelDescription):
        raise ModelCorrupt(f"{folder / DESCRIPTION} does not describe a model: it is a re-ranker's")
    return description


def read_any_description(folder: Path) -> Description:
    """Return the description in ``folder/model.toml``, of an embedder or of a re-ranker."""
    path = folder / DESCRIPTION
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ModelNotInstalled(f"there is no model in {folder}: it has no {DESCRIPTION}") from error
    except OSError as error:
        raise ModelCorrupt(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ModelCorrupt(f"{path} is not a TOML file: {error}") from error
    try:
        description = described(facts)
    except (TypeError, AttributeError, InvalidArgument) as error:
        kind_name = "re-ranker" if facts.get("kind") == RERANKER else "model"
        raise ModelCorrupt(f"{path} does not describe a {kind_name}: {error}") from error
    tokenizer = description.tokenizer if isinstance(description, ModelDescription) else TOKENIZER
    missing = {description.weights, tokenizer} - set(description.files)
    if missing:
        raise ModelCorrupt(f"{path} names no SHA-256 for {' and '.join(sorted(missing))} under [files]")
    return description


def as_toml(description: Description) -> str:
    """Return the text of the ``model.toml`` that :func:`read_any_description` reads back."""
    tables: dict[str, Mapping[str, str]] = {"files": description.files}
    if isinstance(description, ModelDescription):
        prompts = description.prompts
        tables = {"prompts": {"query": prompts.query, "document": prompts.document}} | tables
    names = dict.fromkeys(["id", "kind", *(field.name for field in fields(description))])
    lines = [f"{name} = {_toml_value(getattr(description, name))}" for name in names if name not in tables]
    for table, entries in tables.items():
        lines.append(f"\n[{table}]")
        # Names of files have dots, which TOML would read as tables within tables.
        key = _toml_value if table == "files" else str
        lines += [f"{key(name)} = {_toml_value(value)}" for name, value in entries.items()]
    return "\n".join([*lines, ""])


def _toml_value(value: object) -> str:
    """Return a value in TOML; a JSON string is also a TOML string, except for the delete character."""
    if not isinstance(value, str):
        return repr(list(value) if isinstance(value, tuple) else value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
