from datetime import UTC, datetime

import numpy as np

from memorata.index.candidates import LegCandidates
from memorata.model.memory import Memory
from memorata.store.entries import Change, Entry, Page


def test_an_entry_needs_no_vector() -> None:
    memory = Memory(id="a", content="tea", created_at=datetime(2026, 5, 7, tzinfo=UTC))
    assert Entry(memory, {"content": {"tea": 1}}).vectors is None


def test_small_results_compare_by_value() -> None:
    assert Change(1, "n", "a", "add") == Change(1, "n", "a", "add")
    assert Page((), None) == Page((), None)


def test_a_leg_without_terms_has_no_details() -> None:
    found = LegCandidates(np.zeros(0, np.intp), np.zeros(0))
    assert found.detail is None
    assert found.ceiling == 0
