"""Memories removed by a filter, listed oldest first, written with a vector; times given as texts."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

import memorata
from memorata import Engine
from memorata.model import InvalidArgument
from memorata.model.errors import MemoryNotFound
from memorata.model.query import When
from memorata_graph import Graph

ITEMS: list[dict[str, Any]] = [
    {"id": "rain", "content": "It rained in Lisbon.", "category": "weather"},
    {"id": "tea", "content": "Anna drinks green tea."},
    {"id": "sun", "content": "The sun shone in Porto.", "category": "weather"},
]
WEATHER = {"category": "weather"}


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember_many(ITEMS)
        yield engine


def visible(memory: Engine) -> list[str]:
    return [each.id for each in memory.list(oldest_first=True).memories]


def test_a_filter_forgets_all_that_pass_and_restore_undoes_it(memory: Engine) -> None:
    assert set(memory.forget(filter=WEATHER, dry_run=True)) == {"rain", "sun"}
    assert visible(memory) == ["rain", "tea", "sun"]
    forgotten = memory.forget(filter=WEATHER)
    assert set(forgotten) == {"rain", "sun"}
    assert visible(memory) == ["tea"]
    assert memory.forget(filter=WEATHER) == ()
    memory.restore(*forgotten)
    assert visible(memory) == ["rain", "tea", "sun"]


def test_a_filter_purges_hidden_memories_too(memory: Engine) -> None:
    memory.forget("rain")
    assert set(memory.purge(filter=WEATHER, dry_run=True)) == {"rain", "sun"}
    assert set(memory.purge(filter=WEATHER)) == {"rain", "sun"}
    assert [each.id for each in memory.list(hidden=True).memories] == ["tea"]
    assert memory.purge(filter=WEATHER) == ()


@pytest.mark.untraced
def test_more_than_one_page_is_removed(memory: Engine) -> None:
    memory.remember_many([{"content": f"note {number}", "tags": ["many"]} for number in range(1_203)])
    assert len(memory.forget(filter={"tags": "many"})) == 1_203
    assert visible(memory) == ["rain", "tea", "sun"]


@pytest.mark.parametrize("verb", ["forget", "purge"])
def test_what_is_to_be_removed_is_said_in_one_way_and_not_by_mistake(memory: Engine, verb: str) -> None:
    remove = getattr(memory, verb)
    with pytest.raises(InvalidArgument, match="left out where ids are given"):
        remove("tea", filter=WEATHER)
    with pytest.raises(InvalidArgument, match="at least one condition"):
        remove(filter={})
    with pytest.raises(MemoryNotFound):
        remove("nobody", dry_run=True)
    assert remove(filter={"id": {"exists": True}}, dry_run=True) == remove("sun", "tea", "rain", dry_run=True)
    assert visible(memory) == ["rain", "tea", "sun"]


def test_a_listing_goes_on_in_its_own_order(memory: Engine) -> None:
    first = memory.list(limit=2, oldest_first=True)
    assert [each.id for each in first.memories] == ["rain", "tea"]
    rest = memory.list(limit=2, oldest_first=True, cursor=first.cursor)
    assert ([each.id for each in rest.memories], rest.cursor) == (["sun"], None)
    newest = memory.list(limit=2)
    for cursor, oldest_first in ((first.cursor, False), (newest.cursor, True)):
        with pytest.raises(InvalidArgument, match="in the same order"):
            memory.list(cursor=cursor, oldest_first=oldest_first)


def test_a_given_vector_is_what_the_memory_is_found_by(memory: Engine) -> None:
    assert memory.embedder is not None
    about_dogs = memory.embedder.embed_query("dogs bark loudly")
    memory.remember("Zzyzx.", id="one", vector=about_dogs)
    memory.remember_many(
        [
            {"content": "Qwxk.", "id": "two", "vector": about_dogs.tolist()},
            {"content": "Vbnm.", "id": "three"},
        ]
    )
    found = memory.recall("dogs bark loudly", limit=2, min_confidence=0)
    assert {hit.memory.id for hit in found} == {"one", "two"}
    assert all(hit.memory.embedder == memory.embedder.name for hit in found)
    assert memory.recall("Vbnm").hits[0].memory.id == "three"


def test_a_vector_that_is_of_no_use_is_refused_and_nothing_is_written(memory: Engine) -> None:
    assert memory.embedder is not None
    good = memory.embedder.embed_query("dogs")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"vector": good[:-1]}, "of shape"),
        ({"vector": good * 2}, "norm"),
        ({"vector": np.full_like(good, np.nan)}, "finite"),
        ({"vector": good, "embedder": "another"}, "the one in use"),
    ]
    for details, message in wrong:
        with pytest.raises(InvalidArgument, match=message):
            memory.remember("A dog.", **details)
        with pytest.raises(InvalidArgument, match=message):
            memory.remember_many(["first", {"content": "A dog.", **details}])
    assert visible(memory) == ["rain", "tea", "sun"]
    kept = memory.remember("A dog.", vector=good, embedder=memory.embedder.name)
    assert kept.embedder == memory.embedder.name


def test_without_an_embedder_a_vector_is_refused() -> None:
    with memorata.open(":memory:", embedder=None) as memory, pytest.raises(InvalidArgument, match="left out"):
        memory.remember("A dog.", vector=[1.0, 0.0])


def test_under_a_key_a_vector_is_taken_once(memory: Engine) -> None:
    assert memory.embedder is not None
    vector = memory.embedder.embed_query("dogs")
    first = memory.put("k", "A dog.", vector=vector)
    assert memory.put("k", "A dog.", vector=vector, importance=0.9).id == first.id


def test_times_may_be_texts_in_every_verb(memory: Engine) -> None:
    day, after = "2026-05-07T12:00:00+02:00", "2027-01-01"
    moment = datetime(2026, 5, 7, 10, tzinfo=UTC)
    kept = memory.remember("Anna moved.", created_at=day, valid_from=day, expires_at="2099-01-01")
    assert (kept.created_at, kept.valid_from) == (moment, moment)
    assert memory.update(kept.id, valid_to=after).valid_to == datetime(2027, 1, 1, tzinfo=UTC)
    assert memory.remember_many([{"content": "Bob moved.", "created_at": day}])[0].created_at == moment
    relation = Graph(memory).entities.relate("Anna", "knows", "Bob", valid_from=day)
    assert relation.valid_from == moment
    assert not Graph(memory).entities.relations("Anna", as_of="2020-01-01")
    recalled = memory.recall(
        "who moved yesterday?", when=When(now="2026-05-08T12:00:00+02:00", since=day, until=after)
    )
    assert {hit.memory.content for hit in recalled} == {"Anna moved.", "Bob moved."}
    assert recalled.period is not None
    assert recalled.period.start == datetime(2026, 5, 6, 22, tzinfo=UTC)
    assert not memory.recall("who moved?", when=When(as_of="2020-01-01")).hits
    assert memory.recall("who moved?", when=When(true_at="2026-06-01")).hits
    assert len(Graph(memory).timeline(start=day, end="2026-05-08")) == 2
    assert memory.admin.feedback.recalls(since="2020-01-01")
    assert memory.forget(filter={"created_at": {"<=": day}}, dry_run=True)
    with pytest.raises(InvalidArgument, match="add Z"):
        memory.remember("Anna moved again.", created_at="2026-05-07T12:00:00")
