"""Feedback attaches to a logged hit, with the numbers it had; what cannot be is refused clearly."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.engine.feedback import signal_of
from memorata.engine.recall.log import Logging
from memorata.model.errors import InvalidArgument, RecallNotFound
from memorata.model.hit import Signal

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_engine(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many(
            [{"id": "tea", "content": "Anna prefers green tea"}, {"id": "sea", "content": "Bob sails"}]
        )
        yield memory


def test_feedback_is_kept_with_the_numbers_of_the_hit(engine: Engine) -> None:
    found = engine.recall("green tea", recipe={"text_depth": 0})
    given = engine.admin.feedback.record(found.id, "tea", "rating", 4)
    assert (given.signal, given.rating, given.given_at) == (Signal.RATING, 4, NOW)
    (kept,) = engine.admin.feedback.list()
    assert kept.feedback == given
    assert kept.features["score"] == pytest.approx(found.hits[0].score, rel=1e-6)
    assert kept.embedder == found.embedder
    assert engine.now() == NOW


@pytest.mark.parametrize(
    ("kind", "value", "signal"),
    [
        ("thumbs", "up", Signal.THUMBS_UP),
        ("thumbs", None, Signal.THUMBS_UP),
        ("thumbs", False, Signal.THUMBS_DOWN),
        ("thumbs", "down", Signal.THUMBS_DOWN),
        ("relevant", True, Signal.RELEVANT),
        ("relevant", "no", Signal.IRRELEVANT),
        ("click", None, Signal.CLICK),
    ],
)
def test_kinds_and_values(kind: str, value: str | bool | None, signal: Signal) -> None:
    assert signal_of(kind, value) == (signal, None)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("rating", 7, "value must be a whole number from 1 to 5, got 7"),
        ("rating", 0, "from 1 to 5"),
        ("rating", True, "from 1 to 5"),
        ("rating", None, "from 1 to 5"),
        ("rating", "4", "from 1 to 5"),
        ("thumbs", "sideways", "'up' or 'down'"),
        ("thumbs", 1, "'up' or 'down'"),
        ("relevant", "up", "'yes' or 'no'"),
        ("click", "yes", "None for a click"),
        ("applause", None, "kind must be one of 'thumbs', 'rating', 'relevant', 'click'"),
    ],
)
def test_what_is_no_feedback_is_refused(kind: str, value: str | int | bool | None, expected: str) -> None:
    with pytest.raises(InvalidArgument, match=expected):
        signal_of(kind, value)


def test_an_unknown_hit_is_refused(engine: Engine) -> None:
    found = engine.recall("green tea", limit=1)
    with pytest.raises(InvalidArgument, match=f"memory_id must be a memory that the recall {found.id} found"):
        engine.admin.feedback.record(found.id, "nobody", "click")
    with pytest.raises(RecallNotFound, match="no recall 'r9' in the log of namespace 'default'"):
        engine.admin.feedback.record("r9", "tea", "click")
    with pytest.raises(RecallNotFound):
        engine.admin.feedback.record(found.id, "tea", "click", namespace="acme/bob")


def test_without_a_log_feedback_says_so() -> None:
    with open_engine(":memory:", embedder="lexical", config={"logging": Logging(recalls=False)}) as engine:
        engine.remember("green tea")
        found = engine.recall("tea")
        with pytest.raises(RecallNotFound, match="the log may be off"):
            engine.admin.feedback.record(found.id, found.hits[0].memory.id, "click")


def test_the_log_is_read_in_part(engine: Engine) -> None:
    first, second = engine.recall("tea"), engine.recall("Bob")
    assert [each.id for each in engine.admin.feedback.recalls(limit=1)] == [second.id]
    assert [each.id for each in engine.admin.feedback.recalls(ids=(first.id,))] == [first.id]
    assert engine.admin.feedback.recalls(namespace="acme/bob") == []
    with pytest.raises(InvalidArgument, match="limit"):
        engine.admin.feedback.recalls(limit=-1)
    with pytest.raises(InvalidArgument, match="since"):
        engine.admin.feedback.recalls(since=datetime(2026, 5, 7))
