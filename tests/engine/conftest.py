"""A situation to run parts of a recipe in, and an embedding service that comes and goes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest

import memorata
from memorata.engine.graph import Graphs
from memorata.engine.recall.query import RecallContext, parse_query
from memorata.engine.write.names import NameIndex
from memorata.engine.write.terms import terms_of
from memorata.text import RuleClassifier

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
            assert memory.embedder is not None
            for source, type_, target in relations:
                memory.entities.relate(source, type_, target)
            graphs = Graphs(memory.store, NameIndex(memory.store, None))
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
                "graph": lambda: graphs.at("default", NOW),
                "overview": lambda: memory.store.view("default", NOW),
                "terms_of": lambda said: terms_of(said, memory.analyser),
            }
            return RecallContext(**(values | changes))

        yield make
