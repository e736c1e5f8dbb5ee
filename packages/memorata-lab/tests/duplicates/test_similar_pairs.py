"""Similar pairs: by the product of all vectors, by sign bits and MinHash beyond, and by letters alone."""

import numpy as np
import pytest

from memorata.extend.errors import InvalidArgument
from memorata_lab.duplicates import Method, similar_pairs


@pytest.mark.parametrize("method", list(Method))
def test_both_methods_find_the_near_vectors(method: Method) -> None:
    rows = np.random.default_rng(1).normal(size=(60, 64))
    rows[40:] = rows[:20] + 0.05 * rows[20:40]
    found = similar_pairs([f"text {number} of its own" for number in range(60)], rows, method=method)
    assert found.tolist() == [[place, place + 40] for place in range(20)]


def test_letters_decide_without_vectors() -> None:
    texts = ["green tea with milk", "Green tea  with milk!", "black coffee", "green tea with milks"]
    assert similar_pairs(texts).tolist() == [[0, 1], [0, 3], [1, 3]]


def test_every_text_has_a_row() -> None:
    with pytest.raises(InvalidArgument):
        similar_pairs(["a", "b"], [[1.0, 0.0]])
