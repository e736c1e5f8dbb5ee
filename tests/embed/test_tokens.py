import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.tokens import character_passages, windows
from memorata.model.errors import InvalidArgument


def no_words() -> np.typing.NDArray[np.intp]:
    return np.array([], dtype=np.intp)


def test_without_word_boundaries_windows_are_full() -> None:
    assert windows(10, no_words(), size=4, overlap=2) == [(0, 4), (2, 6), (4, 8), (6, 10)]


def test_what_fits_is_one_window() -> None:
    assert windows(4, no_words(), size=4, overlap=2) == [(0, 4)]
    assert windows(0, no_words(), size=4, overlap=2) == []


def test_a_window_that_ends_where_a_word_begins_is_full() -> None:
    assert windows(10, np.arange(10), size=4, overlap=1) == [(0, 4), (3, 7), (6, 10)]


def test_a_word_start_too_near_the_beginning_would_waste_the_window() -> None:
    assert windows(8, np.array([0, 1]), size=6, overlap=0) == [(0, 6), (6, 8)]


@given(st.data(), st.integers(0, 200), st.integers(1, 30))
def test_windows_cover_everything_and_move_on(data: st.DataObject, count: int, size: int) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    starts = data.draw(st.sets(st.integers(0, max(0, count - 1))))
    found = windows(count, np.array(sorted(starts), dtype=np.intp), size, overlap)
    assert {unit for start, end in found for unit in range(start, end)} == set(range(count))
    assert all(0 < end - start <= size for start, end in found)
    for (start, end), (next_start, next_end) in itertools.pairwise(found):
        assert start < next_start <= end < next_end
        assert end - next_start <= overlap


@given(st.text(alphabet="ab \n", max_size=300), st.integers(2, 40))
def test_every_character_is_in_a_passage(text: str, size: int) -> None:
    found = character_passages(text, size, size // 4)
    assert all(len(passage) <= size for passage in found)
    position = 0
    for passage in found:
        # Each passage begins at or before where the text was last read to.
        at = next(start for start in range(position, -1, -1) if text.startswith(passage, start))
        position = max(position, at + len(passage))
    assert position == len(text)


def test_cuts_fall_between_words() -> None:
    text = " ".join(["word"] * 100)
    for passage in character_passages(text, 33, 10):
        assert set(passage.split()) == {"word"}


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (4, 3), (4, -1), (1.5, 0)])
def test_impossible_windows_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InvalidArgument):
        windows(10, no_words(), size, overlap)
