"""What a search returns: memories with their scores, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.explanation import Explanation
from memorata.model.memory import Memory


@frozen
class Hit:
    """A memory that answers, its score, and why.

    Parameters
    ----------
    memory
        The memory.
    score
        The number the hits are ordered by, relative to the other candidates of the query.
    explain
        Makes the explanation; called on demand, since most hits are never explained.
    estimate
        Gives the confidence; called on demand. None where it is not known.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> tea = Memory(id="m1", content="I prefer tea.", created_at=datetime(2026, 5, 7, tzinfo=UTC))
    >>> hit = Hit(tea, 0.5, lambda: Explanation.leaf("vector", 0.5))
    >>> print(hit.content, hit.explanation)
    I prefer tea. 0.5 vector
    """

    memory: Memory
    score: float
    explain: Callable[[], Explanation] = field(repr=False, compare=False)
    estimate: Callable[[], float] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.memory, Memory):
            raise InvalidArgument("memory", self.memory, "a Memory")
        score = checks.number("score", self.score)
        if score is not self.score:
            object.__setattr__(self, "score", score)

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def content(self) -> str:
        """The text of the memory."""
        return self.memory.content

    @property
    def confidence(self) -> float:
        """How likely it answers the query, from 0 to 1, calibrated; 0 where it is not known.

        Unlike the score it can be compared between queries, stores and embedders.
        """
        return 0.0 if self.estimate is None else self.estimate()

    @property
    def reason(self) -> str:
        """Why it is here, in one plain sentence: how it was found, its speaker, and its time."""
        how = next((node.note for node in self.explanation.walk() if node.note.startswith("found ")), "found")
        speaker = f"said by {self.memory.source.speaker}, " if self.memory.source.speaker else ""
        return f"F{how[1:]}; {speaker}{self.memory.event_time.date()}."

    @property
    def explanation(self) -> Explanation:
        """Why the score is what it is; its value is the score to the last bit, or this raises."""
        why = self.explain()
        if why.value != self.score:
            raise InvalidArgument("explanation", why.value, f"of the score it explains, {self.score!r}")
        return why
