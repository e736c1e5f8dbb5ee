"""A logged recall is plain data, checks its arguments, and comes back from its blob to the bit."""

import json
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memorata.model.errors import InvalidArgument
from memorata.store.logged_recall import (
    LogBounds,
    LoggedRecall,
    encoded,
    features_at,
    kept_rows,
    unpacked,
    without,
)

NOW = datetime(2026, 5, 7, tzinfo=UTC)
NAN = float("nan")


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(0, 5), st.just(3)),
        elements=st.floats(width=32, allow_infinity=False) | st.sampled_from([0.5, 0.25]),
    )
)
def test_numbers_come_back_to_the_bit_and_columns_by_name(values: npt.NDArray[np.float32]) -> None:
    slots = np.arange(len(values))[::-1]
    head, blob = encoded(slots, ["a", "b", "c"], values, {"ceiling": 2.0}, {})
    found, columns, table = unpacked(json.loads(head), blob)
    assert found.tolist() == slots.tolist()
    assert json.loads(head)["situation"] == {"ceiling": 2.0}
    for at, name in enumerate(("a", "b", "c")):
        np.testing.assert_array_equal(table[:, columns.index(name)], values[:, at])


def test_what_is_the_same_for_all_is_written_once() -> None:
    same = np.full((1_000, 1), 0.5, np.float32)
    _, blob = encoded(np.arange(1_000), ["confidence"], same, {}, {})
    assert len(blob) == 4 * 1_000


def test_what_is_gone_leaves_the_others_in_their_order() -> None:
    slots, values = np.array([5, 6, 7]), np.array([[1.0], [2.0], [3.0]], np.float32)
    kept = np.array([True, False, True])
    left, numbers, shown = kept_rows(slots, values, (2, 1, 0), kept)
    assert (left.tolist(), numbers.tolist(), shown) == ([5, 7], [[1.0], [3.0]], (1, 0))
    entry = LoggedRecall("r", "n", NOW, None, {}, "", {}, {}, ("lexical",), values, slots, (2, 1, 0))
    assert without(entry, kept).slots.tolist() == [5, 7]
    assert without(entry, np.ones(3, np.bool_)) is entry


def recall() -> LoggedRecall:
    values = np.array([[0.5, NAN], [0.25, 3.0]], np.float32)
    slots = np.array([4, 7])
    return LoggedRecall(
        "r", "n", NOW, None, {}, "", {}, {}, ("vector", "lexical"), values, slots, (0,), ("a", "b")
    )


def test_a_column_and_a_row_by_name() -> None:
    assert recall().column("vector").tolist() == [0.5, 0.25]
    assert np.isnan(recall().column("place")).tolist() == [True, True]
    assert recall().of("a") == {"vector": 0.5}
    assert recall().of("b") == {"vector": 0.25, "lexical": 3.0}
    with pytest.raises(InvalidArgument, match="memory_id must be a memory that the recall r found, got 'c'"):
        recall().of("c")


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_bounds_are_whole_numbers_above_zero(bad: int) -> None:
    with pytest.raises(InvalidArgument, match="recalls"):
        LogBounds(recalls=bad)
    with pytest.raises(InvalidArgument, match="megabytes"):
        LogBounds(megabytes=bad)


def test_features_that_are_missing_are_left_out() -> None:
    values = np.array([[1, 2], [0.5, np.nan]], np.float32)
    assert features_at(["lexical", "vector"], values, 1) == {"lexical": 0.5}
