import numpy as np
import pytest

from memorata.embed.calibration import noise_ceiling
from memorata.model.errors import InvalidArgument


def test_the_share_below_the_ceiling_is_the_quantile() -> None:
    random = np.random.default_rng(0)
    questions, others = random.normal(size=(40, 16)), random.normal(size=(50, 16))
    ceiling = noise_ceiling(questions, others, quantile=0.9)
    below = sum(float(question @ other) < ceiling for question in questions for other in others)
    assert below == 1800


@pytest.mark.parametrize(
    ("questions", "unrelated"), [([], [[1.0]]), ([[1.0]], []), ([[1.0]], [[1.0, 0.0]]), ([[np.nan]], [[1.0]])]
)
def test_there_must_be_pairs_to_measure(questions: list[list[float]], unrelated: list[list[float]]) -> None:
    with pytest.raises(InvalidArgument):
        noise_ceiling(questions, unrelated)


def test_a_quantile_is_a_share() -> None:
    with pytest.raises(InvalidArgument, match="quantile"):
        noise_ceiling([[1.0]], [[1.0]], quantile=99)
