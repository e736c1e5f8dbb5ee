import json
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memorata.store.recall_log import LoggedRecall
from memorata.store.recall_packing import encoded, kept_rows, still_there, unpacked, without

NOW = datetime(2026, 5, 7, tzinfo=UTC)


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
    found, columns, table, said = unpacked(json.loads(head), blob)
    assert found.tolist() == slots.tolist()
    assert said["situation"] == {"ceiling": 2.0}
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
    entry = LoggedRecall("r", "n", NOW, None, {}, "", {}, {}, ("words",), values, slots, (2, 1, 0))
    assert without(entry, kept).slots.tolist() == [5, 7]
    assert without(entry, np.ones(3, np.bool_)) is entry


def test_only_recalls_that_do_not_say_what_they_saw_are_looked_up() -> None:
    def entry(seen: int | None) -> LoggedRecall:
        nothing = np.zeros((2, 0), np.float32)
        return LoggedRecall(
            "r", "default", NOW, None, {}, "", {}, {}, (), nothing, np.array([3, 5]), (), seen=seen
        )

    asked: list[set[int]] = []

    def names(slots: set[int]) -> dict[int, str]:
        asked.append(slots)
        return {3: "m3"}

    assert still_there([entry(7), entry(9)], names) is None
    assert asked == []
    found = still_there([entry(7), entry(None)], names)
    assert found is not None
    assert found.tolist() == [3]
    assert asked == [{3, 5}]
    assert still_there([entry(None)], lambda slots: dict.fromkeys(slots, "m")) is None
