"""What a store keeps of past recalls: what was asked, every candidate with its numbers, and what came of it.

A logged recall holds what a ranking was made of, so that past questions can be ranked again under other
settings without searching (:mod:`memorata.learn.replay`). Candidates are known by slot while they are
written and by id when they are read; one that was purged since is not among them.

What was learnt from all this (a recipe, a calibration, a decision) is a *lesson*: a version of something that
has a name, with its evidence. The last version that was not withdrawn is the one that holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument
from memorata.model.feedback import Feedback
from memorata.text.gazetteer import may_mention

Singles = npt.NDArray[np.float32]
LIMIT: Final = 100_000
MEGABYTES: Final = 100
"""How many recalls, and how many megabytes of them, are kept unless settings say otherwise."""


@frozen(eq=False)
class LoggedRecall:
    """One recall as it was.

    Attributes
    ----------
    id, namespace, at
        Which one, whose, and when it was asked.
    query
        The question; None where settings say that it is not to be kept.
    recipe
        Every parameter it was made with, as plain data.
    embedder
        The embedder whose vectors were compared; empty when none was.
    situation
        What else the ranking depended on: thresholds, the ceiling of words, the period asked for.
    milliseconds
        How long each step took.
    columns, values
        What is known of the candidates: a name for each column, a row for each candidate, NaN for nothing.
    slots
        The candidates, in the order of the ranking: those that passed, then the others by score.
    shown
        The positions of those that were shown, in the order in which they were.
    ids
        The candidates by id, once the recall is read back.
    seen
        The last change of its namespace that it saw, until it is written; None if nobody knows.
    """

    id: str
    namespace: str
    at: datetime
    query: str | None
    recipe: Mapping[str, Any]
    embedder: str
    situation: Mapping[str, Any]
    milliseconds: Mapping[str, float]
    columns: tuple[str, ...]
    values: Singles
    slots: IntArray
    shown: tuple[int, ...]
    ids: tuple[str, ...] = ()
    seen: int | None = None

    def column(self, name: str) -> Singles:
        """Return one column; NaN for each candidate if nothing is known of any."""
        if name not in self.columns:
            return np.full(len(self.values), np.nan, np.float32)
        return np.asarray(self.values[:, self.columns.index(name)])

    def of(self, memory_id: str) -> dict[str, float]:
        """Return what is known of one candidate, by column."""
        if memory_id not in self.ids:
            raise InvalidArgument("memory_id", memory_id, f"a memory that the recall {self.id} found")
        row = self.values[self.ids.index(memory_id)].tolist()
        return {name: value for name, value in zip(self.columns, row, strict=True) if value == value}


@frozen
class LogBounds:
    """How much of the log is kept; the oldest goes first."""

    recalls: int = LIMIT
    megabytes: int = MEGABYTES

    def __post_init__(self) -> None:
        checks.whole("recalls", self.recalls, 1)
        checks.whole("megabytes", self.megabytes, 1)


@frozen
class Reaction:
    """What somebody said about a hit, and what was known of the hit when it was shown.

    Attributes
    ----------
    feedback
        What was said.
    features
        By column, as logged; empty for a hit that was drafted in from another ranking.
    embedder
        The embedder its similarity is of.
    """

    feedback: Feedback
    features: Mapping[str, float]
    embedder: str = ""


@frozen
class Lesson:
    """A version of something that was learnt.

    Attributes
    ----------
    number
        Its number in the store; later ones are higher.
    kind, name
        What it is, and which: ("recipe", "tuned"), say.
    data
        What was learnt, as plain data.
    evidence
        The numbers that speak for it.
    at
        When.
    withdrawn_at
        Since when it holds no more; None while it does.
    """

    number: int
    kind: str
    name: str
    data: Mapping[str, Any]
    evidence: Mapping[str, Any]
    at: datetime
    withdrawn_at: datetime | None = None


@frozen
class Sighting:
    """That somebody saw a variant of an experiment.

    Attributes
    ----------
    namespace, experiment, variant, user
        Which, and who.
    recall_id, at, results
        The recall, when it was, and how many results it had.
    teams
        For two rankings in one list: by memory, whose it was (1, -1, or 0 for neither).
    """

    namespace: str
    experiment: str
    variant: str
    user: str
    recall_id: str
    at: datetime
    results: int
    teams: Mapping[str, int] = field(default_factory=dict, hash=False)


def may_mean(user: str, names: Collection[str]) -> bool:
    """Return whether whoever took part in an experiment may be somebody: names of accounts are spelt freely.

    Parameters
    ----------
    user
        What the one was called in the experiment.
    names
        What the somebody is called, spelt in any way.

    Examples
    --------
    >>> [may_mean(user, ["Anna Berg"]) for user in ("anna_berg", "a.berg@acme.example", "annabel", "")]
    [True, True, False, False]
    >>> may_mean("user_4711", ["Anna Berg", "user_4711"])
    True
    """
    return may_mention(user.replace("_", " "), [name.replace("_", " ") for name in names])
