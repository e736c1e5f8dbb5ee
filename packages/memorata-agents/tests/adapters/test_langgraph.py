"""LangGraph's store: what its own stores are tested for, asked of ours."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memorata

pytest.importorskip("langgraph.store.base", reason="make test-adapters installs LangGraph")

from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp

from memorata_agents.langgraph import MemorataStore


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 7, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(clock: Clock) -> Iterator[MemorataStore]:
    with memorata.open(":memory:", embedder="lexical", clock=clock) as engine:
        yield MemorataStore(engine)


def test_put_get_and_delete(store: MemorataStore) -> None:
    store.put(("users", "anna"), "tea", {"drink": "green tea", "cups": [1, {"size": 2}]})
    item = store.get(("users", "anna"), "tea")
    assert item is not None
    assert item.value == {"drink": "green tea", "cups": [1, {"size": 2}]}
    assert (item.namespace, item.key) == (("users", "anna"), "tea")
    store.delete(("users", "anna"), "tea")
    assert store.get(("users", "anna"), "tea") is None
    store.delete(("users", "anna"), "tea")
    assert store.get(("users", "nobody"), "tea") is None


def test_an_overwritten_item_keeps_when_it_was_made(store: MemorataStore, clock: Clock) -> None:
    store.put(("a",), "k", {"text": "one"})
    first = store.get(("a",), "k")
    clock.now += timedelta(hours=1)
    store.put(("a",), "k", {"text": "two"})
    second = store.get(("a",), "k")
    assert first is not None
    assert second is not None
    assert second.value == {"text": "two"}
    assert second.created_at == first.created_at < second.updated_at
    assert len(store.search(("a",))) == 1


def test_the_same_text_with_another_value_is_another_value(store: MemorataStore) -> None:
    for number in (1, 2):
        store.put(("a",), "k", {"text": "tea", "n": number}, index=["text"])
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value["n"] == 2


def test_search_by_meaning_in_a_prefix(store: MemorataStore) -> None:
    store.put(("users", "anna"), "tea", {"text": "Anna drinks green tea"})
    store.put(("users", "anna", "music"), "cello", {"text": "Anna plays the cello"})
    store.put(("users", "annabel"), "tea", {"text": "Annabel drinks tea"})
    found = store.search(("users", "anna"), query="who drinks tea?")
    assert [item.key for item in found] == ["tea", "cello"]
    assert found[0].namespace == ("users", "anna")
    assert found[0].score is not None
    assert found[0].score > (found[1].score or 0.0)
    assert len(store.search((), query="tea")) == 3
    assert [item.key for item in store.search(("users", "anna"), query="tea", limit=1, offset=1)] == ["cello"]


def test_a_search_is_ungated_unless_asked(store: MemorataStore) -> None:
    store.put(("u", "anna"), "tea", {"text": "Anna drinks green tea"})
    assert [item.key for item in store.search(("u",), query="zebra")] == ["tea"]
    sure = MemorataStore(store.engine, min_confidence=0.3)
    assert sure.search(("u",), query="zebra") == []
    assert [item.key for item in sure.search(("u",), query="who drinks green tea?")] == ["tea"]


def test_what_is_not_indexed_is_listed_and_not_found(store: MemorataStore) -> None:
    store.put(("a",), "secret", {"text": "tea"}, index=False)
    store.put(("a",), "field", {"text": "tea", "other": "cello"}, index=["other"])
    assert {item.key for item in store.search(("a",))} == {"secret", "field"}
    assert {item.key for item in store.search(("a",), query="cello")} == {"field"}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"kind": "a"}, {"one", "two"}),
        ({"n": {"$gt": 1}}, {"two", "three"}),
        ({"n": {"$gte": 1, "$lt": 3}}, {"one", "two"}),
        ({"n": {"$lte": 1}}, {"one"}),
        ({"kind": {"$ne": "a"}}, {"three"}),
        ({"kind": {"$eq": "a"}, "n": 2}, {"two"}),
    ],
)
def test_filters(store: MemorataStore, conditions: dict[str, Any], expected: set[str]) -> None:
    for number, (name, kind) in enumerate([("one", "a"), ("two", "a"), ("three", "b")], 1):
        store.put(("x",), name, {"n": number, "kind": kind, "text": "tea"})
    assert {item.key for item in store.search(("x",), filter=conditions)} == expected
    assert {item.key for item in store.search(("x",), query="tea", filter=conditions)} == expected


def test_filters_of_nested_listed_and_infinite_values(store: MemorataStore) -> None:
    store.put(("x",), "one", {"n": 1, "tags": ["draft"], "user": {"access-level": "nested"}})
    store.put(("x",), "two", {"n": -2, "tags": ["draft", "old"], "123abc": "ok"})
    infinity = float("inf")
    for conditions, expected in (
        ({"tags": ["draft"]}, {"one"}),
        ({"tags": {"$ne": ["draft"]}}, {"two"}),
        ({"user": {"access-level": "nested"}}, {"one"}),
        ({"user.access-level": "nested"}, {"one"}),
        ({"123abc": "ok"}, {"two"}),
        ({"n": {"$lt": infinity}}, {"one", "two"}),
        ({"n": {"$gt": -infinity, "$lt": 0}}, {"two"}),
        ({"n": {"$gte": infinity}}, set()),
        ({"n": float("nan")}, set()),
        ({"n": {"$lt": 10**100}}, {"one", "two"}),
        ({"n') = 1 OR '1'='1' OR ('": "x"}, set()),
    ):
        assert {item.key for item in store.search(("x",), filter=conditions)} == expected, conditions


def test_an_operator_that_is_not_known(store: MemorataStore) -> None:
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(("x",), filter={"n": {"$near": 3}})
    with pytest.raises(ValueError, match="Invalid filter key"):
        store.search(("x",), filter={"n.": 3})


def test_a_batch_reads_before_it_writes_and_answers_in_order(store: MemorataStore) -> None:
    store.put(("a",), "k", {"n": 1})
    item, put, found, again, namespaces = store.batch(
        [
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 2}),
            SearchOp(("a",)),
            PutOp(("a",), "k", {"n": 3}),
            ListNamespacesOp(),
        ]
    )
    assert item.value == {"n": 1}
    assert put is again is None
    assert [each.value for each in found] == [{"n": 1}]
    assert namespaces == [("a",)]
    latest = store.get(("a",), "k")
    assert latest is not None
    assert latest.value == {"n": 3}


def test_namespaces_are_listed(store: MemorataStore) -> None:
    for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("z",)):
        store.put(namespace, "k", {"n": 1})
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c"), ("a", "x", "c")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z",)]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d")]
    condition = MatchCondition("prefix", ("a", "b", "c", "e"))
    assert store.batch([ListNamespacesOp((condition,))]) == [[]]


def test_items_live_as_long_as_they_are_told_to(store: MemorataStore, clock: Clock) -> None:
    store.put(("a",), "k", {"text": "tea"}, ttl=10)
    clock.now += timedelta(minutes=8)
    assert store.get(("a",), "k", refresh_ttl=True) is not None
    clock.now += timedelta(minutes=8)
    assert store.get(("a",), "k", refresh_ttl=False) is not None
    clock.now += timedelta(minutes=3)
    assert store.get(("a",), "k") is None
    assert store.search(("a",)) == []
    assert store.search(("a",), query="tea") == []
    assert store.list_namespaces() == []


def test_awaited(store: MemorataStore) -> None:
    async def main() -> Any:
        await store.aput(("a",), "k", {"text": "tea"})
        return await store.asearch(("a",), query="tea")

    assert [item.key for item in asyncio.run(main())] == ["k"]


def test_labels_and_keys_may_hold_anything_else(store: MemorataStore) -> None:
    for namespace, key in ((("a/b", "c d"), "x/y"), (("日本", "ü"), "k.k"), (('q"',), "'")):
        store.put(namespace, key, {"n": 1})
        item = store.get(namespace, key)
        assert item is not None
        assert (item.namespace, item.key) == (namespace, key)
