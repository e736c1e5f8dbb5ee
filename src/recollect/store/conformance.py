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

from recollect.store.access_conformance import AccessConformance
from recollect.store.changing_conformance import ChangingConformance
from recollect.store.corrections_conformance import CorrectionsConformance
from recollect.store.embedding_conformance import EmbeddingConformance
from recollect.store.learning_conformance import LearningConformance
from recollect.store.leases_conformance import LeasesConformance
from recollect.store.meaning_conformance import MeaningConformance
from recollect.store.memories_conformance import MemoriesConformance
from recollect.store.namespaces_conformance import NamespacesConformance
from recollect.store.naming_conformance import NamingConformance
from recollect.store.repeats_conformance import RepeatsConformance
from recollect.store.samples import (
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
from recollect.store.upkeep_conformance import UpkeepConformance
from recollect.store.words_conformance import WordsConformance

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
    LearningConformance,
    NamingConformance,
    AccessConformance,
    EmbeddingConformance,
    RepeatsConformance,
    LeasesConformance,
):
    """The suite."""
