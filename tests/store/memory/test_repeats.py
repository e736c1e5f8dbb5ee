"""The notes a store keeps about repeats and contradictions."""

from dataclasses import FrozenInstanceError
from datetime import UTC, datetime

import pytest

from memorata.store.memory.repeats import Contradiction, Repeat

NOW = datetime(2026, 5, 7, tzinfo=UTC)


def test_a_note_says_nothing_it_was_not_told() -> None:
    note = Repeat("b", "a", "exact", "said again", NOW)
    assert (note.mentions, note.confidence, note.supported_at, note.run) == (0, None, None, None)
    hint = Contradiction("b", "a", "number", "another number", NOW)
    assert (hint.verdict, hint.decided_by, hint.decided_because, hint.decided_at) == (None, "", "", None)
    with pytest.raises(FrozenInstanceError):
        hint.verdict = "contradicts"  # type: ignore[misc]
