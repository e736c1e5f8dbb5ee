"""A store on a file says how it searches."""

from datetime import UTC, datetime

import numpy as np
import pytest

import memorata
from memorata.embed import LexicalEmbedder
from memorata.index.search import BITS, POSTINGS, SCAN, methods, vectors_method
from memorata.index.vectors import Vectors

NOW = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize(("exact", "said"), [(True, SCAN), (False, BITS)])
def test_few_vectors_are_compared_and_of_many_the_sign_bits(exact: bool, said: str) -> None:
    assert vectors_method(Vectors(8, exact=exact)) == said


def test_a_recall_says_what_was_searched_and_how() -> None:
    with memorata.open(":memory:", embedder=LexicalEmbedder(dimension=16)) as memory:
        memory.remember("Anna prefers green tea")
        assert memory.recall("tea").methods == {"vector": SCAN, "lexical": POSTINGS}
        assert memory.recall("tea", recipe={"vector_pool": 0}).methods == {"lexical": POSTINGS}
        assert memory.store.methods() == methods()
        with memory.store.view("default", NOW) as view:
            assert view.status.methods == {}
            view.search(np.zeros(16, np.float32), 1)
            assert view.status.methods == {"vector": SCAN}
