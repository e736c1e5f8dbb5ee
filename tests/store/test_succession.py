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
    ("held", "after", "until"),
    [
        (said(valid_to=JUNE), None, None),
        (said(valid_to=JUNE), JULY, JULY),
        (said(valid_from=JULY, valid_to=JULY), None, None),
        (said(valid_from=JUNE, valid_to=JUNE), MAY, JUNE),
        # An end of its own.
        (said(valid_to=JULY), None, JULY),
        (said(valid_to=JULY), MAY, JULY),
        (said(), JULY, None),
    ],
)
def test_an_end_follows_the_successor_that_gave_it(
    held: Memory, after: datetime | None, until: datetime | None
) -> None:
    assert ended_again(held, JUNE, after) == until
