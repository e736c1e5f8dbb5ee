"""The values that pass between the engine and the store (:mod:`memorata.store.store`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.checks import FloatArray, IntArray
from memorata.model.memory import Memory

if TYPE_CHECKING:
    from memorata.rank.combination import Combination

Floats = npt.NDArray[np.float32]
Progress = Callable[[str, int, int], None]
"""Told what is being done, how far it is, and how much there is."""
Terms = Mapping[str, Mapping[str, int]]
"""The words of a memory: by field, each term and how often it occurs."""


@frozen(eq=False)
class Entry:
    """A memory to be added, with everything derived from it.

    Parameters
    ----------
    memory
        The memory; its fingerprint set.
    terms
        Its analysed words.
    vectors
        One row per passage, of the store's embedder; None when they could not be computed yet.
    digest
        The address of the embedded text, so that the same text is embedded once.
    """

    memory: Memory
    terms: Terms
    vectors: Floats | None = None
    digest: bytes = b""


@frozen
class Hidden:
    """Since when a memory has been hidden: forgotten, or superseded, or both.

    Attributes
    ----------
    memory_id
        Which one.
    forgotten_at, superseded_at
        Since when; None if it was not.
    end_given
        Whether its `valid_to` was given by what superseded it, so that nobody knew of it before; False for an
        end of its own, or none. None where it is not superseded, or nobody says.
    repeat
        How it repeats what superseded it, as the note about that says (:attr:`Repeat.kind`); None without
        one.
    """

    memory_id: str
    forgotten_at: datetime | None
    superseded_at: datetime | None
    end_given: bool | None = None
    repeat: str | None = None


@frozen
class Change:
    """One entry of the change feed; `memory_id` is empty for what is about entities."""

    number: int
    namespace: str
    memory_id: str
    kind: str


@frozen
class Page:
    """Some memories of a listing, and where it goes on; `cursor` is None at the end."""

    memories: tuple[Memory, ...]
    cursor: str | None


@frozen(eq=False)
class Found:
    """What a leg found.

    Attributes
    ----------
    slots, scores
        The memories, best first, and their scores.
    detail
        Given slots, tells what each term in each field added to their scores; None for a leg without terms.
        It can be asked after the view is closed.
    ceiling
        The score of an average text that has every known term of the question once; 0 for a leg without.
    exact
        Whether every memory that could have been found was compared, so that no other has a higher score.
    """

    slots: IntArray
    scores: FloatArray
    detail: Callable[[IntArray], Combination] | None = None
    ceiling: float = 0.0
    exact: bool = False


NOTHING: Final = Found(np.zeros(0, np.intp), np.zeros(0))
"""What a leg finds that has nothing to look for, or nowhere to start from."""
