"""The settings file: where it is, what it says, and how much of that counts.

One that was named (``--config``, ``MEMORATA_CONFIG``) counts as it is. One that merely lies in the current
folder came with whatever is in that folder: until the user trusts it (``memorata admin trust``), only
harmless settings of it count, none that say where texts and keys are sent or what is loaded or removed.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from memorata._frozen import frozen
from memorata.embed.trust import Trust
from memorata.model.errors import InvalidArgument
from memorata.rank.fusion.alpha_blend import migrated
from memorata.store.address import is_address

CONFIG: Final = "memorata.toml"
CONFIG_VARIABLE: Final = "MEMORATA_CONFIG"
PREFIX: Final = "MEMORATA_"
HARMLESS: Final = frozenset(
    {
        "namespace", "recipe", "read_dates", "redact", "duplicates", "read_only",
        "threads", "query_seconds", "log_recalls", "log_queries", "parameters",
    }
)  # fmt: skip
"""The settings of an untrusted file that count. Every other setting, also a future one, needs trust."""
OLD_WEIGHTS: Final = ("vectorSimilarityWeight", "keywordMatchWeight")
"""Two weights that one budget and one share have replaced: see ``memorata.rank.migrated``."""
_RENAMED: Final = {"question_seconds": "query_seconds"}
"""Settings by the names they had before."""
_IN_MEMORY: Final = ":memory:"


@frozen
class ConfigFile:
    """A settings file as it was read."""

    path: Path
    content: bytes
    values: Mapping[str, Any]
    named: bool
    notes: tuple[str, ...] = ()

    def ignored(self, trust: Trust) -> tuple[str, ...]:
        """Return the settings in it that do not count because it is not trusted."""
        risky = tuple(name for name in self.values if name not in HARMLESS)
        return () if self.named or not risky or trust.agrees_to_file(self.path, self.content) else risky


def config_file(environment: Mapping[str, str], folder: Path) -> Path | None:
    """Return the settings file to read, or None if there is none."""
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return named_file(CONFIG_VARIABLE, named)
    path = folder / CONFIG
    return path if path.is_file() else None


def named_file(argument: str, path: str) -> Path:
    """Return the settings file that was named, or raise if there is none."""
    file = at_home(path)
    if not file.is_file():
        raise InvalidArgument(argument, path, "the path of a settings file that exists")
    return file


def read_config(path: Path, settings: Collection[str], *, named: bool) -> ConfigFile:
    """Return what a settings file says; paths in it are relative to it."""
    try:
        content = path.read_bytes()
        values = tomllib.loads(content.decode("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        # In the name and not in the value: a long path must not be cut short.
        raise InvalidArgument(f"the settings file {path}", str(error), "readable TOML") from error
    values = {_RENAMED.get(name, name): value for name, value in values.items()}
    values, notes = _migrated(values, path)
    for name in values:
        if name not in settings:
            near = difflib.get_close_matches(name, settings, 1)
            hint = f"did you mean {near[0]!r}? There are" if near else "one of"
            raise InvalidArgument(f"a setting in {path}", name, f"{hint} {', '.join(settings)}")
    for name in ("db", "models", "hub_cache"):
        location = values.get(name)
        if isinstance(location, str) and location not in ("", _IN_MEMORY) and not is_address(location):
            values[name] = path.parent / at_home(location)
    for name in ("embedder", "reranker"):
        form, colon, folder = str(values.get(name)).partition(":")
        if colon and folder and form in ("onnx", "static"):
            values[name] = f"{form}:{path.parent / at_home(folder)}"
    return ConfigFile(path, content, values, named, notes)


def _migrated(values: dict[str, Any], path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return settings with the two weights of the old form read as one budget, and notes about that."""
    old = {name: values[name] for name in OLD_WEIGHTS if name in values}
    if not old:
        return values, ()
    # The maths of ranking is not loaded for files of today.
    blend = migrated(*(old.get(name) for name in OLD_WEIGHTS))
    parameters = {"blend_budget": blend.budget, "vector_weight": blend.alpha}
    migrated_values = {name: value for name, value in values.items() if name not in old}
    if isinstance(migrated_values.get("parameters", {}), dict):
        migrated_values = {
            "recipe": "openvault",
            **migrated_values,
            "parameters": {**parameters, **migrated_values.get("parameters", {})},
        }
    settings = ", ".join(f"{name} = {value:g}" for name, value in parameters.items())
    note = (
        f"{path} sets {' and '.join(old)}, as before: read as the recipe openvault, [parameters] {settings}"
    )
    return migrated_values, (note,)


def at_home(path: str) -> Path:
    """Return a path with the home that its ``~`` stands for."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InvalidArgument("path", path, "a path in a home that exists") from error


def untrusted(path: Path, names: Sequence[str]) -> str:
    """Return the note about settings that are ignored because their file is not trusted."""
    return (
        f"{path} sets {', '.join(names)}, which is ignored, for it is not trusted: "
        "`memorata admin trust` shows what it would change and asks; or name the file, with --config or "
        f"{CONFIG_VARIABLE}"
    )


def effective_config(named: str | None, names: Collection[str]) -> ConfigFile | None:
    """Return the settings file that is named, or that the environment or the current folder has, if any."""
    if named is not None:
        return read_config(named_file("config", named), names, named=True)
    path = config_file(os.environ, Path.cwd())
    by_variable = bool(os.environ.get(CONFIG_VARIABLE))
    return None if path is None else read_config(path, names, named=by_variable)


def environment_variables(fields: Collection[str]) -> dict[str, str]:
    """Return the environment variables that say something, by the setting each is for."""
    names = {name.upper(): name for name, value in os.environ.items() if value}
    variables = {field: names.get(f"{PREFIX}{field.upper()}") for field in fields}
    return {field: name for field, name in variables.items() if name}
