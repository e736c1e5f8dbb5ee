import numpy as np
import pytest

from memorata.index.directions import are_directions

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
