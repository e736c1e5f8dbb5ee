"""The log of recalls, and what of it a purge takes along."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memorata.model.errors import InvalidArgument, RecallNotFound
from memorata.model.hit import Feedback, Signal
from memorata.model.memory import Memory
from memorata.store.entries import Entry
from memorata.store.logged_recall import LogBounds, LoggedRecall
from memorata.store.recall_log import Exposure
from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_HERE, _THERE = "acme/alice", "acme/bob"
_BOUNDS = LogBounds()


def _remembered(store: Store, namespace: str, *ids: str) -> None:
    store.add(
        [
            Entry(
                Memory(id=id_, namespace=namespace, content=f"said {id_}", created_at=_NOW, fingerprint="00"),
                {"content": {"said": 1}},
            )
            for id_ in ids
        ]
    )


def _recall(
    id_: str,
    slots: list[int],
    words: list[float] | None = None,
    query: str | None = "tea?",
    seen: int | None = None,
) -> LoggedRecall:
    columns = ("confidence",) if words is None else ("lexical", "confidence")
    sure = [0.5] * len(slots)
    values = np.array([sure] if words is None else [words, sure], np.float32).T
    return LoggedRecall(
        id=id_,
        namespace=_HERE,
        at=_NOW,
        query=query,
        recipe={"name": "mine", "vector_weight": 0.5},
        embedder="lexical",
        situation={"ceiling": 2.5},
        milliseconds={"search": 1.25},
        columns=columns,
        values=values,
        slots=np.array(slots, np.intp),
        shown=tuple(reversed(range(len(slots)))),
        seen=seen,
    )


def _sighting(user: str = "ann", **teams: int) -> Exposure:
    return Exposure(_HERE, "e", "more", user, "r1", _NOW, 2, teams)


def test_a_logged_recall_is_read_as_it_was(store: Store) -> None:
    """Check every part of it, the numbers to the bit, and nothing known as nothing known."""
    _remembered(store, _HERE, "a", "b", "c")
    _remembered(store, _THERE, "x")
    store.recalls.log([_recall("r1", [2, 0], words=[np.nan, 0.1]), _recall("r2", [])], _BOUNDS)
    latest, first = store.recalls.list(_HERE)
    assert (latest.id, latest.ids, latest.shown) == ("r2", (), ())
    assert (first.id, first.namespace, first.at, first.query) == ("r1", _HERE, _NOW, "tea?")
    assert (first.ids, first.shown) == (("c", "a"), (1, 0))
    assert first.recipe == {"name": "mine", "vector_weight": 0.5}
    assert (first.embedder, first.situation) == ("lexical", {"ceiling": 2.5})
    assert first.milliseconds == {"search": 1.25}
    np.testing.assert_array_equal(first.column("lexical"), np.array([np.nan, 0.1], np.float32))
    np.testing.assert_array_equal(first.column("confidence"), np.array([0.5, 0.5], np.float32))
    assert np.isnan(first.column("is_new of")).all()
    assert first.of("a") == {"lexical": pytest.approx(0.1), "confidence": 0.5}
    assert store.ids(_HERE, [2, 0, 7]) == {2: "c", 0: "a"}
    assert store.ids("nobody", [2]) == {}
    assert store.recalls.list(_THERE) == []
    assert [each.id for each in store.recalls.list(_HERE, limit=1)] == ["r2"]
    assert [each.id for each in store.recalls.list(_HERE, limit=2**70)] == ["r2", "r1"]
    assert [each.id for each in store.recalls.list(_HERE, ids=["r1", "r9"])] == ["r1"]
    assert store.recalls.list(_HERE, since=_NOW + timedelta(seconds=1)) == []


def test_a_recall_is_logged_once_however_often_it_is_told(store: Store) -> None:
    """Check that it does not keep others from being logged: who tells may not know that it has."""
    _remembered(store, _HERE, "a", "b")
    first, second = _recall("r1", [0], words=[2.0]), _recall("r2", [1], words=[1.0])
    store.recalls.log([first], _BOUNDS)
    store.recalls.log([first, second], _BOUNDS)
    assert [(each.id, each.ids) for each in store.recalls.list(_HERE)] == [("r2", ("b",)), ("r1", ("a",))]


def test_the_log_is_bounded_and_the_oldest_goes_first(store: Store) -> None:
    """Check both bounds."""
    _remembered(store, _HERE, "a", "b")
    for number in range(5):
        store.recalls.log([_recall(f"r{number}", [0, 1], words=[0.1, 0.2])], LogBounds(recalls=3))
    assert [each.id for each in store.recalls.list(_HERE)] == ["r4", "r3", "r2"]
    long = [_recall(f"l{number}", [0], query="x" * 600_000) for number in range(3)]
    store.recalls.log(long, LogBounds(megabytes=1))
    assert [each.id for each in store.recalls.list(_HERE)] == ["l2"]


def test_feedback_keeps_what_was_known_of_the_hit(store: Store) -> None:
    """Check that it outlives the logged recall, and that a hit nobody showed is refused."""
    _remembered(store, _HERE, "a", "b")
    store.recalls.log([_recall("r1", [0], words=[2.0])], _BOUNDS)
    up = Feedback("r1", "a", Signal.THUMBS_UP, _NOW)
    store.feedback.add(_HERE, up)
    with pytest.raises(InvalidArgument, match="memory_id must be a memory that the recall r1 found"):
        store.feedback.add(_HERE, Feedback("r1", "b", Signal.CLICK, _NOW))
    for namespace, recall in ((_HERE, "r9"), (_THERE, "r1"), ("nobody", "r1")):
        with pytest.raises(RecallNotFound):
            store.feedback.add(namespace, Feedback(recall, "a", Signal.CLICK, _NOW))
    store.recalls.log([_recall("r2", [0])], LogBounds(recalls=1))
    (kept,) = store.feedback.list(_HERE)
    assert (kept.feedback, kept.embedder) == (up, "lexical")
    assert kept.features == {"lexical": 2.0, "confidence": 0.5}
    assert store.feedback.list(_HERE, since=_NOW + timedelta(seconds=1)) == []
    assert store.feedback.list(_THERE) == []


def test_a_purge_takes_the_traces_along(store: Store) -> None:
    """Check recalls, feedback and teams; and that what is gone is not logged later."""
    _remembered(store, _HERE, "a", "b", "c")
    kept = _recall("r1", [2, 0, 1], words=[3.0, 2.0, 1.0])
    store.recalls.log([kept, _recall("r2", [0])], _BOUNDS, [_sighting(a=1, b=-1)])
    store.feedback.add(_HERE, Feedback("r1", "a", Signal.CLICK, _NOW))
    store.feedback.add(_HERE, Feedback("r1", "b", Signal.CLICK, _NOW))
    store.purge(_HERE, ["a"])
    (left,) = store.recalls.list(_HERE)
    assert (left.ids, left.shown) == (("c", "b"), (1, 0))
    assert left.column("lexical").tolist() == [3.0, 1.0]
    assert [each.feedback.memory_id for each in store.feedback.list(_HERE)] == ["b"]
    assert [dict(each.teams) for each in store.exposures.list(_HERE, "e")] == [{"b": -1}]
    store.recalls.log([_recall("r3", [0, 1], words=[1.0, 2.0])], _BOUNDS)
    assert store.recalls.list(_HERE, limit=1)[0].ids == ("b",)


def test_what_was_asked_before_a_purge_is_not_logged_after_it(store: Store) -> None:
    """Check that no question that waited elsewhere brings back what it names."""
    _remembered(store, _HERE, "a", "b")
    with store.view(_HERE, _NOW) as view:
        before = view.status.change
    assert before > 0
    store.recalls.log([_recall("r1", [1], seen=before)], _BOUNDS)
    store.purge(_HERE, ["a"])
    with store.view(_HERE, _NOW) as view:
        after = view.status.change
    store.recalls.log([_recall("r2", [1], seen=before), _recall("r3", [1], seen=after)], _BOUNDS)
    assert [each.id for each in store.recalls.list(_HERE)] == ["r3", "r1"]
    store.purge_namespace(_HERE)
    _remembered(store, _HERE, "c")
    store.recalls.log([_recall("r4", [0], seen=after)], _BOUNDS)
    assert store.recalls.list(_HERE) == []
    with store.view("nobody", _NOW) as view:
        assert view.status.change == 0


def test_questions_about_a_purged_name_lose_their_text(store: Store) -> None:
    """Check whole names, their words alone, others, and a question that waited elsewhere."""
    _remembered(store, _HERE, "a")
    asked = ("Where is Zoe Keller?", "what does KELLER want", "The cellar?", "Who is zoë?")
    store.recalls.log([_recall(f"r{n}", [0], query=text) for n, text in enumerate(asked)], _BOUNDS)
    with store.view(_HERE, _NOW) as view:
        before = view.status.change
    store.purge(_HERE, [], ["Zoë Keller"])
    assert [each.query for each in store.recalls.list(_HERE)] == [None, "The cellar?", None, None]
    assert [(each.kind, each.memory_id) for each in store.changes(before, 10)] == [("purge", "")]
    store.recalls.log([_recall("r4", [0], query="Zoe?", seen=before)], _BOUNDS)
    assert len(store.recalls.list(_HERE)) == 4
    with store.view(_HERE, _NOW) as view:
        assert (view.status.count, view.status.change > before) == (1, True)
    store.purge("nobody", [], ["Zoë Keller"])
    assert len(store.recalls.list(_HERE)) == 4


def test_nothing_is_left_of_recalls_where_no_memory_is_left(store: Store) -> None:
    """Check that the last purge takes them all, and that a late log does not bring them back."""
    _remembered(store, _HERE, "a")
    store.recalls.log([_recall("r1", [0]), _recall("r2", [])], _BOUNDS, [_sighting(a=1)])
    store.saved_settings.save(_HERE, "recipe", "mine", {}, {}, _NOW)
    store.purge(_HERE, ["a"])
    store.recalls.log([_recall("r3", [])], _BOUNDS, [_sighting()])
    assert store.recalls.list(_HERE) == []
    assert store.feedback.list(_HERE) == []
    assert store.exposures.list(_HERE, "e") == []
    assert len(store.saved_settings.list(_HERE, "recipe")) == 1


def test_a_purged_namespace_has_learnt_nothing(store: Store) -> None:
    """Check that everything goes with the namespace, and nothing of another."""
    _remembered(store, _HERE, "a")
    store.recalls.log([_recall("r1", [0])], _BOUNDS, [_sighting(a=1)])
    store.feedback.add(_HERE, Feedback("r1", "a", Signal.CLICK, _NOW))
    for namespace in (_HERE, _THERE):
        store.saved_settings.save(namespace, "recipe", "mine", {}, {}, _NOW)
    store.purge_namespace(_HERE)
    _remembered(store, _HERE, "a")
    assert store.recalls.list(_HERE) == []
    assert store.feedback.list(_HERE) == []
    assert store.exposures.list(_HERE, "e") == []
    assert store.saved_settings.list(_HERE, "recipe") == []
    assert len(store.saved_settings.list(_THERE, "recipe")) == 1


def test_another_look_finds_nothing_new(store: Store) -> None:
    """Check that the number that caches compare stays where nobody else writes."""
    before = store.settings_change(_HERE)
    _remembered(store, _HERE, "a")
    assert store.settings_change(_HERE) == before
