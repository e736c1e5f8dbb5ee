"""An empty store on each database."""

from collections.abc import Iterator

import pytest

from memorata.index import segments
from memorata.store.dialects import SqliteStore
from memorata.store.memory import memories
from memorata.store.store import MEMORY_BUDGET, Store


@pytest.fixture(params=["sqlite", "small segments", "postgresql"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty store on a database of each kind, one after the other.

    Once with small segments: there nothing waits in the tail, and segments are merged all the time.
    """
    if request.param == "postgresql":
        yield request.getfixturevalue("server_store")
        return
    if request.param == "small segments":
        monkeypatch.setattr(memories, "TAIL", 1)
        monkeypatch.setattr(segments, "TAIL", 1)
        monkeypatch.setattr(segments, "_FAN_OUT", 2)
        monkeypatch.setattr(segments, "SPAN", 16)
    budget = 1 if request.param == "small segments" else MEMORY_BUDGET
    opened = SqliteStore(":memory:", memory_budget=budget)
    yield opened
    opened.close()
