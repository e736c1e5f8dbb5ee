"""What a run of a recipe has to work with, and what each step hands to the next."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from memorata._frozen import frozen
from memorata.embed.port import Reranker, Vectors
from memorata.engine.lifecycle.rules import DEFAULT_RULES, LifecycleRules
from memorata.engine.recall.query import ParsedQuery
from memorata.model.checks import FloatArray
from memorata.model.explanation import Explanation
from memorata.model.memory import Memory
from memorata.model.period import Period
from memorata.model.place import Place
from memorata.store.port import Terms, View
from memorata.text.queries import QueryClassifier

if TYPE_CHECKING:
    from memorata.engine.graph.namespace_graph import NamespaceGraph

Explain: TypeAlias = Callable[[int], Explanation]
"""Tells why the candidate at a position has its score after a step."""

Step: TypeAlias = tuple[FloatArray, Explain]
"""New scores, and why."""


@frozen(eq=False)
class RecallContext:
    """What a run needs besides the recipe: the view, the question and the moment.

    `least_similarity` is the cosine that passes the gate by itself; `noise` the cosine up to which texts are
    likely unrelated, as the embedder was calibrated. `about_time` says that the period is what was asked for,
    and not one detail of the question among others; `here` is the place to look around.
    `graph` returns the graph of the namespace; building it may take seconds, so only legs that need it ask.
    `overview` opens a view of all that is in the graph, whatever this question is restricted to.
    `life` tells how sure a memory is by now; `terms_of` reads its words.
    `failures` takes up what a step could not do, in words; it then leaves everything as it was.
    """

    view: View
    query: ParsedQuery
    classifier: QueryClassifier
    vector: Vectors | None
    least_similarity: float
    noise: float
    now: datetime
    period: Period | None
    about_time: bool = False
    here: Place | None = None
    reranker: Reranker | None = None
    graph: Callable[[], NamespaceGraph] | None = None
    overview: Callable[[], AbstractContextManager[View]] | None = None
    life: LifecycleRules = DEFAULT_RULES
    terms_of: Callable[[Memory], Terms] | None = None
    failures: list[str] = field(default_factory=list)
