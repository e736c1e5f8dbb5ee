"""A situation to run parts of a recipe in, and an embedding service that comes and goes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest

import memorata
from memorata.engine.recall.query import RecallContext, parse_query
from memorata.text import RuleClassifier
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def context() -> Iterator[Callable[..., RecallContext]]:
    """Return a maker of recall contexts: the contents, the query, and anything else to change."""
    with ExitStack() as stack:

        def make(
            contents: list[Any], question: str, relations: Sequence[tuple[str, str, str]] = (), **changes: Any
        ) -> RecallContext:
            memory = stack.enter_context(memorata.open(":memory:", embedder="lexical", clock=lambda: NOW))
            memory.remember_many(contents, duplicates="off")
            for relation in relations:
                Graph(memory).entities.relate(*relation)
            assert memory.embedder is not None
            view = stack.enter_context(memory.store.view("default", NOW))
            values: dict[str, Any] = {
                "view": view,
                "query": parse_query(question, memory.analyser),
                "classifier": RuleClassifier(),
                "vector": memory.embedder.embed_query(question),
                "least_similarity": memory.embedder.similarity_threshold,
                "noise": memory.embedder.similarity_threshold,
                "now": NOW,
                "period": None,
                "runtime": memory.runtime,
                "namespace": "default",
            }
            return RecallContext(**(values | changes))

        yield make
