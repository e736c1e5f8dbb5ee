"""Checks of nodes, directions and edge types.

Nodes are whole numbers from 0 and below the graph's node count. An unknown one raises here, so that no
algorithm wraps around to the last row on -1 or reads past the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument

Nodes: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
"""Node numbers: a list, a tuple or a one-dimensional array of whole numbers."""
DIRECTIONS = ("out", "in", "both")
"""Whether edges are followed from source to target, backwards, or either way."""


def whole_numbers(argument: str, values: object, below: int, what: str) -> IntArray:
    """Return a flat array of whole numbers from 0 and below `below`; fractions, flags and text are refused.

    >>> whole_numbers("nodes", [0, 7], 5, "nodes")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: nodes[1] must be one of the 5 nodes (0 to 4), got 7
    """
    expected = f"a flat list of {what} (whole numbers from 0)"
    if isinstance(values, str | bytes):
        raise InvalidArgument(argument, values, expected)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidArgument(argument, values, expected) from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidArgument(argument, values, expected)
    if array.size and (array.min() < 0 or array.max() >= below):
        bad = int(np.flatnonzero((array < 0) | (array >= below))[0])
        raise InvalidArgument(f"{argument}[{bad}]", array[bad].item(), _one_of(below, what))
    return array.astype(np.intp, copy=False)


def node(argument: str, value: object, count: int) -> int:
    """Return one node of a graph of `count` nodes."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 0 <= value < count:
        raise InvalidArgument(argument, value, _one_of(count, "nodes"))
    return int(value)


def distinct_nodes(argument: str, values: object, count: int) -> IntArray:
    """Return nodes of a graph of `count` nodes, none of them twice."""
    array = whole_numbers(argument, values, count, "nodes")
    if array.size > 1:
        ordered = np.sort(array)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if twice.size:
            raise InvalidArgument(argument, int(ordered[twice[0]]), "nodes that are named once each")
    return array


def type_numbers(argument: str, values: Sequence[str] | None, names: Sequence[str]) -> IntArray | None:
    """Return the numbers of the named edge types; None, for all of them, stays None."""
    if values is None:
        return None
    chosen = checks.texts(argument, values)
    for index, name in enumerate(chosen):
        checks.one_of(f"{argument}[{index}]", name, names)
    return np.array([names.index(name) for name in chosen], dtype=np.intp)


def _one_of(count: int, what: str) -> str:
    return f"one of the {count} {what} (0 to {count - 1})" if count else f"nothing, for there are no {what}"
