"""What a re-ranker is: something that reads a question and a text together and says how well they fit.

A cross-encoder (Nogueira and Cho, "Passage re-ranking with BERT", 2019) sees both at once, which is slow and
sharp; the engine shows it a few candidates and blends its opinion with the first stage's, because alone it
can demote terse facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt


@runtime_checkable
class Reranker(Protocol):
    """Scores texts for a question; higher is better, the scale is its own."""

    @property
    def name(self) -> str:
        """What explanations call it."""
        ...

    def score(self, question: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return one finite number per text."""
        ...
