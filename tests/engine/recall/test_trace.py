"""A recall that found something can tell what it ranked."""

from datetime import UTC, datetime

from memorata.engine import open as open_engine

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def test_nothing_found_leaves_no_trace() -> None:
    with open_engine(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        assert engine.recall("anything").trace is None


def test_a_trace_has_every_candidate_and_says_which_were_shown() -> None:
    with open_engine(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        engine.remember_many(["green tea", "red tea", "rain"])
        found = engine.recall("tea", limit=1)
        assert found.trace is not None
        assert found.trace.slots.size >= 2
        assert list(found.trace.shown) == [0]
        assert found.trace.moment.as_dict()["meant"] is True
