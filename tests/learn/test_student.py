import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.student import critical_t, two_sided_p
from memorata.model.errors import InvalidArgument


def tail_slowly(t: float, freedom: float) -> float:
    """Both tails by adding up the density, over the angle x = tan(a) that makes the range finite."""
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(
        freedom * math.pi
    )
    edges = np.linspace(math.atan(t), math.pi / 2, 200_001)
    at = np.tan((edges[1:] + edges[:-1]) / 2)
    density = constant * (1 + at * at / freedom) ** (-(freedom + 1) / 2) * (1 + at * at)
    return float(2 * density.sum() * (edges[1] - edges[0]))


@given(st.floats(0, 1e6))
def test_with_one_degree_it_is_cauchys(t: float) -> None:
    assert two_sided_p(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), abs=1e-12)


@given(st.floats(-1e3, 1e3))
def test_with_two_degrees_there_is_a_formula_too(t: float) -> None:
    assert two_sided_p(t, 2) == pytest.approx(1 - abs(t) / math.sqrt(2 + t * t), abs=1e-12)


@pytest.mark.parametrize("freedom", [2.5, 7.3, 30, 200])
@pytest.mark.parametrize("t", [0.1, 1.0, 2.5, 6.0])
def test_the_tail_is_what_adding_up_the_density_gives(t: float, freedom: float) -> None:
    assert two_sided_p(t, freedom) == pytest.approx(tail_slowly(t, freedom), rel=1e-6)


def test_with_much_freedom_it_is_the_normal_distribution() -> None:
    assert two_sided_p(1.959964, 1e8) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("freedom", "value"), [(1, 12.706), (4, 2.776), (10, 2.228), (30, 2.042), (120, 1.980)]
)
def test_critical_values_are_those_of_the_tables(freedom: int, value: float) -> None:
    assert critical_t(0.95, freedom) == pytest.approx(value, abs=5e-4)


@given(st.floats(0.01, 0.999), st.floats(0.5, 500))
def test_the_critical_value_has_the_tail_that_was_asked_for(level: float, freedom: float) -> None:
    assert two_sided_p(critical_t(level, freedom), freedom) == pytest.approx(1 - level, abs=1e-9)


def test_the_ends() -> None:
    assert two_sided_p(0, 5) == 1
    assert two_sided_p(1e200, 5) == 0
    assert critical_t(0, 5) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("t", "freedom"), [(math.nan, 1), (1, 0), (1, -1), (1, math.inf), ("1", 1)])
def test_bad_arguments(t: Any, freedom: Any) -> None:
    with pytest.raises(InvalidArgument):
        two_sided_p(t, freedom)


@pytest.mark.parametrize(("level", "freedom"), [(1, 5), (1.1, 5), (0.95, 0), (1 - 1e-15, 0.01)])
def test_bad_levels(level: Any, freedom: Any) -> None:
    with pytest.raises(InvalidArgument):
        critical_t(level, freedom)
