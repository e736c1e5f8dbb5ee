"""What nobody has said before is known at a glance: after a few looks, and never wrongly."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.dedupe.fingerprint import fingerprint
from memorata.dedupe.openings import concern
from memorata.index import openings
from memorata.model.memory import Memory, Source
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry
from memorata.store.memory.repeats import Repeat

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
HERE = "acme/alice"
NEW = "Clara paints the old garden fence"


def entry(id: str, content: str, **fields: Any) -> Entry:
    usual: dict[str, Any] = {"namespace": HERE, "created_at": NOW, "fingerprint": fingerprint(content)}
    return Entry(Memory(id=id, content=content, **(usual | fields)), {"content": {content: 1}})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "m.db")) as made:
        yield made


def patiently(store: SqliteStore, content: str) -> bool:
    """Ask until openings have been read, and return the answer."""
    for _ in range(openings._MIN_LOOKS + 4):
        found = store.is_new(HERE, content)
    return found


def test_who_asks_for_the_first_time_is_sent_to_search(store: SqliteStore) -> None:
    assert store.is_new(HERE, NEW)
    store.add([entry("a", "Anna likes tea")])
    answers = [store.is_new(HERE, NEW) for _ in range(openings._MIN_LOOKS + 2)]
    assert answers == [*[False] * openings._MIN_LOOKS, True, True]


def test_what_is_repeated_contradicted_or_too_short_is_no_news(store: SqliteStore) -> None:
    store.add([entry("a", "Anna lives in Rome"), entry("b", "Bob drinks green tea"), entry("c", "Go on")])
    assert patiently(store, NEW)
    assert store.is_new(HERE, "Anna collects stamps from Norway")
    assert not store.is_new(HERE, "Anna moved to Paris")
    assert not store.is_new(HERE, "Bob really drinks the green tea")
    assert not store.is_new(HERE, "Go on to London")
    assert not store.is_new(HERE, "Bob")
    assert store.is_new("acme/bob", "Anna moved to Paris")


def test_what_was_written_since_is_known_whoever_wrote_it(store: SqliteStore) -> None:
    store.add([entry("a", "Anna likes tea")])
    assert patiently(store, NEW)
    store.add([entry("b", NEW)])
    assert not store.is_new(HERE, NEW.lower() + "!")
    with closing(SqliteStore(store.path)) as other:
        other.add([entry("c", "Dora sells the blue car")])
    assert not store.is_new(HERE, "Dora sells blue car")


def test_turns_of_a_transcript_are_neither_repeated_nor_contradicted(store: SqliteStore) -> None:
    turn = Source(speaker="Anna", session="s", position=0)
    store.add([entry("a", NEW, source=turn)])
    assert patiently(store, NEW)
    store.add([entry("b", NEW, source=Source(speaker="Anna", session="s", position=1))])
    assert store.is_new(HERE, NEW)
    store.add([entry("c", NEW, source=Source(speaker="Anna", session="s"))])
    assert not store.is_new(HERE, NEW)


def test_what_is_superseded_may_come_back_so_it_counts(store: SqliteStore) -> None:
    store.add([entry("a", NEW), entry("b", "Anna likes tea")])
    store.duplicates.repeat(HERE, [Repeat("b", "a", "exact", "said again", NOW)])
    assert not patiently(store, "Anna likes the tea")


def test_what_was_purged_is_no_longer_there(store: SqliteStore) -> None:
    store.add([entry("a", NEW), entry("b", "Anna likes tea")])
    assert not patiently(store, NEW)
    store.purge(HERE, ["a"])
    assert store.is_new(HERE, NEW)
    store.purge_namespace(HERE)
    store.add([entry("c", "Dora sells the blue car")])
    assert not patiently(store, "Dora sells blue car")
    assert store.is_new(HERE, "Anna likes the tea")


def test_what_was_undone_was_never_said(store: SqliteStore) -> None:
    store.add([entry("a", "Anna likes tea")])
    assert patiently(store, NEW)

    def undone() -> None:
        with store.together():
            store.add([entry("b", NEW)])
            assert not store.is_new(HERE, NEW)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    store.add([entry("c", "Dora sells the blue car")])
    assert patiently(store, NEW)
    assert not store.is_new(HERE, "Dora sells blue car")


def test_of_many_that_begin_alike_a_search_tells_sooner(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([entry(str(number), f"Anna counts {number} sheep at night") for number in range(5)])
    assert patiently(store, NEW)
    chess = "Anna plays chess with seven old friends in winter"
    assert store.is_new(HERE, chess)
    monkeypatch.setattr(openings, "_MAX_SHARING", 2)
    assert not store.is_new(HERE, chess)


def test_a_large_namespace_is_read_a_part_at_a_time(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openings, "_PAGE_SIZE", 2)
    store.add([entry(str(number), f"Number {number} is here") for number in range(5)])
    answers = [store.is_new(HERE, NEW) for _ in range(openings._MIN_LOOKS + 3)]
    assert answers == [*[False] * (openings._MIN_LOOKS + 2), True]


def test_few_namespaces_are_kept(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openings, "_MAX_NAMESPACES", 1)
    store.add([entry("a", "Anna likes tea"), entry("b", "Anna likes tea", namespace="acme/bob")])
    assert patiently(store, NEW)
    assert not store.is_new("acme/bob", NEW)
    assert not store.is_new(HERE, NEW)


WORDS = [
    "Anna",
    "Bob",
    "my",
    "dog",
    "likes",
    "doesn't",
    "like",
    "tea",
    "lives",
    "in",
    "Rome",
    "Paris",
    "the",
    "ok",
]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@given(st.lists(texts, max_size=10), st.lists(texts, min_size=1, max_size=5), st.integers(0, 10))
@example(["Anna Anna"], ["Anna doesn't Anna"], 0)
def test_nobody_is_told_that_nothing_was_said_when_something_was(
    said: list[str], new: list[str], cut: int
) -> None:
    entries = [entry(str(number), text) for number, text in enumerate(said)]
    with closing(SqliteStore(":memory:")) as store:
        store.add(entries[:cut])
        patiently(store, NEW)
        store.add(entries[cut:])
        for text in new:
            if store.is_new(HERE, text):
                assert not any(concern(old, text) for old in said)
