"""Pages and views of every store give what a filter means in Python, before and after a memory changes."""

from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memorata.model.memory import Memory
from memorata.store.entries import Entry, Page, all_pages
from memorata.store.filters import Filter, matches, parse
from memorata.store.store import Store
from memorata.testing.filter_samples import FILTERS, MEMORIES, remembered
from memorata.testing.samples import NOW, found_ids, query

NAMESPACES = count()
MOST = 1_000


def countable(memory: Memory) -> Memory:
    """Return a memory whose counts a store takes."""
    source = replace(memory.source, position=memory.source.position and min(memory.source.position, MOST))
    mentions, accesses = min(memory.mentions, MOST), min(memory.access_count, MOST)
    return replace(memory, source=source, mentions=mentions, access_count=accesses)


def in_pages(store: Store, namespace: str, filter: Filter) -> list[str]:
    newest, oldest = (
        [memory.id for memory in all_pages(partial(paged, store, namespace, filter, oldest_first))]
        for oldest_first in (False, True)
    )
    assert oldest == newest[::-1]
    return oldest


def paged(store: Store, namespace: str, filter: Filter, oldest_first: bool, cursor: str | None) -> Page:
    return store.page(namespace, filter, 2, cursor, hidden=True, oldest_first=oldest_first)


def in_view(store: Store, namespace: str, filter: Filter | None) -> list[str]:
    with store.view(namespace, NOW, filter=filter) as view:
        return sorted(found_ids(view, view.search(query("tea"), 100)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MEMORIES, min_size=1, max_size=5), MEMORIES, st.lists(FILTERS, min_size=1, max_size=4))
@example([remembered(metadata={"a": 1})], remembered(metadata={"a": True}), [{"metadata.a": 1}])
@example(
    [remembered(metadata={"a": 1}), remembered(metadata={"a": True}), remembered(metadata={"a": "1"})],
    remembered(metadata={"a": 1.0}),
    [{"metadata.a": 1}, {"metadata.a": True}, {"metadata.a": "1"}, {"metadata.a": 1.0}],
)
@example(
    [remembered(category="a", tags=["t"] * (number % 3 == 0)) for number in range(9)],
    remembered(category="b"),
    [{"category": "a", "tags": "t"}, {"not": {"category": "a", "tags": "t"}}],
)
def test_a_store_gives_what_a_filter_means(
    store: Store, memories: list[Memory], other: Memory, filters: list[dict[str, Any]]
) -> None:
    """Of memories of any shape; the answers of the second round must not be those of the first."""
    namespace = f"n{next(NAMESPACES)}"
    store.add(
        [
            Entry(replace(countable(memory), id=f"m{number}", namespace=namespace), {"content": {"tea": 1}})
            for number, memory in enumerate(memories)
        ]
    )
    for _ in range(2):
        stored = list(store.export(namespace))
        visible = in_view(store, namespace, None)
        for wanted in filters:
            filter = parse(wanted)
            passing = [memory.id for memory in stored if matches(filter, memory)]
            assert in_pages(store, namespace, filter) == passing
            assert in_view(store, namespace, filter) == sorted({*passing} & {*visible})
        changed = replace(stored[0], metadata=other.metadata, category=other.category)
        store.update(changed, stored[0].version)
