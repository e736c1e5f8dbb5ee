from contextlib import closing

import numpy as np
import pytest

from memorata.store.dialects import SqliteStore
from memorata.testing.samples import DIMENSION, NOW, direction, entry, pages, query, recalled


def test_an_entry_is_what_it_says() -> None:
    found = entry("a", "Tea tea", tags=("x",))
    assert found.terms == {"content": {"tea": 2}, "tags": {"x": 1}}
    assert found.memory.created_at == NOW
    assert (found.vectors, found.digest) == (None, b"")


def test_equal_texts_have_equal_addresses_once_they_have_vectors() -> None:
    one, other = entry("a", "tea", direction(1)), entry("b", "tea", direction(2))
    assert one.digest == other.digest == b"digest of tea"
    assert one.memory.fingerprint == other.memory.fingerprint


def test_a_direction_has_length_one() -> None:
    found = direction(3, 4)
    assert found.shape == (1, DIMENSION)
    assert float(np.linalg.norm(found)) == pytest.approx(1)


def test_a_query_asks_for_the_content_unless_it_names_fields() -> None:
    assert list(query("tea").lookups()) == [("content", "tea", 1.0)]
    assert list(query("tea", tags=2.0).lookups()) == [("tags", "tea", 2.0)]


def test_pages_and_what_is_recalled_are_those_of_one_namespace() -> None:
    with closing(SqliteStore(":memory:")) as store:
        store.use_embedder("mine", DIMENSION)
        store.add([entry("a", "tea"), entry("b", "milk", direction(1)), entry("c", "tea", namespace="other")])
        assert list(pages(store, 1)) == ["b", "a"]
        assert recalled(store) == (["a"], ["b"])
