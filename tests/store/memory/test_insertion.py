"""What a memory goes through before any store writes its row."""

from datetime import UTC, datetime

import numpy as np
import pytest

from memorata.index.record import decoded_terms, unpacked
from memorata.model.errors import DimensionMismatch, InvalidArgument
from memorata.model.memory import Memory, Source
from memorata.store.entries import Entry
from memorata.store.memory.insertion import (
    as_added,
    can_be_cut,
    checked_numbers,
    checked_passages,
    records_of,
)

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def memory(**fields: object) -> Memory:
    return Memory(id="m1", content="tea", created_at=NOW, **fields)  # type: ignore[arg-type]


def test_what_supersedes_a_memory_is_said_by_the_newer_one_alone() -> None:
    assert as_added(memory(superseded_by="m2")).superseded_by is None
    plain = memory()
    assert as_added(plain) is plain


@pytest.mark.parametrize(
    ("name", "field", "limit"),
    [
        ("access_count", "access_count", 2**32),
        ("mentions", "mentions", 2**63),
        ("version", "version", 2**63),
    ],
)
def test_numbers_that_columns_cannot_hold_are_refused(name: str, field: str, limit: int) -> None:
    largest = memory(**{field: limit - 1})
    assert checked_numbers(largest) is largest
    with pytest.raises(InvalidArgument, match=f"{name}.*below {limit}"):
        checked_numbers(memory(**{field: limit}))


def test_vectors_are_rows_of_the_embedders_dimension_and_finite() -> None:
    def count(vectors: object, embedder: tuple[int, int] | None = (1, 2)) -> int:
        return checked_passages(Entry(memory(), {}, vectors, b""), embedder)  # type: ignore[arg-type]

    assert count(None) == 0
    assert count(np.ones((3, 2), np.float32)) == 3
    with pytest.raises(InvalidArgument, match="no embedder"):
        count(np.ones((1, 2), np.float32), None)
    with pytest.raises(DimensionMismatch):
        count(np.ones((1, 3), np.float32))
    with pytest.raises(InvalidArgument, match="finite"):
        count(np.array([[np.nan, 1]], np.float32))


def test_a_record_has_the_lengths_the_session_and_the_number_of_vectors() -> None:
    said = [memory(source=Source(session="s")), memory()]
    batch = [Entry(each, {"content": {"tea": 2, "cup": 1}}, None, b"") for each in said]
    derived = records_of(said, batch, [1, 0], {"s": 7}, waiting=True)
    assert [decoded_terms(terms) for _, terms in derived] == [entry.terms for entry in batch]
    records = unpacked([record for record, _ in derived])
    assert records["session"].tolist() == [7, -1]
    assert records["vectors"].tolist() == [1, 0]
    assert records["lengths"][:, 0].tolist() == [3, 3]


def test_values_of_one_length_can_be_cut_apart_again() -> None:
    assert can_be_cut([b"tea", b"rum"])
    assert not can_be_cut([b"tea", b"milk"])
    assert not can_be_cut([b"", b""])
