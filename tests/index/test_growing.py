import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollect.index.growing import Growing, GrowingColumns


@given(st.lists(st.lists(st.integers(-1000, 1000), max_size=20), max_size=20))
def test_it_holds_what_was_added_in_order(parts: list[list[int]]) -> None:
    rows = Growing(np.int32, ())
    for part in parts:
        rows.extend(np.array(part, np.int32))
    assert rows.view.tolist() == [value for part in parts for value in part]
    assert len(rows) == sum(map(len, parts))


def test_rows_may_have_a_shape() -> None:
    rows = Growing(np.float32, (2,))
    rows.extend(np.array([[1, 2], [3, 4]], np.float32))
    assert rows.view.shape == (2, 2)
    assert rows.nbytes == 16


def test_reserved_room_is_used_without_moving() -> None:
    rows = Growing(np.int32, ())
    rows.reserve(10)
    rows.extend(np.arange(4))
    before = rows.view
    rows.extend(np.arange(6))
    assert np.shares_memory(before, rows.view)
    rows.reserve(3)
    assert rows.view.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 4, 5]


def test_a_view_that_was_taken_before_stays_as_it_was() -> None:
    rows = Growing(np.int32, ())
    rows.extend(np.array([1, 2]))
    taken = rows.view
    rows.extend(np.arange(100))
    assert taken.tolist() == [1, 2]


def test_a_copy_is_independent() -> None:
    rows = Growing(np.int32, ())
    rows.extend(np.array([1, 2]))
    copy = rows.copy()
    copy.view[0] = 7
    copy.extend(np.array([3]))
    assert rows.view.tolist() == [1, 2]
    assert copy.view.tolist() == [7, 2, 3]


@given(st.lists(st.integers(0, 150), max_size=6), st.integers(1, 5))
def test_columns_hold_what_was_added_in_order(sizes: list[int], width: int) -> None:
    rows = np.random.default_rng(0).normal(size=(sum(sizes), width)).astype(np.float32)
    columns = GrowingColumns(width, np.float32)
    start = 0
    for size in sizes:
        columns.extend(rows[start : start + size])
        start += size
    assert len(columns) == len(rows)
    assert columns.view.T.tolist() == rows.tolist()
    query = np.linspace(-1, 1, width, dtype=np.float32)
    np.testing.assert_allclose(columns.product(query), rows @ query, atol=1e-5)


def test_equal_rows_have_equal_products_wherever_they_stand() -> None:
    """The last few of a vector product are often added up in another order than the others."""
    random = np.random.default_rng(1)
    row, query = random.normal(size=(2, 384)).astype(np.float32)
    for count in (1, 15, 16, 17, 101, 1_003):
        columns = GrowingColumns(384, np.float32)
        columns.extend(np.tile(row, (count, 1)))
        assert np.unique(columns.product(query)).size == 1


def test_room_for_columns_is_used_without_moving() -> None:
    columns = GrowingColumns(2, np.int64)
    columns.reserve(20)
    taken = columns.nbytes
    columns.extend(np.ones((3, 2), np.int64))
    before = columns.view
    columns.extend(np.zeros((17, 2), np.int64))
    columns.reserve(5)
    assert np.shares_memory(before, columns.view)
    assert columns.nbytes == taken == 2 * 32 * 8
    columns.extend(np.zeros((200, 2), np.int64))
    assert before.tolist() == [[1, 1, 1], [1, 1, 1]]
