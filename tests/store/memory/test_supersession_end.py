"""The end that a successor gave goes with it; one that a memory had of its own stays."""

from datetime import UTC, datetime, timedelta

import pytest

from memorata.model.memory import Memory
from memorata.store.memory.supersession import Succession, earliest, ended_again, ended_by, ends_known

MAY = datetime(2026, 5, 7, tzinfo=UTC)
JUNE, JULY = MAY + timedelta(days=31), MAY + timedelta(days=61)


def said(valid_from: datetime | None = None, valid_to: datetime | None = None) -> Memory:
    return Memory(id="m1", content="tea", created_at=MAY, valid_from=valid_from, valid_to=valid_to)


def test_what_was_superseded_held_until_its_successor_began_and_not_less_than_nothing() -> None:
    assert ended_by(said(), JUNE) == JUNE
    assert ended_by(said(valid_from=JULY), JUNE) == JULY


@pytest.mark.parametrize(
    ("held", "given", "began", "until"),
    [
        (said(valid_to=JUNE), True, None, None),
        (said(valid_to=JUNE), True, JULY, JULY),
        (said(valid_from=JULY, valid_to=JULY), True, None, None),
        (said(valid_from=JUNE, valid_to=JUNE), True, MAY, JUNE),
        # An end of its own.
        (said(valid_to=JULY), False, None, JULY),
        (said(valid_to=JULY), False, MAY, JULY),
        (said(), False, JULY, None),
    ],
)
def test_an_end_follows_the_successor_that_gave_it(
    held: Memory, given: bool, began: datetime | None, until: datetime | None
) -> None:
    assert ended_again(held, given, began) == until


def test_a_chain_began_with_the_first_of_it_and_ends_where_something_is_only_said_again() -> None:
    assert earliest([(0, 7)]) == 7
    assert earliest([(0, 7), (3, 5), (4, 6)]) == 5
    assert earliest([(3, 7), (5, 6), (4, 1), (9, 0)]) == 6


def test_what_is_known_of_ends_is_what_was_said_until_then() -> None:
    # The first ended at 40, then at 20, when the second was replaced by what began before it.
    first = Succession(0, None, 20, 50, True, 1, 40)
    second = Succession(1, 40, 40, 90, True, 2, 20)
    own = Succession(3, None, 10, 60, False, 4, 30)
    late = Succession(5, 70, 70, 80, True, 6, 65)
    everything = [late, own, second, first]
    assert ends_known(everything, 49) == {0: None, 1: None, 5: None}
    assert ends_known(everything, 50) == {0: 40, 1: None, 5: None}
    assert ends_known(everything, 80) == {0: 40, 1: None}
    assert ends_known(everything, 90) == ends_known([], 0) == {}
