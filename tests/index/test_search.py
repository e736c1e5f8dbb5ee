"""A look at a namespace: who stands around whom, words in context, and what may be seen of it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import memorata
from memorata.engine.recall.legs import nearby, timely
from memorata.index.lexical import LexicalQuery
from memorata.index.search import NamespaceIndex
from memorata.model import Period, Place, Source
from memorata.rank.bm25 import ContextWindow

NOW = datetime(2026, 5, 7, tzinfo=UTC)
FIELDS = {"content": 1.0}
READING = ContextWindow(before=0.7, after=0.3)


@pytest.fixture
def memory() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        engine.remember_many(
            [
                {"id": "a", "content": "the teapot", "source": {"session": "s", "position": 0}},
                {"id": "b", "content": "bought abroad", "source": {"session": "s", "position": 1}},
                {"id": "c", "content": "on holiday", "source": {"session": "s", "position": 2}},
                {
                    "id": "d",
                    "content": "elsewhere",
                    "place": Place(1, 2),
                    "valid_from": NOW - timedelta(days=9),
                },
            ]
        )
        yield engine


def test_neighbours_are_those_that_may_be_seen(memory: memorata.Engine) -> None:
    with memory.store.view("default", NOW) as view:
        assert view.neighbours(np.array([0]), 2).tolist() == [[-1], [-1], [1], [2]]
    memory.forget("b")
    with memory.store.view("default", NOW) as view:
        assert view.neighbours(np.array([0]), 2).tolist() == [[-1], [-1], [-1], [2]]
    with memory.store.view("default", NOW, filter=None) as view:
        assert view.without(np.array([0, 2, 3]), ["teapot"]).tolist() == [2, 3]


def test_the_words_of_a_neighbour_that_was_forgotten_are_not_read(memory: memorata.Engine) -> None:
    query = LexicalQuery({"teapot": 1.0}, FIELDS)
    slots = np.array([1, 3])
    with memory.store.view("default", NOW) as view:
        read = view.score(query, slots, READING)
        assert read.scores[0] > 0
        assert read.scores[1] == 0
        assert read.detail is not None
        assert read.detail(slots).scores.tolist() == read.scores.tolist()
        # The same question again is answered alike, from what was looked up before.
        assert view.score(query, slots, READING).scores.tolist() == read.scores.tolist()
    memory.forget("a")
    with memory.store.view("default", NOW) as view:
        assert view.score(query, slots, READING).scores.tolist() == [0.0, 0.0]


def test_where_nobody_has_a_neighbour_context_changes_no_score_by_a_bit() -> None:
    contents = ["green tea", "tea and tea with rum", "black coffee", "rum", "green green rum"]
    query = LexicalQuery({"green": 1.0, "tea": 0.7, "rum": 1.3}, {"content": 1.0, "tags": 0.6})
    slots = np.arange(len(contents))
    scores = []
    for source in (Source(), Source(session="s", position=0)):
        with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
            engine.remember_many([{"content": each, "tags": ["tea"]} for each in contents])
            # One session anywhere, and the table of terms and neighbours is made.
            engine.remember("nothing of it", source=source)
            with engine.store.view("default", NOW) as view:
                alone, read = view.search(query, 10), view.score(query, slots, READING)
                assert dict(zip(alone.slots, alone.scores, strict=True)) == dict(
                    zip(slots, read.scores, strict=True)
                )
                assert read.detail is not None
                assert read.detail(slots[1:3]).scores.tolist() == read.scores[1:3].tolist()
                assert read.ceiling == alone.ceiling
                scores.append(read.scores.tolist())
    assert scores[0] == scores[1]


def test_cosines_of_some_are_those_of_the_search(memory: memorata.Engine) -> None:
    assert memory.embedder is not None
    aim = memory.embedder.embed_query("the teapot")
    with memory.store.view("default", NOW) as view:
        found = view.search(aim, 4)
        assert view.score(aim, found.slots).scores.tolist() == pytest.approx(found.scores.tolist(), abs=1e-6)


def test_time_and_place(memory: memorata.Engine) -> None:
    then = Period(NOW - timedelta(days=10), NOW - timedelta(days=8))
    with memory.store.view("default", NOW) as view:
        assert timely(view.records(), view.without(None, ()), then, 5).slots.tolist() == [3]
        assert nearby(view.records(), view.without(None, ()), Place(1, 2), 5, 1_000.0).scores.tolist() == [
            1.0
        ]
    with memory.store.view("default", NOW, true_at=NOW - timedelta(days=9)) as view:
        assert view.status.count == 1


@pytest.mark.untraced
def test_lists_of_segments_follow_what_is_written(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(40)]
    with memorata.open(tmp_path / "m.db", embedder="lexical", clock=lambda: NOW) as engine:
        # Enough of them to be in a segment and no longer in the tail.
        items = [{"content": f"{word} number {number}"} for number in range(30) for word in words]
        engine.remember_many(items, duplicates="off")

        def found(word: str) -> int:
            with engine.store.view("default", NOW) as view:
                assert isinstance(view, NamespaceIndex)
                return int(view.document_frequencies([word])[1][word])

        assert [found(word) for word in words] == [30] * 40
        engine.remember_many(
            [{"content": f"{word} again"} for word in words for _ in range(30)], duplicates="off"
        )
        assert [found(word) for word in words] == [60] * 40
