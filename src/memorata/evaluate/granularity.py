"""What a ranking is made of: single turns (or any other documents), or the sessions they were said in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memorata.evaluate.collection import Question
from memorata.model import checks

GRANULARITIES: Final = ("turn", "session")
"""The two a question has labels for; a set without sessions has documents, which are called turns here."""


def gains_of(question: Question, granularity: str) -> Mapping[str, float]:
    """Return the gains of a question's relevant items at one granularity.

    Examples
    --------
    >>> question = Question("q1", "Tea?", relevant={"t-1": 1, "t-2": 1}, relevant_sessions={"s-1": 1})
    >>> gains_of(question, "session")
    {'s-1': 1}
    """
    chosen = checks.one_of("granularity", granularity, GRANULARITIES)
    return question.relevant if chosen == "turn" else question.relevant_sessions
