"""What a search finds: candidates on the way, hits at the end."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.model import checks
from recollect.model.errors import InvalidArgument
from recollect.model.explanation import Explanation
from recollect.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory as one leg of the search found it: at which rank (from 0) and with which score."""

    id: str
    leg: str
    rank: int
    score: float

    def __post_init__(self) -> None:
        checks.text("id", self.id)
        checks.text("leg", self.leg)
        checks.whole("rank", self.rank)
        object.__setattr__(self, "score", checks.number("score", self.score))


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, its score, and why.

    The score is the explanation's value, so the two can never disagree.
    """

    memory: Memory
    explanation: Explanation

    def __post_init__(self) -> None:
        if not isinstance(self.memory, Memory):
            raise InvalidArgument("memory", self.memory, "a Memory")
        if not isinstance(self.explanation, Explanation):
            raise InvalidArgument("explanation", self.explanation, "an Explanation")

    @property
    def score(self) -> float:
        """The number the hits are ordered by."""
        return self.explanation.value
