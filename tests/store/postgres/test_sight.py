"""What may be seen at an instant: the conditions in SQL choose what the rules on records say."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import numpy as np
import pytest

from memorata.index.record import Records, unpacked
from memorata.store.conformance import HERE, NOW, entry
from memorata.store.filters import parse
from memorata.store.postgres import namespaces, sight
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.namespaces import Namespace
from memorata.store.postgres.opening import opened
from memorata.store.postgres.sight import Restriction, Sight, among, both, filtered, look, without_terms
from memorata.store.postgres.store import PostgresStore
from memorata.store.postgres.words import NUMBER_OF

HOUR = timedelta(hours=1)
SLOTS = {"plain": 0, "old": 1, "ended": 2, "ends": 3, "wrong": 4, "right": 5, "forgotten": 6}
NOTHING = Restriction()


@pytest.fixture
def database(store: PostgresStore, used: str) -> Iterator[Database]:
    """Seven memories: plain ones, one that has expired, one that will, one corrected, one forgotten."""
    store.add(
        [
            entry("plain", "green tea with milk", tags=("drinks",)),
            entry("old", "tea", created_at=NOW - 9 * HOUR),
            entry("ended", "a cup of tea", created_at=NOW - 9 * HOUR, expires_at=NOW - HOUR),
            entry("ends", "milk", created_at=NOW - 9 * HOUR, expires_at=NOW + HOUR),
            entry("wrong", "tea at four", created_at=NOW - 9 * HOUR, valid_to=NOW - 4 * HOUR),
        ]
    )
    store.add([entry("right", "tea at five", created_at=NOW - 3 * HOUR, supersedes=("wrong",))])
    store.add([entry("forgotten", "cup cup cup")])
    store.forget(HERE, ["forgotten"], NOW)
    opened = Database(used)
    opened.open()
    yield opened
    opened.close()


def of_namespace(connection: Server) -> Namespace:
    found = namespaces.find(connection, HERE)
    assert found is not None
    return found


def chosen(connection: Server, restriction: Restriction) -> set[str]:
    """Return the ids of the memories that a restriction lets through."""
    number = of_namespace(connection).number
    rows = connection.execute(
        f"SELECT m.id FROM memories m WHERE m.namespace = %s{restriction.on('m')}",
        (number, *restriction.values),
    )
    return {id_ for (id_,) in rows}


def records(connection: Server) -> tuple[list[str], Records]:
    rows = connection.execute("SELECT id, record FROM memories ORDER BY slot", binary=True).fetchall()
    return [id_ for id_, _ in rows], unpacked([record for _, record in rows])


def seen(
    connection: Server, now: datetime = NOW, as_of: datetime | None = None, true_at: datetime | None = None
) -> Sight:
    return look(connection, opened(connection, HERE, now, None), now, as_of, true_at)


@pytest.mark.parametrize(
    ("now", "as_of", "true_at", "expected"),
    [
        (NOW, None, None, {"plain", "old", "ends", "right"}),
        # What expires at an instant is gone at that instant.
        (NOW + HOUR, None, None, {"plain", "old", "right"}),
        (NOW - 2 * HOUR, None, None, {"plain", "old", "ended", "ends", "right"}),
        # Before it was corrected the wrong one was believed; what was forgotten is not shown even then.
        (NOW, NOW - 4 * HOUR, None, {"old", "ends", "wrong"}),
        (NOW, NOW - 3 * HOUR, None, {"old", "ends", "right"}),
        (NOW, NOW - 10 * HOUR, None, set()),
        # What held at a time, as known today: until it was over, the wrong one was right.
        (NOW, None, NOW, {"plain", "old", "ends", "right"}),
        (NOW, None, NOW - 5 * HOUR, {"old", "ends", "wrong"}),
        (NOW, None, NOW - 4 * HOUR, {"old", "ends"}),
        (NOW, NOW - 10 * HOUR, NOW - 5 * HOUR, set()),
        # An end of its own was known before it was corrected.
        (NOW, NOW - 4 * HOUR, NOW - 5 * HOUR, {"old", "ends", "wrong"}),
        (NOW, NOW - 4 * HOUR, NOW - 4 * HOUR, {"old", "ends"}),
        (NOW, None, NOW - 10 * HOUR, set()),
    ],
)
def test_the_conditions_choose_what_the_rules_say(
    database: Database, now: datetime, as_of: datetime | None, true_at: datetime | None, expected: set[str]
) -> None:
    with database.reading() as connection:
        found = seen(connection, now, as_of, true_at)
        assert chosen(connection, found.seen) == expected
        assert found.count == len(expected)
        ids, known = records(connection)
        by_rule = {
            id_ for id_, shown in zip(ids, found.shows(np.arange(len(ids)), known), strict=True) if shown
        }
        assert by_rule == expected


def test_averages_are_of_the_memories_that_can_be_seen_and_have_the_field(database: Database) -> None:
    with database.reading() as connection:
        # plain 4, old 1, ends 1, right 3 words; only one of them has tags.
        now = seen(connection).average_lengths
        assert now["content"] == (4 + 1 + 1 + 3) / 4
        assert now["tags"] == 1.0
        # old 1, ends 1, wrong 3 words, none with tags.
        then = seen(connection, as_of=NOW - 4 * HOUR).average_lengths
        assert then["content"] == pytest.approx((1 + 1 + 3) / 3)
        assert then["tags"] == 0.0


def test_the_present_is_counted_as_the_past_is_added_up(database: Database) -> None:
    """Two ways to the same numbers: counters less what has expired, and every record that could be seen."""
    with database.reading() as connection:
        counted, added = seen(connection), seen(connection, as_of=NOW)
        assert counted.count == added.count
        assert counted.average_lengths == added.average_lengths
        assert chosen(connection, counted.seen) == chosen(connection, added.seen)
        # The present has lists of its own; of the past anything may stand in those of hidden memories.
        assert (counted.lists, added.lists) == ((False,), (False, True))
        # Of the lists of shown memories only what has expired is to be left out.
        assert chosen(connection, counted.listed) - chosen(connection, counted.seen) == {"wrong", "forgotten"}


def test_where_everything_can_be_seen_nothing_is_asked(store: PostgresStore, used: str) -> None:
    store.add([entry("a", "tea"), entry("b", "milk")])
    opened = Database(used)
    opened.open()
    with opened.reading() as connection:
        found = seen(connection)
    opened.close()
    assert (found.count, found.seen, found.listed) == (2, NOTHING, NOTHING)


def test_a_namespace_nobody_has_shows_nothing(database: Database) -> None:
    with database.reading() as connection:
        found = look(connection, opened(connection, "nobody's", NOW, None), NOW)
    assert found.count == 0
    assert set(found.average_lengths.values()) == {0.0}


@pytest.mark.parametrize("few", [5_000, 1])
def test_a_filter_lets_the_same_through_however_many_they_are(
    database: Database, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(sight, "_FEW", few)
    with database.reading() as connection:
        mine = of_namespace(connection)
        tagged = filtered(connection, mine, parse({"tags": "drinks"}))
        assert chosen(connection, tagged) == {"plain"}
        assert tagged.few
        early = filtered(connection, mine, parse({"created_at": {"<": NOW - HOUR}}))
        assert chosen(connection, early) == {"old", "ended", "ends", "wrong", "right"}
        # Many are selected where they are needed, and not named one by one.
        assert early.few is (few > 5)
        assert chosen(connection, filtered(connection, mine, parse({"tags": "nobody's"}))) == set()


def test_what_sql_cannot_tell_is_read_and_matched(database: Database) -> None:
    with database.reading() as connection:
        found = filtered(connection, of_namespace(connection), parse({"content": {"contains": "TEA AT"}}))
        assert chosen(connection, found) == {"wrong", "right"}


def test_restrictions_are_put_together(database: Database) -> None:
    some, others = among([SLOTS["plain"], SLOTS["old"]]), among([SLOTS["old"], SLOTS["ends"]])
    with database.reading() as connection:
        assert chosen(connection, NOTHING) == set(SLOTS)
        assert chosen(connection, both(some, others)) == {"old"}
        assert chosen(connection, among([])) == set()
    assert both(some, NOTHING) == some
    # One that is short makes the whole short.
    assert both(NOTHING, some).few
    assert not both(NOTHING, NOTHING).few


def test_placeholders_and_values_are_as_many_and_in_one_order() -> None:
    found = NOTHING.and_("«slot» > %s", 1).and_("«slot» BETWEEN %s AND %s", 2, 3)
    assert found.on("p") == " AND p.slot > %s AND p.slot BETWEEN %s AND %s"
    assert found.values == (1, 2, 3)
    assert NOTHING.on("p") == ""


def test_words_that_are_not_wanted_are_left_out_of_shown_and_hidden_alike(database: Database) -> None:
    content = NUMBER_OF["content"]
    with database.reading() as connection:
        number = of_namespace(connection).number
        found = without_terms(NOTHING, number, ["milk", "cup"], content)
        assert chosen(connection, found) == {"old", "wrong", "right"}
        assert without_terms(found, number, [], content) is found
        # A tag is not a word of the content.
        assert "plain" in chosen(connection, without_terms(NOTHING, number, ["drinks"], content))


def test_an_end_that_was_given_later_was_not_known(store: PostgresStore, used: str) -> None:
    store.add([entry("bern", "tea", created_at=NOW - 9 * HOUR)])
    began, said = NOW - 8 * HOUR, NOW - 3 * HOUR
    store.add([entry("basel", "tea", supersedes=("bern",), valid_from=began, created_at=said)])
    database = Database(used)
    database.open()
    with database.reading() as connection:
        for as_of, expected in ((NOW - 4 * HOUR, {"bern"}), (NOW - 3 * HOUR, {"basel"}), (None, {"basel"})):
            found = seen(connection, NOW, as_of, NOW - 5 * HOUR)
            ids, known = records(connection)
            shown = found.shows(np.arange(len(ids)), known)
            assert chosen(connection, found.seen) == expected
            assert {id_ for id_, each in zip(ids, shown, strict=True) if each} == expected
    database.close()
