"""Reading a text together with what was said around it.

"Yes, last summer, with Tom" answers a question whose words stand in the turn before. So each text is read as
a window: its own words, and those of its neighbours in the session at a discount. BM25 then saturates over
the whole window (Robertson, Zaragoza & Taylor's BM25F, 2004, with neighbours as the fields), so that a word
said twice in two turns does not count twice. Only words are read so; the meaning of a turn stays its own,
since embedding neighbours together blurs both.

The discount is the smaller the longer a text is (a long text speaks for itself) and the longer the pause was
between it and its neighbour.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

REACH: Final = 2
"""How many neighbours on either side are read."""

STEPS: Final = (-1, -2, 1, 2)
"""The neighbours in the order every function here takes them: before, the one before that, after, …"""


@frozen
class Reading:
    """How much of what was said around a text is read with it.

    Parameters
    ----------
    before, after
        The weight of the neighbour before and after; the next but one has the square of it.
    words
        The length up to which a text leans fully on its neighbours; beyond, in inverse proportion.
    hours
        The pause that halves a neighbour's weight.

    Examples
    --------
    >>> Reading(before=0.5).weights([10.0, 60.0], np.zeros((4, 2))).round(3)[:2]
    array([[0.5  , 0.25 ],
           [0.25 , 0.125]])
    """

    before: Annotated[float, Declared("Weight of the words said just before.", 0, 1)] = 0.7
    after: Annotated[float, Declared("Weight of the words said just after.", 0, 1)] = 0.3
    words: Annotated[float, Declared("Length up to which a text leans on its neighbours.", 1, 1000)] = 30.0
    hours: Annotated[float, Declared("The pause that halves a neighbour's weight.", 0.01, 1000)] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", checks.probability("before", self.before))
        object.__setattr__(self, "after", checks.probability("after", self.after))
        object.__setattr__(self, "words", checks.at_least("words", self.words, 1))
        object.__setattr__(self, "hours", checks.above("hours", self.hours, 0))

    @property
    def bases(self) -> tuple[float, ...]:
        """The weight of each neighbour of `STEPS`, before lengths and pauses."""
        return tuple(_bases(self.before, self.after)[:, 0].tolist())

    def weights(self, lengths: Numbers, pauses: npt.ArrayLike) -> FloatArray:
        """Return the weight of each neighbour: ``base · min(1, words/length) · 0.5^(pause/hours)``.

        Parameters
        ----------
        lengths
            The number of terms of each text.
        pauses
            Hours between each text and its neighbours, a row per step; infinite where there is none.
        """
        length = checks.counts("lengths", lengths)
        pause = np.asarray(pauses, np.float64)
        if pause.shape != (len(STEPS), length.size) or np.isnan(pause).any() or (pause < 0).any():
            raise InvalidArgument(
                "pauses", pauses, f"hours of at least 0, {len(STEPS)} rows, a column per text"
            )
        return self.weigh(length, pause)

    def weigh(self, lengths: FloatArray, pauses: FloatArray) -> FloatArray:
        """Do the work of :meth:`weights` on values that are known to be good."""
        lean = np.minimum(1.0, self.words / np.maximum(lengths, 1.0))
        result: FloatArray = _bases(self.before, self.after) * lean * np.exp2(-pauses / self.hours)
        return result


def window_bm25(
    frequencies: npt.ArrayLike,
    lengths: npt.ArrayLike,
    weights: npt.ArrayLike,
    scales: Numbers,
    *,
    average_length: float,
    k1: float,
    b: float,
) -> FloatArray:
    """Return what each term adds to each text when it is read with its neighbours.

    With ``x = tf + Σ w·tf_neighbour`` and ``L = len + Σ w·len_neighbour``, a term adds
    ``scale · x·(k1+1) / (x + k1·(1 - b + b·L/Lavg))``, where `Lavg` is the average length times the mean of
    ``1 + Σ w`` over the texts. Without neighbours it is BM25, to the last bit.

    Parameters
    ----------
    frequencies
        How often each term occurs, of shape (terms, 1 + neighbours, texts): in the text, then its neighbours.
    lengths
        The lengths, of shape (1 + neighbours, texts); 0 for a neighbour that is not there.
    weights
        The weight of each neighbour, of shape (neighbours, texts); 0 for one that is not there.
    scales
        The idf of each term times the weight it has in the question.
    average_length
        The mean length over the whole collection, above 0.
    k1, b
        BM25's parameters.

    Examples
    --------
    A text without the term, after one that has it:

    >>> window_bm25([[[0.0], [1.0]]], [[5.0], [5.0]], [[0.5]], [2.0], average_length=5.0, k1=1.0, b=0.0)
    array([[1.33333333]])
    """
    tf, size = np.asarray(frequencies, np.float64), np.asarray(lengths, np.float64)
    weight, scale = np.asarray(weights, np.float64), np.asarray(scales, np.float64)
    if tf.ndim != 3 or size.shape != tf.shape[1:] or weight.shape != (tf.shape[1] - 1, tf.shape[2]):
        raise InvalidArgument(
            "frequencies", tf.shape, "of shape (terms, 1 + neighbours, texts), like lengths and weights"
        )
    if scale.shape != tf.shape[:1]:
        raise InvalidArgument("scales", scale.shape, "one for each term")
    for name, values in (("frequencies", tf), ("lengths", size), ("weights", weight), ("scales", scale)):
        if not np.isfinite(values).all() or (values < 0).any():
            raise InvalidArgument(name, values, "finite numbers of at least 0")
    average = checks.above("average_length", average_length, 0)
    others = [tf[:, neighbour] for neighbour in range(1, tf.shape[1])]
    return windows(
        tf[:, 0],
        others,
        size[0],
        size[1:],
        weight,
        scale,
        average,
        checks.at_least("k1", k1, 0),
        checks.probability("b", b),
    )


def windows(
    own: FloatArray,
    others: Iterable[FloatArray],
    lengths: FloatArray,
    other_lengths: npt.NDArray[np.floating[Any]],
    weights: FloatArray,
    scales: FloatArray,
    average_length: float,
    k1: float,
    b: float,
) -> FloatArray:
    """Do the work of :func:`window_bm25` on values that are known to be good.

    Texts and neighbours come apart: first the frequencies of either, then the lengths of either. What is said
    of a neighbour of weight 0 makes no difference.
    """
    together, length, average = own, lengths, average_length
    if weights.size:
        around = np.zeros(own.shape)
        for weight, tf in zip(weights, others, strict=True):
            around += weight * tf
        together = own + around
        length = lengths + (weights * other_lengths).sum(axis=0)
        average = average_length * (1.0 + float(weights.sum(axis=0).mean()))
    room = k1 * (1 - b + b * (length / average))
    gained: FloatArray = together * (k1 + 1)
    # A term that does not occur adds nothing, also where there is no room and the fraction would be 0/0.
    np.divide(gained, together + room, out=gained, where=True if k1 * (1 - b) > 0 else together > 0)
    gained *= scales[:, np.newaxis]
    return gained


@lru_cache(maxsize=64)
def _bases(before: float, after: float) -> FloatArray:
    """Return the weight of each neighbour of `STEPS` as a column."""
    column = np.array([[(before if step < 0 else after) ** abs(step)] for step in STEPS])
    column.flags.writeable = False
    return column
