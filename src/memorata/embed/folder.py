"""Where installed models live, and which are there.

Apart from the installer, which a process that only recalls can do without.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from memorata import _legacy_names
from memorata._data_folder import data_folder


def models_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return where a person's models live, unless settings say otherwise.

    >>> models_folder({}, "linux", Path("/home/ada")).as_posix()
    '/home/ada/.local/share/memorata/models'
    >>> models_folder({"MEMORATA_MODELS": "/srv/models"}, "linux", Path("/home/ada")).as_posix()
    '/srv/models'
    """
    named = _legacy_names.understood(environment).get("MEMORATA_MODELS")
    if named:
        return at_home(named, home)
    return _legacy_names.existing(data_folder(environment, platform, home) / "models")


def at_home(path: str, home: Path) -> Path:
    """Return a path of which a shell has not replaced the ``~`` that it begins with."""
    return home / path[2:] if path.startswith("~/") else Path(path)


def package_folder(package: str) -> Path | None:
    """Return where a data package is installed, without importing it; None when it is not."""
    spec = importlib.util.find_spec(package)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def installed(folder: Path, kind: str | None = None) -> tuple[str, ...]:
    """Return the names of the catalogue's models that are in `folder`; their hashes are not checked."""
    # To know where models live takes a moment; to know what there is takes reading TOML.
    from memorata.embed.catalogue import available
    from memorata.embed.description import DESCRIPTION

    return tuple(entry.name for entry in available(kind) if (folder / entry.name / DESCRIPTION).is_file())
