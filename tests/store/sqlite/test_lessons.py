"""Teams are known by slot in the file, so that a purge finds them."""

import json
from contextlib import closing
from datetime import UTC, datetime

from memorata.store.conformance import entry
from memorata.store.recall_log import LogBounds, Sighting
from memorata.store.sqlite import lessons
from memorata.store.sqlite.store import SqliteStore

NOW = datetime(2026, 5, 7, tzinfo=UTC)
HERE = "acme/alice"


def test_teams_are_written_by_slot_and_lose_what_is_purged() -> None:
    with closing(SqliteStore(":memory:")) as store:
        store.add([entry(name, f"said {name}") for name in ("a", "b")])
        seen = Sighting(HERE, "e", "", "ann", "r", NOW, 2, {"b": 1, "a": -1, "gone": 1})
        store.log_recalls([], LogBounds(), [seen])
        (teams,) = store._connection.execute("SELECT teams FROM sightings").fetchone()
        assert json.loads(teams) == {"1": 1, "0": -1}
        (number,) = store._connection.execute("SELECT number FROM namespaces").fetchone()
        assert lessons.team_slots(store._connection, number, "r") == {0, 1}
        store.purge(HERE, ["b"])
        assert lessons.team_slots(store._connection, number, "r") == {0}
