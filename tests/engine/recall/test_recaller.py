from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.engine.embedding import Embedding
from memorata.engine.recall.query import Request
from memorata.engine.recall.recaller import Recaller
from memorata.engine.recipes import recipe
from memorata.model.errors import ModelCorrupt
from memorata.model.query import Query, When
from memorata.text import RuleAnchors, RuleClassifier
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def request(text: str, **changes: Any) -> Request:
    values: dict[str, Any] = {
        "text": text,
        "limit": 10,
        "sessions": False,
        "namespace": "default",
        "recipe": recipe("balanced"),
        "filter": None,
        "now": NOW,
        "as_of": None,
        "true_at": None,
        "period": None,
        "near": None,
        "budget": None,
        "vector": None,
    }
    return Request(**(values | changes))


def recaller(memory: memorata.Engine) -> Recaller:
    meaning = Embedding(memory.embedder, memory.store)
    runtime = memory.runtime
    return Recaller(runtime, meaning, RuleClassifier(), None, RuleAnchors())


def test_it_is_what_the_engine_answers() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many(["green tea", "black tea", "a walk in the park"])
        found, expected = recaller(memory).answer(request("green tea")), memory.recall("green tea")
    assert [(hit.memory, hit.score) for hit in found] == [(hit.memory, hit.score) for hit in expected]
    assert [hit.explanation for hit in found] == [hit.explanation for hit in expected]
    assert list(found.milliseconds) == ["reading", "embedding", "search"]
    assert all(spent >= 0 for spent in found.milliseconds.values())


def test_a_recall_as_of_a_time_walks_the_graph_of_then() -> None:
    moment = [NOW]
    with memorata.open(":memory:", embedder="lexical", clock=lambda: moment[0]) as memory:
        memory.remember("Anna is here", entities=["Anna"])
        old = memory.remember("The pump is blue", entities=["Unit 7"])
        Graph(memory).entities.relate("Anna", "runs", "Unit 7", memory=old.id)
        moment[0] = NOW + timedelta(days=1)
        memory.correct(old.id, "The pump is red", entities=["Unit 7"])
        only_paths = {"graph": "paths", "vector_pool": 0}
        then = memory.recall("Anna", recipe={"base": "semstreams", **only_paths}, when=When(as_of=NOW))
        # By the relation of then to the memory of then; the relation has gone with what it rested on.
        assert [hit.memory.content for hit in then] == ["Anna is here", "The pump is blue"]
        now = memory.recall("Anna", recipe={"base": "semstreams", **only_paths})
        assert [hit.memory.content for hit in now] == ["Anna is here"]


def test_what_does_not_fit_the_budget_is_counted() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many(["green tea " * 20, "green tea, black tea"])
        found = recaller(memory).answer(request("green tea", budget=1))
    assert (len(found), found.omitted) == (0, 2)


@pytest.mark.parametrize(("limit", "named"), [(10, True), (0, False)])
def test_the_best_rejected_is_named_if_anything_was_asked_for(limit: int, named: bool) -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember("green tea", confidence=0.1)
        strict = recipe("balanced").changed({"least_confidence": 0.9})
        found = recaller(memory).answer(request("green tea", recipe=strict, limit=limit))
    assert len(found) == 0
    assert (found.rejected is not None) is named


def test_what_is_missing_is_said() -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        memory.remember("green tea")
        wanted = recipe("balanced").changed({"rerank_depth": 5})
        found = recaller(memory).answer(request("green tea", recipe=wanted))
    assert [said.split(":")[0].split(",")[0] for said in found.degraded] == [
        "no embedder",
        "recipe 'balanced' asks for a re-ranker",
    ]


def test_a_re_ranker_that_fails_is_said_and_the_question_answered() -> None:
    class Broken:
        name = "broken"

        def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
            raise ModelCorrupt("its file is not the pinned one")

    with memorata.open(
        ":memory:", embedder="lexical", clock=lambda: NOW, config={"reranker": Broken()}
    ) as memory:
        memory.remember("green tea")
        answer = memory.recall("green tea", recipe={"rerank_depth": 5})
    assert len(answer) == 1
    assert answer.degraded == (
        "the re-ranker failed, so nothing was re-ranked: its file is not the pinned one",
    )


def test_sessions_come_with_the_memories_that_speak_for_them() -> None:
    said: list[dict[str, Any]] = [
        *(
            {"content": f"green tea {word}", "source": {"session": "tea"}}
            for word in ("cup", "pot", "leaf", "bag")
        ),
        {"content": "green tea and a train", "source": {"session": "trip"}},
        {"content": "green tea alone"},
    ]
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many(said)
        found = memory.recall(Query("green tea", sessions=True), limit=2)
        single = memory.recall("green tea", limit=6, recipe={"text_depth": 0})
    scores = {hit.memory.id: hit.score for hit in single}
    assert found.sessions[0].session == "tea"
    assert len(found.sessions) == 2
    assert [hit for each in found.sessions for hit in each.hits] == list(found.hits)
    assert len(found.sessions[0].hits) == 3
    for each in found.sessions:
        worth = zip((4 / 7, 2 / 7, 1 / 7), each.hits, strict=False)
        assert each.score == pytest.approx(sum(share * scores[hit.memory.id] for share, hit in worth))
        assert all(hit.explanation.value == hit.score for hit in each.hits)


def test_a_budget_cuts_sessions_where_it_cuts_their_memories() -> None:
    said = [{"content": f"green tea {word}", "source": {"session": word}} for word in ("cup", "pot", "leaf")]
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many(said)
        found = memory.recall(Query("green tea", sessions=True), limit=3, budget=8)
    assert found.omitted == 3 - len(found.hits) > 0
    assert [hit for each in found.sessions for hit in each.hits] == list(found.hits)


class _Alike(LexicalEmbedder):
    """To whom every two texts mean the same, so that everything passes by its meaning."""

    def embed_query(self, text: str) -> Vectors:
        (row,) = np.eye(1, self.dimension, dtype=np.float32)
        return np.asarray(row, np.float32)

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        return [np.eye(1, self.dimension, dtype=np.float32) for _ in texts]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("Who am I?", 1),
        ("Wer bin ich?", 1),
        ("Кто я?", 1),
        ("the of and", 0),
        ("und der von", 0),
        ("и в на", 0),
        ("the battery", 1),
        ('"the of and"', 1),
        ("Will", 1),
    ],
)
def test_a_question_that_asks_nothing_finds_nothing_by_its_meaning(query: str, found: int) -> None:
    with memorata.open(":memory:", embedder=_Alike()) as memory:
        memory.remember("Wolfgang works in Hamburg")
        answer = memory.recall(query)
        assert (len(answer.hits), answer.degraded) == (found, ())
        # Whoever brings a vector has said what is meant.
        assert len(memory.recall(Query(query, vector=_Alike().embed_query("")))) == 1


@pytest.mark.parametrize("start", ["The harbour is lovely. ", "(The harbour is lovely!) ", "港口很美。"])
def test_what_a_query_asks_after_it_has_corrected_itself_is_searched_for(start: str) -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember("The harbour is lovely in May.")
        cat = memory.remember("Tom has a grey cat.")
        repaired = f"{start}Sorry, what I really wanted to ask is: has Tom a cat?"
        assert [hit.memory.id for hit in memory.recall(repaired)] == [cat.id]
