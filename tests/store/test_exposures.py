"""Exposures are plain data; in the database teams are known by slot, so that a purge finds them."""

import json
from contextlib import closing
from datetime import UTC, datetime

from memorata.store.conformance import entry
from memorata.store.exposures import Exposure, team_slots
from memorata.store.logged_recall import LogBounds
from memorata.store.sqlite.store import SqliteStore

NOW = datetime(2026, 5, 7, tzinfo=UTC)
HERE = "acme/alice"


def test_exposures_compare_by_what_they_say() -> None:
    one = Exposure("n", "e", "v", "ann", "r", NOW, 3, {"a": 1})
    assert one == Exposure("n", "e", "v", "ann", "r", NOW, 3, {"a": 1})
    assert one != Exposure("n", "e", "v", "ann", "r", NOW, 3)
    assert len({one, one}) == 1


def test_teams_are_written_by_slot_and_lose_what_is_purged() -> None:
    with closing(SqliteStore(":memory:")) as store:
        store.add([entry(name, f"said {name}") for name in ("a", "b")])
        seen = Exposure(HERE, "e", "", "ann", "r", NOW, 2, {"b": 1, "a": -1, "gone": 1})
        store.recalls.log([], LogBounds(), [seen])
        (teams,) = store._connection.execute("SELECT teams FROM sightings").fetchone()
        assert json.loads(teams) == {"1": 1, "0": -1}
        (number,) = store._connection.execute("SELECT number FROM namespaces").fetchone()
        assert team_slots(store._database.session, number, "r") == {0, 1}
        store.purge(HERE, ["b"])
        assert team_slots(store._database.session, number, "r") == {0}
