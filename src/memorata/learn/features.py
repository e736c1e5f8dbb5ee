r"""What a logged recall keeps of its candidates, and ranking them again without searching.

A candidate is a row and each thing known about it when it was shown is a named column: the scores and ranks
of the legs, confidence, quality, nearness in time, whatever a recipe looked at. NaN says "nothing known", as
for a memory that a leg did not find. Nothing here knows which columns there are, so a new leg is a new name.

Ranking again is a weighted sum, :math:`s_i = \sum_f w_f \, n(x_{if})`, with each column scaled per question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument

SCALES: Final = ("none", "min_max", "max")
"""How a column is scaled within a question: not at all, from its least to its most, or by its most."""


@frozen(eq=False)
class Features:
    """The candidates of one recall, in the order they were shown.

    Parameters
    ----------
    recall_id
        Which recall it was.
    ids
        The candidates, each once.
    columns
        By name, one number per candidate; NaN where nothing is known.
    group
        What the recall has in common with others (a conversation, a namespace); itself by default.

    Examples
    --------
    >>> nan = float("nan")
    >>> logged = Features("r1", ["a", "b"], {"meaning": [0.9, 0.5], "words": [nan, 7.0]})
    >>> logged.names, logged.column("words").tolist()
    (('meaning', 'words'), [nan, 7.0])
    """

    recall_id: str
    ids: Sequence[str]
    columns: Mapping[str, Sequence[float] | npt.NDArray[np.floating[Any]]]
    group: str = ""
    matrix: FloatArray = field(init=False, repr=False)
    """A row for each candidate, a column for each name."""

    def __post_init__(self) -> None:
        checks.text("recall_id", self.recall_id)
        names = checks.texts("ids", self.ids)
        if len(set(names)) < len(names):
            place = next(place for place, item in enumerate(names) if item in names[:place])
            raise InvalidArgument(f"ids[{place}]", names[place], "a candidate that did not occur before")
        if not isinstance(self.columns, Mapping) or not checks.texts("columns", self.columns):
            raise InvalidArgument("columns", self.columns, "numbers by the name of at least one column")
        values = {name: _column(name, given) for name, given in self.columns.items()}
        checks.same_length(ids=names, **{f"columns[{name!r}]": each for name, each in values.items()})
        matrix = np.stack(list(values.values()), axis=1)
        object.__setattr__(self, "ids", names)
        object.__setattr__(self, "group", checks.text("group", self.group) or self.recall_id)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "columns", {name: matrix[:, place] for place, name in enumerate(values)})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def column(self, name: str) -> FloatArray:
        """Return one column; an unknown name is an error."""
        return np.asarray(self.columns[checks.one_of("name", name, self.names)])


def rescored(features: Features, weights: Mapping[str, float], *, scale: str = "min_max") -> FloatArray:
    """Return the score each candidate has under other weights.

    Parameters
    ----------
    features
        The candidates as they were logged.
    weights
        By column; a column without one counts nothing. Weights may be negative, as for an age.
    scale
        One of :data:`SCALES`. What is not known counts 0 after scaling, like the last of the column.

    Examples
    --------
    >>> logged = Features("r1", ["a", "b"], {"meaning": [0.9, 0.5], "words": [float("nan"), 7.0]})
    >>> rescored(logged, {"meaning": 0.4, "words": 0.6})
    array([0.4, 0.6])
    """
    vector = weight_vector(weights, features.names)
    bounds = np.array([0, len(features.ids)])
    with checks.finite_arithmetic("weights", dict(weights)):
        result: FloatArray = scaled_columns(features.matrix, bounds, scale) @ vector
    return result


def reranked(features: Features, weights: Mapping[str, float], *, scale: str = "min_max") -> tuple[str, ...]:
    """Return the candidates as they would stand under other weights; equal scores keep the logged order.

    Examples
    --------
    >>> logged = Features("r1", ["a", "b"], {"meaning": [0.9, 0.5], "words": [float("nan"), 7.0]})
    >>> reranked(logged, {"meaning": 0.4, "words": 0.6})
    ('b', 'a')
    """
    order = (-rescored(features, weights, scale=scale)).argsort(kind="stable")
    return tuple(features.ids[place] for place in order.tolist())


def weight_vector(weights: Mapping[str, float], names: Sequence[str]) -> FloatArray:
    """Return the weight of each named column, 0 for those that have none; an unknown name is an error.

    Examples
    --------
    >>> weight_vector({"words": 0.6}, ["meaning", "words"])
    array([0. , 0.6])
    """
    if not isinstance(weights, Mapping):
        raise InvalidArgument("weights", weights, "a mapping of columns to weights")
    for name in weights:
        checks.one_of("weights", name, names)
    return np.array([checks.number(f"weights[{name!r}]", weights.get(name, 0.0)) for name in names])


def scaled_columns(matrix: FloatArray, bounds: IntArray, scale: str) -> FloatArray:
    """Return each column scaled within each question, and 0 for what is not known.

    Parameters
    ----------
    matrix
        A row per candidate, NaN for what is not known; the candidates of a question are neighbours.
    bounds
        Where each question starts, and behind it where the last one ends.
    scale
        One of :data:`SCALES`; a column whose known values are equal gives 1 for them under ``min_max``.

    Examples
    --------
    >>> scaled_columns(np.array([[2.0], [4.0], [np.nan], [7.0]]), np.array([0, 2, 4]), "min_max").ravel()
    array([0., 1., 0., 1.])
    """
    checks.one_of("scale", scale, SCALES)
    known = np.isfinite(matrix)
    if scale == "none" or not len(matrix):
        return np.where(known, matrix, 0.0)
    sizes = np.diff(bounds)
    starts = bounds[:-1][sizes > 0]
    spread = np.repeat(np.arange(starts.size), sizes[sizes > 0])
    most = np.maximum.reduceat(np.where(known, matrix, -np.inf), starts)[spread]
    with np.errstate(invalid="ignore", over="ignore"):
        if scale == "max":
            result = np.divide(matrix, most, out=np.zeros_like(matrix), where=known & (most > 0))
        else:
            least = np.minimum.reduceat(np.where(known, matrix, np.inf), starts)[spread]
            width = most - least
            if not np.isfinite(width[known]).all():
                raise InvalidArgument(
                    "columns", float(np.nanmax(matrix)), "values whose range float64 can hold"
                )
            result = np.divide(matrix - least, width, out=known.astype(np.float64), where=known & (width > 0))
    return result


def _column(name: str, given: object) -> FloatArray:
    """Return a column, in which NaN may stand and infinity may not."""
    try:
        array = np.asarray(given)
    except (ValueError, TypeError) as error:
        raise InvalidArgument(f"columns[{name!r}]", given, "a flat list of numbers") from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "fiu"):
        raise InvalidArgument(f"columns[{name!r}]", given, "a flat list of numbers")
    values = array.astype(np.float64)
    endless = np.flatnonzero(np.isinf(values))
    if endless.size:
        place = int(endless[0])
        raise InvalidArgument(f"columns[{name!r}][{place}]", float(values[place]), "a finite number, or NaN")
    return values
