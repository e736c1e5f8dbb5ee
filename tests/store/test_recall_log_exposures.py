"""Exposures: who was shown which variant of an experiment."""

import json
from contextlib import closing
from datetime import UTC, datetime

import numpy as np

from memorata.model.hit import Feedback, Signal
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry
from memorata.store.logged_recall import LogBounds, LoggedRecall
from memorata.store.recall_log import Exposure, team_slots
from memorata.store.store import Store
from memorata.testing.samples import entry

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


def test_a_purge_of_somebody_takes_along_what_they_saw(store: Store) -> None:
    """Check exposures in experiments, of whoever is called so, and those that wait to be written."""
    _remembered(store, _HERE, "a", "b")
    with store.view(_HERE, _NOW) as view:
        before = view.status.change
    seen = [_sighting(user) for user in ("anna_berg", "Anna Berg", "berg@acme.example", "annabel", "")]
    store.recalls.log([_recall("r1", [0])], _BOUNDS, seen)
    store.purge(_HERE, [], ["Anna Berg"])
    assert [each.user for each in store.exposures.list(_HERE, "e")] == ["annabel", ""]
    store.recalls.log([_recall("r1", [0], seen=before)], _BOUNDS, [_sighting("anna_berg")])
    assert [each.user for each in store.exposures.list(_HERE, "e")] == ["annabel", ""]


def test_who_saw_what_is_read_as_it_was(store: Store) -> None:
    """Check exposures, and that a hit of a list of two rankings can be reacted to."""
    _remembered(store, _HERE, "a", "b")
    seen = _sighting(a=1, b=-1)
    store.recalls.log([_recall("r1", [0])], _BOUNDS, [seen, _sighting(user="ben")])
    assert store.exposures.list(_HERE, "e") == [seen, _sighting(user="ben")]
    assert store.exposures.list(_HERE, "another") == []
    store.feedback.add(_HERE, Feedback("r1", "b", Signal.CLICK, _NOW))
    assert store.feedback.list(_HERE)[0].features == {}


def test_exposures_compare_by_what_they_say() -> None:
    one = Exposure("n", "e", "v", "ann", "r", _NOW, 3, {"a": 1})
    assert one == Exposure("n", "e", "v", "ann", "r", _NOW, 3, {"a": 1})
    assert one != Exposure("n", "e", "v", "ann", "r", _NOW, 3)
    assert len({one, one}) == 1


def test_teams_are_written_by_slot_and_lose_what_is_purged() -> None:
    with closing(SqliteStore(":memory:")) as store:
        store.add([entry(name, f"said {name}") for name in ("a", "b")])
        seen = Exposure(_HERE, "e", "", "ann", "r", _NOW, 2, {"b": 1, "a": -1, "gone": 1})
        store.recalls.log([], LogBounds(), [seen])
        (teams,) = store._connection.execute("SELECT teams FROM exposures").fetchone()
        assert json.loads(teams) == {"1": 1, "0": -1}
        (number,) = store._connection.execute("SELECT number FROM namespaces").fetchone()
        assert team_slots(store._database.session, number, "r") == {0, 1}
        store.purge(_HERE, ["b"])
        assert team_slots(store._database.session, number, "r") == {0}
