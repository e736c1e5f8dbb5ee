"""What every store promises, as a public test suite.

Subclass it in a test module and give it a fixture called ``store``, empty and of its own for each test::

    class TestMine(StoreConformance):
        @pytest.fixture
        def store(self) -> Iterator[Store]:
            ...

pytest then runs every method that begins with ``test_``. Expectations are exact, ties included, so that two
stores which pass give the same answers. Each subject has a file of its own beside this one.
"""

from __future__ import annotations

from memorata.store.changing_conformance import ChangingConformance
from memorata.store.corrections_conformance import CorrectionsConformance
from memorata.store.embedding_conformance import EmbeddingConformance
from memorata.store.meaning_conformance import MeaningConformance
from memorata.store.memories_conformance import MemoriesConformance
from memorata.store.namespaces_conformance import NamespacesConformance
from memorata.store.repeats_conformance import RepeatsConformance
from memorata.store.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    THERE,
    direction,
    entry,
    found_ids,
    query,
    words,
)
from memorata.store.upkeep_conformance import UpkeepConformance
from memorata.store.words_conformance import WordsConformance

__all__ = [
    "DIMENSION",
    "EMBEDDER",
    "HERE",
    "NOW",
    "THERE",
    "StoreConformance",
    "direction",
    "entry",
    "found_ids",
    "query",
    "words",
]


class StoreConformance(
    MemoriesConformance,
    ChangingConformance,
    CorrectionsConformance,
    WordsConformance,
    MeaningConformance,
    NamespacesConformance,
    UpkeepConformance,
    EmbeddingConformance,
    RepeatsConformance,
):
    """The suite."""
