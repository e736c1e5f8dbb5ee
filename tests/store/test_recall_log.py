"""What a store tells about past recalls is plain data, and checks what it is given."""

from datetime import UTC, datetime

import numpy as np
import pytest

from memorata.model.errors import InvalidArgument
from memorata.store.recall_log import LogBounds, LoggedRecall, Sighting

NOW = datetime(2026, 5, 7, tzinfo=UTC)
NAN = float("nan")


def recall() -> LoggedRecall:
    values = np.array([[0.5, NAN], [0.25, 3.0]], np.float32)
    slots = np.array([4, 7])
    return LoggedRecall(
        "r", "n", NOW, None, {}, "", {}, {}, ("meaning", "words"), values, slots, (0,), ("a", "b")
    )


def test_a_column_and_a_row_by_name() -> None:
    assert recall().column("meaning").tolist() == [0.5, 0.25]
    assert np.isnan(recall().column("place")).tolist() == [True, True]
    assert recall().of("a") == {"meaning": 0.5}
    assert recall().of("b") == {"meaning": 0.25, "words": 3.0}
    with pytest.raises(InvalidArgument, match="memory_id must be a memory that the recall r found, got 'c'"):
        recall().of("c")


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_bounds_are_whole_numbers_above_zero(bad: int) -> None:
    with pytest.raises(InvalidArgument, match="recalls"):
        LogBounds(recalls=bad)
    with pytest.raises(InvalidArgument, match="megabytes"):
        LogBounds(megabytes=bad)


def test_sightings_compare_by_what_they_say() -> None:
    one = Sighting("n", "e", "v", "ann", "r", NOW, 3, {"a": 1})
    assert one == Sighting("n", "e", "v", "ann", "r", NOW, 3, {"a": 1})
    assert one != Sighting("n", "e", "v", "ann", "r", NOW, 3)
    assert len({one, one}) == 1
