from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.engine.recipes import RECIPES
from memorata.model.errors import InvalidArgument, MemoryNotFound
from memorata.model.query import When

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[memorata.Engine]:
    with memorata.open(
        tmp_path / "m.db", embedder="lexical", clock=lambda: NOW, config={"durable": False}
    ) as opened:
        yield opened


QUESTIONS = [
    "",
    " \n\t",
    "the of and",
    "?!…",
    "\0",
    "👩‍🚀",
    "-",
    "-tea",
    '""',
    '"',
    "tea " * 20_000,
    "שלום",
    "'; DROP",
]


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_any_question_has_an_answer(memory: memorata.Engine, recipe: str) -> None:
    for question in QUESTIONS:
        assert memory.recall(question, recipe=recipe).hits == (), question
    memory.remember_many(["green tea", "a letter from Anna", "👩‍🚀 went up"])
    for question in QUESTIONS:
        answer = memory.recall(question, recipe=recipe)
        assert all(hit.explanation.value == hit.score for hit in answer), question


def test_an_empty_store_answers_everything(memory: memorata.Engine) -> None:
    assert memory.recall("tea").hits == ()
    assert memory.recall("tea").rejected is None
    assert memory.list().memories == ()
    assert memory.admin.check() == []
    assert memory.admin.check(repair=True) == []
    assert list(memory.store.export(None)) == []
    assert memory.store.statistics()["memories"] == 0
    with pytest.raises(MemoryNotFound):
        memory.history("nobody")
    with pytest.raises(MemoryNotFound):
        memory.forget("nobody")
    assert memory.remember_many([]) == []


def test_a_question_of_nothing_but_stop_words_finds_nothing_and_says_so(memory: memorata.Engine) -> None:
    memory.remember("To be, or not to be.")
    answer = memory.recall("the of and")
    assert answer.hits == ()
    assert not answer.degraded


def test_no_hits_wanted_no_hits_given(memory: memorata.Engine) -> None:
    memory.remember("tea")
    answer = memory.recall("tea", limit=0)
    assert (answer.hits, answer.rejected) == ((), None)
    assert memory.list(limit=0).memories == ()
    for wrong in (-1, 1.5, "3", None, True):
        bad: Any = wrong
        with pytest.raises(InvalidArgument, match="limit"):
            memory.recall("tea", limit=bad)
        with pytest.raises(InvalidArgument, match="limit"):
            memory.list(limit=bad)
    assert len(memory.recall("tea", limit=2**62)) == 1
    assert len(memory.list(limit=2**62).memories) == 1


def test_a_namespace_nobody_has_is_empty(memory: memorata.Engine) -> None:
    memory.remember("tea")
    assert memory.recall("tea", namespace="nobody/here").hits == ()
    assert memory.list(namespace="nobody/here").memories == ()
    assert list(memory.store.namespaces()) == ["default"]


@pytest.mark.untraced
def test_a_megabyte_is_remembered_whole_and_found_by_its_end(memory: memorata.Engine) -> None:
    content = "\n".join(f"line {n} of the log says nothing new" for n in range(27_000)) + " zebra"
    assert len(content) > 1_000_000
    said = memory.remember(content)
    memory.remember_many([f"short note {n}" for n in range(20)])
    assert memory.get(said.id).content == content
    (first, *_) = memory.recall("zebra", recipe="bm25")
    assert first.memory.content == content
    assert memory.admin.check() == []
    assert memory.recall("zebra", recipe="bm25", budget=10).omitted == 1


def test_a_word_said_a_hundred_thousand_times_is_counted_as_far_as_it_matters(
    memory: memorata.Engine,
) -> None:
    memory.remember("tea " * 100_000)
    assert len(memory.recall("tea", recipe="bm25")) == 1
    memory.remember_many([f"cup {n}" for n in range(300)])
    assert len(memory.recall("tea", recipe="bm25")) == 1
    assert memory.admin.check() == []


TEXTS = [
    "👩‍🚀 likes 🍵 very much",
    "שלום עולם, תה ירוק",
    "\u202eright to left\u202c and back",
    "before\0after the NUL",
    "日本語の文章です。緑茶が好きです。",
    "Ｆｕｌｌ　ｗｉｄｔｈ ﬁne ligature",
    "e\u0301 and \u00e9",
    "'; DROP TABLE memories; --",
    "\ufeffbyte order mark",
    "\U0010ffff the last one",
    "a" * 5_000,
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
def test_text_of_every_kind_is_kept_and_found(memory: memorata.Engine, text: str) -> None:
    memory.remember_many(["something else", "and another thing"])
    said = memory.remember(
        text, tags=(text[:20].strip(),), metadata={text[:20]: text}, source={"speaker": text[:20]}
    )
    assert memory.get(said.id) == said
    assert said.content == text
    found = memory.recall(text)
    assert found.hits[0].memory == said
    assert memory.list(filter={"content": text}).memories == (said,)
    assert memory.admin.check() == []


@pytest.mark.parametrize(
    "details",
    [
        {"content": "half \ud83c"},
        {"tags": ("\ud83c",)},
        {"entities": ("\udf75",)},
        {"category": "\ud83c"},
        {"metadata": {"a": ["\ud83c"]}},
        {"source": {"speaker": "\ud83c"}},
        {"source": {"session": "\ud83c"}},
        {"id": "\ud83c"},
        {"namespace": "\ud83c"},
        {"supersedes": ("\ud83c",)},
    ],
    ids=str,
)
def test_half_a_surrogate_pair_is_refused_before_anything_is_written(
    memory: memorata.Engine, details: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument):
        memory.remember_many([{"content": "fine"}, {"content": "tea"} | details])
    assert memory.store.namespaces() == {}


def test_half_a_surrogate_pair_is_refused_in_questions(memory: memorata.Engine) -> None:
    memory.remember("tea")
    asked: list[Any] = [
        lambda: memory.recall("tea \ud83c"),
        lambda: memory.recall("tea", namespace="\ud83c"),
        lambda: memory.recall("tea", filter={"content": "\ud83c"}),
        lambda: memory.list(filter={"metadata.\ud83c": 1}),
        lambda: memory.list(cursor="\ud83c"),
        lambda: memory.get("\ud83c"),
        lambda: memory.forget("\ud83c"),
    ]
    for question in asked:
        with pytest.raises(InvalidArgument):
            question()


@pytest.mark.parametrize(
    "details", [{"mentions": 2**63}, {"access_count": 2**32}, {"source": {"position": 2**31}}]
)
def test_numbers_too_large_for_their_columns_are_refused(
    memory: memorata.Engine, details: dict[str, Any]
) -> None:
    with pytest.raises(InvalidArgument, match="below"):
        memory.remember("tea", **details)
    assert memory.store.namespaces() == {}


def test_times_at_the_ends_of_the_calendar_are_kept(memory: memorata.Engine) -> None:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    said = memory.remember("tea", created_at=last, valid_from=first, valid_to=last, expires_at=last)
    assert memory.get(said.id) == said
    assert len(memory.recall("tea")) == 1
    assert len(memory.recall("tea", when=When(as_of=first))) == 0
