"""Recall about a time, near a place, as of then, and of what held then."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

import memorata
from memorata.model import InvalidArgument, Period, Place
from memorata.model.query import Query, When

NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        yield engine


def ids(found: memorata.RecallResult) -> list[str]:
    return [hit.memory.id for hit in found]


def test_a_question_that_asks_for_nothing_but_a_time_is_answered_by_it(memory: memorata.Engine) -> None:
    memory.remember("We repaired the roof.", id="roof", valid_from=NOW - timedelta(days=1))
    memory.remember("We painted the fence.", id="fence", valid_from=NOW - timedelta(days=60))
    assert ids(memory.recall("What did we do yesterday?")) == ["roof"]
    why = str(memory.recall("What did we do yesterday?").hits[0].explain())
    assert "temporal" in why


@pytest.mark.parametrize(
    "query", ["What happened yesterday?", "Was ist gestern passiert?", "Что произошло вчера?"]
)
def test_that_something_took_place_is_nothing_but_a_time(memory: memorata.Engine, query: str) -> None:
    memory.remember("We repaired the roof.", id="roof", valid_from=NOW - timedelta(days=1))
    memory.remember("We painted the fence.", id="fence", valid_from=NOW - timedelta(days=60))
    assert ids(memory.recall(query)) == ["roof"]
    assert ids(memory.recall("What happened to the kettle yesterday?")) == []


def test_a_time_among_other_things_lifts_without_letting_in(memory: memorata.Engine) -> None:
    memory.remember("The dentist called.", id="old", valid_from=NOW - timedelta(days=200))
    memory.remember("The dentist called.", id="new", valid_from=NOW - timedelta(days=1))
    memory.remember("It rained.", id="rain", created_at=NOW - timedelta(days=1))
    found = memory.recall("Did the dentist call yesterday?", recipe={"deduplicate": False})
    assert ids(found) == ["new", "old"]  # both were told today, and one is of yesterday


@pytest.mark.parametrize(("zone", "yesterday"), [(timezone(timedelta(hours=9)), "b"), (UTC, "a")])
def test_a_day_is_that_of_the_zone_in_which_the_question_is_asked(zone: timezone, yesterday: str) -> None:
    # An hour into the 15th in Tokyo, and still the 14th in London.
    asked = datetime(2026, 5, 14, 16, tzinfo=UTC).astimezone(zone)
    with memorata.open(":memory:", embedder="lexical", clock=lambda: asked) as memory:
        # From the 13th of London one is a day and a half away and the other two and a half; from the 14th of
        # Tokyo, which begins and ends fifteen hours later, it is the other way round.
        memory.remember("We repaired the roof.", id="a", valid_from=datetime(2026, 5, 11, 12, tzinfo=UTC))
        memory.remember("We painted the fence.", id="b", valid_from=datetime(2026, 5, 16, 12, tzinfo=UTC))
        by_clock = memory.recall("What did we do yesterday?")
        found = memory.recall("What did we do yesterday?", when=When(now=asked))
        assert ids(found)[0] == yesterday
        assert [hit.score for hit in found] == [hit.score for hit in by_clock]


def test_near_a_place(memory: memorata.Engine) -> None:
    memory.remember("Lunch by the river.", id="porto", place=Place(41.15, -8.61))
    memory.remember("Lunch at the fjord.", id="oslo", place=Place(59.91, 10.75))
    assert ids(memory.recall(Query("lunch", near=Place(59.9, 10.7))))[0] == "oslo"
    assert ids(memory.recall(Query("lunch", near=Place(41.1, -8.6))))[0] == "porto"
    assert "geo" in str(memory.recall(Query("lunch", near=Place(41.1, -8.6))).hits[0].explain())


def test_a_fusion_without_room_for_a_place_or_a_time_says_so(memory: memorata.Engine) -> None:
    memory.remember("Lunch at the fjord.", place=Place(59.91, 10.75))
    oslo, week = Place(59.9, 10.7), Period(NOW - timedelta(days=7), NOW)
    said = "recipe 'openvault' blends meaning and words alone: near and period have no leg in it"
    assert memory.recall(Query("lunch", near=oslo), recipe="openvault").degraded == (
        said.replace("and period have", "has"),
    )
    assert memory.recall(Query("lunch", near=oslo), recipe="openvault", when=When(period=week)).degraded == (
        said,
    )
    assert memory.recall("lunch", recipe="openvault").degraded == ()
    assert memory.recall(Query("lunch", near=oslo), when=When(period=week)).degraded == ()


def test_a_word_that_must_not_occur_does_not_whatever_the_time_and_place(memory: memorata.Engine) -> None:
    oslo, week = Place(59.91, 10.75), Period(NOW - timedelta(days=7), NOW)
    # More of them than a leg finds at first.
    for number in range(60):
        memory.remember(f"Coffee by the fjord {number}.", place=oslo)
    memory.remember("Tea by the fjord.", id="tea", place=oslo, created_at=NOW - timedelta(days=1))
    for near, period in ((None, week), (oslo, None), (oslo, week)):
        assert ids(memory.recall(Query("drinks -coffee", near=near), when=When(period=period))) == ["tea"]


def test_what_held_at_a_time_is_not_what_was_known_then(memory: memorata.Engine) -> None:
    year = timedelta(days=365)
    # We learnt of the old address only after the new one.
    memory.remember(
        "Anna lives in Porto.",
        id="porto",
        created_at=NOW - year,
        valid_from=NOW - 9 * year,
        valid_to=NOW - 2 * year,
    )
    memory.remember("Anna lives in Oslo.", id="oslo", created_at=NOW - 2 * year, valid_from=NOW - 2 * year)
    asked = "Where does Anna live?"
    assert ids(memory.recall(asked, when=When(true_at=NOW - 3 * year))) == ["porto"]
    assert ids(memory.recall(asked, when=When(true_at=NOW))) == ["oslo"]
    assert ids(memory.recall(asked, when=When(as_of=NOW - timedelta(days=500)))) == ["oslo"]
    assert ids(memory.recall(asked, when=When(as_of=NOW - timedelta(days=500), true_at=NOW - 3 * year))) == []


def test_what_was_replaced_held_until_then_and_what_was_wrong_from_the_start_never_did(
    memory: memorata.Engine,
) -> None:
    long_ago = NOW - timedelta(days=1000)
    memory.remember("Ben works at Acme.", id="ended", created_at=long_ago)
    memory.remember("Ben works at Umbrella.", id="now", supersedes=("ended",))
    memory.remember("Ben plays the harp.", id="wrong", created_at=long_ago)
    memory.remember("Ben plays the piano.", id="right", created_at=long_ago, supersedes=("wrong",))
    then = NOW - timedelta(days=500)
    assert ids(memory.recall("Where does Ben work?", limit=1, when=When(true_at=then))) == ["ended"]
    assert "wrong" not in ids(memory.recall("What does Ben play?", when=When(true_at=then)))


def test_the_wrong_kind_of_thing_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"near must be a Place, such as .*, got \(1, 2\)"):
        Query("tea", near=(1, 2))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"period must be a Period, such as Period\(start, end\)"):
        When(period="2026")  # type: ignore[arg-type]


def test_a_given_period_needs_no_words(memory: memorata.Engine) -> None:
    memory.remember("We repaired the roof.", id="roof")
    day = Period(NOW - timedelta(hours=6), NOW)
    assert ids(memory.recall("", when=When(period=day))) == ["roof"]
