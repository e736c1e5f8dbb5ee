"""A situation to run parts of a recipe in: a small store, read by words and by hashed words."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import pytest

import recollect
from recollect.engine.namespace_graph import Graphs
from recollect.engine.naming import NameBook
from recollect.engine.situation import Situation
from recollect.engine.words import read_question, words_of
from recollect.text import RuleClassifier

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def situation() -> Iterator[Callable[..., Situation]]:
    """Return a maker of situations: the contents, the question, and anything else to change."""
    with ExitStack() as stack:

        def make(
            contents: list[Any], question: str, relations: Sequence[tuple[str, str, str]] = (), **changes: Any
        ) -> Situation:
            memory = stack.enter_context(recollect.open(":memory:", embedder="lexical", clock=lambda: NOW))
            memory.remember_many(contents, duplicates="off")
            assert memory.embedder is not None
            for source, type_, target in relations:
                memory.relate(source, type_, target)
            graphs = Graphs(memory.store, NameBook(memory.store, None))
            view = stack.enter_context(memory.store.view("default", NOW))
            values: dict[str, Any] = {
                "view": view,
                "question": read_question(question, memory.analyser),
                "classifier": RuleClassifier(),
                "vector": memory.embedder.embed_query(question),
                "least_similarity": memory.embedder.similarity_threshold,
                "noise": memory.embedder.similarity_threshold,
                "now": NOW,
                "period": None,
                "graph": lambda: graphs.at("default", NOW),
                "overview": lambda: memory.store.view("default", NOW),
                "words_of": lambda said: words_of(said, memory.analyser),
            }
            return Situation(**(values | changes))

        yield make
