"""The environment of a process: where a person's memories and models live, and the threads of numpy.

Apart from everything else, since hooks must know it and load nothing more.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final


def make_folder(folder: Path) -> None:
    """Make a folder and what is missing above it, each for its owner alone, as XDG has it."""
    if not folder.parent.exists():
        make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def data_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return where a person's models and memories live, as the platform has it.

    >>> data_folder({}, "linux", Path("/home/ada")).as_posix()
    '/home/ada/.local/share/memorata'
    """
    if platform == "win32":
        base = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "memorata"


def models_folder(environment: Mapping[str, str], platform: str, home: Path) -> Path:
    """Return where a person's models live, unless settings say otherwise.

    >>> models_folder({}, "linux", Path("/home/ada")).as_posix()
    '/home/ada/.local/share/memorata/models'
    >>> models_folder({"MEMORATA_MODELS": "/srv/models"}, "linux", Path("/home/ada")).as_posix()
    '/srv/models'
    """
    named = environment.get("MEMORATA_MODELS")
    if named:
        return at_home(named, home)
    return data_folder(environment, platform, home) / "models"


def at_home(path: str, home: Path) -> Path:
    """Return a path of which a shell has not replaced the ``~`` that it begins with."""
    return home / path[2:] if path.startswith("~/") else Path(path)


# Products of one text are small. Divided among threads, each waits on a busy machine until its other threads
# get their turn (136 instead of 2 ms for a query of the built-in model, benchmarks/RESULTS.md), and requests
# of a server share the processors among themselves.
ONE_THREAD: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


def compute_on_one_thread() -> None:
    """Keep numpy from dividing a matrix product among threads; to be called before numpy is imported."""
    for variable, threads in ONE_THREAD.items():
        os.environ.setdefault(variable, threads)
