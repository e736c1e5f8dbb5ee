"""Re-rankers behind services: how each is asked, what is made of its answer, and a recall that uses them."""

import json
from typing import Any

import pytest

import memorata
from memorata.embed.circuit_breaker import RetryPolicy
from memorata.embed.port import Reranker
from memorata.embed.selection import Resources, open_reranker
from memorata.embed.selection import open_reranker as open_any_reranker
from memorata.engine.settings import Settings
from memorata.model.errors import InvalidArgument, ServiceAnswerInvalid, ServiceRefused, ServiceUnreachable
from memorata_models.services import ServiceReranker

HASTY = RetryPolicy(timeout=5.0, attempts=1, sleep=lambda seconds: None)
TEXTS = ["tea", "a tea house", "no"]


def by_length(request: dict[str, Any]) -> object:
    texts = request.get("documents") or request["texts"]
    rows = [(place, len(text) / 100) for place, text in enumerate(texts)][::-1]
    if "documents" in request:
        return {"results": [{"index": place, "relevance_score": score} for place, score in rows]}
    return [{"index": place, "score": score} for place, score in rows]


def chat_by_length(request: dict[str, Any]) -> object:
    texts = json.loads(request["messages"][1]["content"])["texts"]
    said = {"scores": [min(10, len(text) / 10) for text in texts]}
    return {"choices": [{"message": {"content": json.dumps(said)}}]}


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        ("cohere:m@{}/v2", {"model": "m", "query": "q", "documents": TEXTS, "top_n": 3}),
        ("jina:m@{}/v2", {"model": "m", "query": "q", "documents": TEXTS, "top_n": 3}),
        ("tei:{}/v2", {"query": "q", "texts": TEXTS, "truncate": True}),
    ],
)
def test_each_kind_is_asked_in_its_own_way(service: Any, form: str, asked: object) -> None:
    service.answer = by_length
    resources = Resources(reranker_key="k", api_key="another", retry=HASTY)
    reranker = open_reranker(form.format(service.address), resources)
    assert isinstance(reranker, Reranker)
    assert reranker.score("q", TEXTS).tolist() == [0.03, 0.11, 0.02]
    assert (service.asked, service.paths) == ([asked], ["/v2/rerank"])
    assert service.headers[0]["Authorization"] == "Bearer k"
    assert reranker.score("q", []).tolist() == []


def test_the_key_of_the_embedder_is_not_sent(service: Any) -> None:
    service.answer = by_length
    reranker = open_reranker(f"tei:{service.address}", Resources(api_key="secret", retry=HASTY))
    assert reranker is not None
    reranker.score("q", TEXTS)
    assert "Authorization" not in service.headers[0]


def test_usual_addresses_and_names() -> None:
    assert ServiceReranker("cohere", "rerank-v3.5").name == "cohere:rerank-v3.5"
    assert ServiceReranker("tei", "", "http://127.0.0.1:1").name == "tei:http://127.0.0.1:1"
    with pytest.raises(InvalidArgument, match="address"):
        open_reranker("tei:nowhere")
    with pytest.raises(InvalidArgument, match="not shown"):
        open_reranker("jina:m@https://user:password@example.org")


def test_many_texts_are_sent_in_batches_and_long_ones_cut(service: Any) -> None:
    service.answer = by_length
    reranker = ServiceReranker("tei", "", service.address, batch=2, retry=HASTY)
    assert reranker.score("q", ["a" * 5_000, "b", "cc"]).tolist() == [40.0, 0.01, 0.02]
    assert [len(each["texts"]) for each in service.asked] == [2, 1]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"results": [{"index": 0, "relevance_score": 1.0}]},
        {"results": [{"index": place, "relevance_score": "high"} for place in range(3)]},
        {"results": [{"index": place + 1, "relevance_score": 1.0} for place in range(3)]},
        {"results": [{"index": place, "relevance_score": float("nan")} for place in range(3)]},
    ],
)
def test_what_is_no_score_is_refused(service: Any, answer: object) -> None:
    service.answer = lambda request: answer
    with pytest.raises(ServiceAnswerInvalid):
        ServiceReranker("cohere", "m", service.address, retry=HASTY).score("q", TEXTS)


def test_a_service_that_fails_is_left_alone(service: Any, reply: Any) -> None:
    service.answer = lambda request: reply({}, status=503)
    reranker = ServiceReranker("jina", "m", service.address, retry=HASTY)
    for _ in range(3):
        with pytest.raises(ServiceUnreachable):
            reranker.score("q", TEXTS)
    assert len(service.asked) == 1
    service.answer = lambda request: reply({}, status=401)
    with pytest.raises(ServiceRefused):
        ServiceReranker("jina", "m", service.address, retry=HASTY).score("q", TEXTS)


@pytest.mark.parametrize("recipe", ["precise", "pinecone"])
@pytest.mark.parametrize("form", ["cohere:m@{}", "jina:m@{}", "tei:{}", "chat:m@{}"])
def test_recipes_that_ask_for_a_re_ranker_use_the_one_of_the_settings(
    service: Any, reply: Any, recipe: str, form: str
) -> None:
    service.answer = chat_by_length if form.startswith("chat") else by_length
    settings = Settings(
        db=":memory:", embedder="lexical", reranker=form.format(service.address), reranker_key="k"
    )
    with settings.open() as memory:
        for text in ("green tea", "green tea in the garden of the old house", "green tea and rice"):
            memory.remember(text)
        found = memory.recall("green tea", recipe=recipe)
        assert found.hits[0].memory.content == "green tea in the garden of the old house"
        assert "re-ranked" in {node.label for node in found.hits[0].explanation.walk()}
        assert found.degraded == ()
        assert service.headers[0]["Authorization"] == "Bearer k"
        # One that is away changes nothing, and is told of.
        service.answer = lambda request: reply({}, status=400)
        plain = memory.recall("green tea", recipe=recipe)
        assert [hit.memory.id for hit in plain] == [
            hit.memory.id for hit in memory.recall("green tea", recipe={"base": recipe, "rerank_depth": 0})
        ]
        assert "the re-ranker failed, so nothing was re-ranked" in plain.degraded[0]


@pytest.mark.parametrize("recipe", ["precise", "pinecone"])
def test_without_a_re_ranker_they_say_so(recipe: str) -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        memory.remember("green tea")
        told = memory.recall("green tea", recipe=recipe).degraded
        assert told == (f"recipe {recipe!r} asks for a re-ranker, and there is none",)


@pytest.mark.parametrize(
    "said",
    [
        "no json",
        {"scores": [1, 2]},
        {"scores": [1, 2, 11]},
        {"scores": [1, 2, "3"]},
        {"scores": [1, 2, True]},
        [],
    ],
)
def test_what_a_chat_model_says_is_checked(service: Any, said: object) -> None:
    content = said if isinstance(said, str) else json.dumps(said)
    service.answer = lambda request: {"choices": [{"message": {"content": content}}]}
    reranker = open_any_reranker(f"chat:m@{service.address}", Resources(retry=HASTY))
    assert reranker is not None
    with pytest.raises(ServiceAnswerInvalid):
        reranker.score("q", TEXTS)


def test_a_chat_model_needs_an_address() -> None:
    with pytest.raises(InvalidArgument, match="reranker"):
        open_any_reranker("chat:m", Resources())
