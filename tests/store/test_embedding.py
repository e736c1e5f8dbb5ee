"""What passes between engine and store when a memory gets its vectors; the rest is in the suite of stores."""

import numpy as np
import pytest

from memorata.store.embedding import Embedded


def test_it_says_whose_vectors_these_are_and_cannot_be_changed() -> None:
    given = Embedded("ada", "m1", np.ones((1, 2), np.float32), b"digest")
    assert (given.namespace, given.memory_id, given.digest) == ("ada", "m1", b"digest")
    with pytest.raises(AttributeError):
        given.digest = b""  # type: ignore[misc]
