import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memorata.index.growing import Growing


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
