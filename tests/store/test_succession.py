"""The end that a successor gave goes with it; one that a memory had of its own stays."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.model.memory import Memory
from recollect.store.succession import ended_again, ended_by

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
