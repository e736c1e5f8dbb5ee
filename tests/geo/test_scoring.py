import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.geo.scoring import nearness
from memorata.model.parameter import parameters_of


def test_one_here_a_half_at_the_scale_a_tenth_at_nine() -> None:
    assert nearness([0, 500, 4500], scale=500).tolist() == pytest.approx([1, 0.5, 0.1])


def test_far_places_still_differ() -> None:
    near, far = nearness([1e6, 2e7], scale=10)
    assert near == pytest.approx(20 * far, rel=1e-4)


@given(st.lists(st.floats(0, 1e308), min_size=2, max_size=5), st.floats(5e-324, 1e308))
def test_farther_is_never_worth_more(metres: list[float], scale: float) -> None:
    worth = nearness(np.sort(metres), scale=scale)
    assert ((worth >= 0) & (worth <= 1)).all()
    assert (np.diff(worth) <= 1e-15).all()


def test_the_scale_declares_itself() -> None:
    (scale,) = parameters_of(nearness)
    assert (scale.name, scale.default, scale.low, scale.high) == ("scale", 1000.0, 10, 100_000)
