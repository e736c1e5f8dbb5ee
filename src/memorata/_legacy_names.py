"""What was written under the project's former name, Recollect, and where it is still understood.

The only module that knows the former name; `tests/test_legacy_names.py` holds the repository to it.

===========================  ====================================  =========================================
written before               read as                               where
===========================  ====================================  =========================================
``recollect.toml``           ``memorata.toml``                     if the folder has none of the new name
``RECOLLECT_…`` (variables)  ``MEMORATA_…``                        if that one is not set
``…/recollect/memories.db``  ``…/memorata/memories.db``            if that one is not there
``…/recollect/models``       ``…/memorata/models``                 if that one is not there
``recollect_run``            ``memorata_run``                      the header of an evaluation's run file
``recollect_schema``         ``memorata_schema``                   PostgreSQL: renamed by the next migration
``rcl_…`` (API keys)         ``mem_…``                             a key that was made then is still good
===========================  ====================================  =========================================

One mark of the former name is part of a format and stays: SQLite's application id ``RCLT``. Exported JSON
Lines and ``model.toml`` never contained it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_NAME: Final = "recollect"
_NEW_NAME: Final = "memorata"
_PREFIX: Final = "RECOLLECT_"
_NEW_PREFIX: Final = "MEMORATA_"
CONFIG: Final = "recollect.toml"
RUN_HEADER: Final = "recollect_run"
SCHEMA_TABLE: Final = "recollect_schema"
TOKEN_PREFIX: Final = "rcl_"


def understood(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which variables of the former name stand under their new one too.

    >>> understood({"RECOLLECT_DB": "a.db", "RECOLLECT_RECIPE": "fast", "MEMORATA_RECIPE": "deep"})
    {'RECOLLECT_DB': 'a.db', 'RECOLLECT_RECIPE': 'fast', 'MEMORATA_RECIPE': 'deep', 'MEMORATA_DB': 'a.db'}
    """
    renamed = {new: environment[old] for old, new in renamed_variables(environment).items()}
    return {**environment, **renamed}


def renamed_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the former name that are in effect, each with its new name.

    >>> renamed_variables({"RECOLLECT_DB": "a.db", "recollect_models": "m", "HOME": "/home/ada"})
    {'RECOLLECT_DB': 'MEMORATA_DB', 'recollect_models': 'MEMORATA_MODELS'}
    """
    in_effect = {name.upper() for name, value in environment.items() if value}
    return {
        name: new
        for name, value in environment.items()
        if value
        and name.upper().startswith(_PREFIX)
        and (new := _NEW_PREFIX + name.upper().removeprefix(_PREFIX)) not in in_effect
    }


def existing(path: Path) -> Path:
    """Return a path in the data folder, or the one it had under the former name if only that one exists.

    >>> existing(Path("/nowhere/memorata/memories.db")).as_posix()
    '/nowhere/memorata/memories.db'
    """
    before = path.parent.with_name(_NAME) / path.name
    # Unlike Path.exists, os.path.exists is False, not an error, in a home that may not be read.
    only_before = path.parent.name == _NEW_NAME and not os.path.exists(path) and os.path.exists(before)
    return before if only_before else path


def is_former(path: Path) -> bool:
    """Return whether a path has the former name: its own, or that of the folder it is in."""
    return path.name == CONFIG or path.parent.name == _NAME


def advice(path: Path) -> str:
    """Return what to tell about a settings file, or what is in the data folder, of the former name."""
    new = path.parent.with_name(_NEW_NAME) / path.name
    if path.name == CONFIG:
        new = path.with_name(f"{_NEW_NAME}.toml")
    return f"{path} has the project's former name and is still used; move it to {new}"
