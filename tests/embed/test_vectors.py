import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memorata.embed.vectors import (
    are_directions,
    checked_text,
    checked_texts,
    length_sorted,
    unit_means,
    unit_rows,
    well_formed,
)
from memorata.model.errors import InvalidArgument


@given(
    arrays(
        np.float32, st.tuples(st.integers(0, 5), st.integers(1, 4)), elements=st.floats(-100, 100, width=32)
    )
)
def test_every_row_is_divided_by_its_length(rows: np.typing.NDArray[np.float32]) -> None:
    found = unit_rows(rows)
    assert found.dtype == np.float32
    for row, unit in zip(rows, found, strict=True):
        length = float(np.sqrt((row.astype(np.float64) ** 2).sum()))
        if length:
            assert unit == pytest.approx(row / length, abs=1e-5)


def test_a_row_of_zeros_stays() -> None:
    assert unit_rows(np.zeros((1, 3), dtype=np.float32)).tolist() == [[0, 0, 0]]


def test_doubles_become_singles_after_the_division() -> None:
    # 1e200 is beyond a float32; its direction is not.
    assert unit_rows(np.array([[1e150, 0.0]])).tolist() == [[1, 0]]


def test_numbers_whose_squares_are_beyond_all_bounds_have_a_direction() -> None:
    found = unit_rows(np.array([[3e200, -4e200], [0.6, 0.8], [0.0, 0.0]]))
    assert found == pytest.approx(np.array([[0.6, -0.8], [0.6, 0.8], [0, 0]]))
    assert unit_rows(np.array([[0.0, -3e30]], dtype=np.float32)).tolist() == [[0, -1]]


@pytest.mark.parametrize("faint", [1e-20, 1e-30, 1e-44])
def test_numbers_whose_squares_vanish_have_a_direction(faint: float) -> None:
    small = np.array([[3, -4], [0, 0]], dtype=np.float32) * np.float32(faint)
    found = unit_rows(small)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 0], abs=1e-6)
    assert found[0, 0] > 0 > found[0, 1]
    assert unit_rows(np.array([[3e-200, -4e-200]])) == pytest.approx(np.array([[0.6, -0.8]]))


def test_the_mean_of_opposite_rows_has_no_direction() -> None:
    group = np.array([[1, 0], [-1, 0]], dtype=np.float32)
    assert unit_means([group], 2).tolist() == [[0, 0]]


def test_a_lone_row_is_copied_to_the_last_bit() -> None:
    row = unit_rows(np.array([[1, 2, 3]], dtype=np.float32))
    assert np.array_equal(unit_means([row], 3), row)


def test_no_groups_give_no_rows() -> None:
    assert unit_means([], 7).shape == (0, 7)


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


@pytest.mark.parametrize("bounds", [(0, 10), (10, 0), (-1, 1)])
def test_a_batch_holds_something(bounds: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgument):
        length_sorted([1], *bounds)


UNIT = np.array([0.6, 0.8], np.float32)


@pytest.mark.parametrize("more", [[], [UNIT]])
@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        (UNIT, True),
        (0 * UNIT, True),
        (UNIT.astype(np.float16), True),
        (1.009 * UNIT, True),
        (1.02 * UNIT, False),
        (0.98 * UNIT, False),
        (np.array([np.nan, 1]), False),
        (np.array([np.inf, 1]), False),
        (np.array([1e30, 1], np.float32), False),
    ],
)
def test_a_direction_has_the_length_one_or_none(
    row: np.ndarray[tuple[int], np.dtype[np.float32]],
    more: list[np.ndarray[tuple[int], np.dtype[np.float32]]],
    wanted: bool,
) -> None:
    assert are_directions(np.stack([row, *more])) == wanted


def test_no_vectors_are_all_directions() -> None:
    assert are_directions(np.zeros((0, 3)))


ANY = st.text(st.characters())  # surrogates included


@given(ANY)
def test_a_well_formed_text_can_be_encoded(text: str) -> None:
    well_formed(text).encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_without_broken_pairs_is_left_alone(text: str) -> None:
    assert well_formed(text) == text


def test_two_halves_that_belong_together_are_joined() -> None:
    assert well_formed("\ud83d\ude00!") == "😀!"


def test_the_text_at_fault_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"texts\[1\] must be a string, got 7"):
        checked_texts(["one", 7])  # type: ignore[list-item]


@pytest.mark.parametrize("texts", ["abc", b"abc", None, {"a"}, 3])
def test_only_a_list_of_texts_is_one(texts: object) -> None:
    with pytest.raises(InvalidArgument, match="texts must be a list of strings"):
        checked_texts(texts)  # type: ignore[arg-type]


def test_one_text_is_checked_too() -> None:
    assert checked_text("a\ud800") == "a\ufffd"
    with pytest.raises(InvalidArgument, match="text must be a string"):
        checked_text(None)  # type: ignore[arg-type]
