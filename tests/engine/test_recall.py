"""Recall, pages and history, end to end, on a store in memory with the lexical embedder."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import memorata
from memorata import Engine
from memorata.embed import LexicalEmbedder
from memorata.model import InvalidArgument
from memorata.model.query import Query, When

START = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: START) as engine:
        yield engine


def contents(memory: Engine, question: str, **options: Any) -> list[str]:
    return [hit.memory.content for hit in memory.recall(question, **options)]


def test_history_is_the_whole_chain_from_wherever_one_asks(memory: Engine) -> None:
    first = memory.remember("Anna lives in Porto.")
    second = memory.correct(first.id, "Anna lives in Lisbon.")
    third = memory.correct(second.id, "Anna lives in Faro.")
    for one in (first, second, third):
        assert [each.id for each in memory.history(one.id)] == [first.id, second.id, third.id]


def test_phrases_lift_and_exclusions_remove(memory: Engine) -> None:
    for text in ("tea that is green", "green tea", "green tea and coffee"):
        memory.remember(text)
    assert contents(memory, '"green tea" -coffee', recipe="bm25")[0] == "green tea"
    assert "green tea and coffee" not in contents(memory, "green tea -coffee")


def test_filters_limit_what_is_found(memory: Engine) -> None:
    memory.remember("Anna likes tea.", category="preference", confidence=0.9)
    memory.remember("Tea was served.", category="event", confidence=0.4)
    assert contents(memory, "tea", filter={"category": "event"}) == ["Tea was served."]
    assert contents(memory, "tea", filter={"confidence": {">=": 0.5}}) == ["Anna likes tea."]
    with pytest.raises(InvalidArgument, match="filter"):
        memory.recall("tea", filter={"colour": "green"})


def test_a_budget_takes_whole_memories(memory: Engine) -> None:
    for number in range(4):
        memory.remember(f"tea number {number} " + "x" * 40)
    answer = memory.recall("tea", budget=40)
    assert (len(answer), answer.omitted) == (2, 2)
    assert len(memory.recall("tea", budget=0)) == 0


def test_nothing_good_enough_says_what_came_closest(memory: Engine) -> None:
    memory.remember("Anna likes tea.", confidence=0.3)
    answer = memory.recall("tea", recipe={"least_confidence": 0.5})
    assert answer.hits == ()
    assert answer.rejected is not None
    assert answer.rejected.hit.memory.content == "Anna likes tea."
    assert answer.rejected.reason == "confidence 0.30 is below 0.50"
    # The best of one has the best score there is; what it lacks is told beside it.
    assert [(each.measure, each.value, each.least) for each in answer.rejected.missed] == [
        ("confidence", 0.3, 0.5)
    ]
    assert answer.rejected.hit.explanation.value == answer.rejected.hit.score


@pytest.mark.parametrize("question", ["", "   ", "the of and", "🍵", "\0", "-", '""'])
def test_a_question_without_words_is_answered_sensibly(memory: Engine, question: str) -> None:
    memory.remember("Anna likes tea.")
    assert memory.recall(question).hits == ()


def test_an_empty_store_and_limit_nought(memory: Engine) -> None:
    assert memory.recall("anything").hits == ()
    memory.remember("Anna likes tea.")
    assert memory.recall("tea", limit=0).hits == ()
    assert memory.list(limit=0).memories == ()


def test_pages_go_on_where_they_stopped(memory: Engine) -> None:
    memory.remember_many(f"thought {number}" for number in range(25))
    seen, cursor = [], None
    while True:
        page = memory.list(limit=10, cursor=cursor)
        seen += [kept.content for kept in page.memories]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [f"thought {number}" for number in reversed(range(25))]
    not_text: Any = 5
    for wrong in ("first", "", not_text):
        with pytest.raises(InvalidArgument, match="cursor"):
            memory.list(cursor=wrong)


def test_the_same_content_is_shown_once(memory: Engine) -> None:
    memory.remember("Anna likes tea.")
    memory.remember("anna likes TEA", duplicates="off")
    assert contents(memory, "tea") == ["Anna likes tea."]
    assert len(contents(memory, "tea", recipe={"deduplicate": False})) == 2


def test_the_type_of_question_can_choose_the_weights(memory: Engine) -> None:
    memory.remember("Anna likes tea.")
    hit = memory.recall("Explain why the tea boiled over", recipe="adaptive").hits[0]
    parts = {part.label: part.value for part in hit.explanation.walk() if part.label in ("vector", "lexical")}
    assert parts["vector"] == pytest.approx(0.7)


def test_a_given_vector_is_used_and_a_wrong_one_refused(memory: Engine) -> None:
    memory.remember("Anna likes tea.")
    vector = LexicalEmbedder().embed_query("tea")
    assert memory.recall(Query("zzz", vector=vector)).hits
    with pytest.raises(InvalidArgument, match="vector must be of shape"):
        memory.recall(Query("tea", vector=np.zeros(3, np.float32)))


class Backwards:
    """A re-ranker that likes short texts best."""

    name = "brevity"

    def score(self, query: str, texts: Any) -> Any:
        return np.array([-float(len(text)) for text in texts])


def test_a_reranker_is_blended_and_explained(memory: Engine) -> None:
    long, short = "tea tea tea and nothing but tea, all day long", "tea, sometimes"
    memory.remember_many([long, short])
    memory.reranker = Backwards()
    changes = {"rerank_depth": 10, "rerank_weight": 1.0, "deduplicate": False}
    answer = memory.recall("tea", recipe=changes)
    assert [hit.memory.content for hit in answer] == [short, long]
    for hit in answer:
        assert hit.explanation.value == hit.score
        assert "brevity" in str(hit.explanation)
    memory.reranker = None
    assert "asks for a re-ranker" in memory.recall("tea", recipe=changes).degraded[0]


def test_time_joins_in_when_a_period_is_given(memory: Engine) -> None:
    memory.remember("The team met.", created_at=START - timedelta(days=30))
    memory.remember("The team met again.", created_at=START - timedelta(days=1))
    month_ago = memorata.Period.around(START - timedelta(days=30), timedelta(days=3))
    answer = memory.recall("team met", recipe="memini", when=When(period=month_ago))
    assert answer.hits[0].memory.content == "The team met."
    assert "time" in str(answer.hits[0].explanation)


def test_the_answer_as_plain_data(memory: Engine) -> None:
    memory.remember("Anna likes tea.")
    data = memory.recall("tea").as_dict(explain=True)
    assert data["hits"][0]["content"] == "Anna likes tea."
    assert data["hits"][0]["explanation"]["value"] == data["hits"][0]["score"]
    assert set(data["milliseconds"]) == {"reading", "embedding", "search"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"recipe": ["vector_weight"]}, "recipe must be"),
        ({"recipe": {"vector_wieght": 1}}, "did you mean vector_weight?"),
        ({"recipe": "balancd"}, "did you mean balanced?"),
    ],
)
def test_what_cannot_be_used_is_told_with_what_could(memory: Engine, options: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        memory.recall("tea", **options)


def test_a_word_that_cannot_be_excluded_is_told() -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember("The news are on tv")
        found = memory.recall("news -tv")
        assert len(found) == 1
        (told,) = found.degraded
        assert told == "'tv' is too short or too common to be excluded; -\"tv\" leaves out what says it"
        many = memory.recall("news -tv -the -rf -it -an").degraded
        assert many[0].startswith("'tv', 'the', 'rf' and 2 more are too short or too common to be excluded; ")
        assert memory.recall("news -tv -it").degraded[0].startswith("'tv', 'it' are too short")
        quoted = memory.recall('news -"tv"')
        assert (len(quoted), quoted.degraded) == (0, ())
