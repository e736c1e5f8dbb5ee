"""Tokens of memories: read once, kept, and forgotten when a memory changes."""

from __future__ import annotations

import numpy as np
import pytest

from memorata.index import token_rows
from memorata.index.token_rows import TokenRows
from memorata.model.checks import IntArray

SAID = [[4, 1], [], [9], [7, 7, 2]]


class Reader:
    """Gives the tokens of slots and notes which were asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, slots: IntArray) -> list[tuple[np.ndarray, bool]]:
        self.asked += slots.tolist()
        return [(np.array(SAID[slot], np.int32), slot % 2 == 1) for slot in slots.tolist()]


def test_rows_are_read_once_in_any_order() -> None:
    rows, read = TokenRows(), Reader()
    for wanted in ([2, 0], [3, 1, 0], [0, 1, 2, 3]):
        tokens, sizes, asking = rows.of(np.array(wanted), 4, read)
        assert tokens.tolist() == [token for slot in wanted for token in SAID[slot]]
        assert sizes.tolist() == [len(SAID[slot]) for slot in wanted]
        assert asking.tolist() == [slot % 2 == 1 for slot in wanted]
    assert sorted(read.asked) == [0, 1, 2, 3]


def test_a_changed_slot_is_read_again() -> None:
    rows, read = TokenRows(), Reader()
    rows.of(np.array([0, 1]), 2, read)
    rows.forget(0)
    rows.forget(17)
    rows.of(np.array([0, 1]), 3, read)
    assert read.asked == [0, 1, 0]


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_rows, "MAX_TOKENS", 3)
    rows, read = TokenRows(), Reader()
    rows.of(np.array([0, 3]), 4, read)
    tokens, _, _ = rows.of(np.array([2, 3]), 4, read)
    assert tokens.tolist() == [9, 7, 7, 2]
    assert read.asked == [0, 3, 2, 3]
