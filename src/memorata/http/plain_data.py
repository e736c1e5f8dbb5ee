"""Whatever the engine answers with, as data that JSON can hold: no memory in it is shown but by its id."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

import numpy as np

from memorata.model.memory import Memory


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return a result as plain data: dataclasses as objects, a number that is none as null.

    Examples
    --------
    >>> from memorata.model.place import Place
    >>> plain({"at": (Place(1.0, 2.0),), "p": float("nan")})
    {'at': [{'lat': 1.0, 'lon': 2.0, 'name': ''}], 'p': None}
    """
    if isinstance(value, Memory):
        return value.id
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Set):
        return sorted(plain(each) for each in value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} has no plain form")
