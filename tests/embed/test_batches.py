import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.batches import length_sorted, padded
from memorata.model.errors import InvalidArgument


@given(st.lists(st.integers(0, 600)), st.integers(1, 20), st.integers(1, 2000))
def test_every_text_is_in_one_batch_and_batches_keep_their_bounds(
    lengths: list[int], rows: int, tokens: int
) -> None:
    batches = length_sorted(lengths, rows, tokens)
    assert sorted(int(index) for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert 1 <= len(batch) <= rows
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= tokens
    flat = [lengths[index] for batch in batches for index in batch]
    assert flat == sorted(lengths, reverse=True)


@given(st.lists(st.lists(st.integers(1, 9), max_size=5), min_size=1, max_size=6))
def test_padding_is_told_apart_by_the_mask(rows: list[list[int]]) -> None:
    numbers, mask = padded(rows, padding=0)
    assert numbers.dtype == mask.dtype == np.int64
    assert [[n for n, m in zip(*pair, strict=True) if m] for pair in zip(numbers, mask, strict=True)] == rows
    assert (numbers[mask == 0] == 0).all()


@pytest.mark.parametrize("bounds", [(0, 10), (10, 0), (-1, 1)])
def test_a_batch_holds_something(bounds: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgument):
        length_sorted([1], *bounds)
