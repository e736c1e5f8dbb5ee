import math
import pickle
from collections.abc import Callable
from time import monotonic
from typing import Any

import numpy as np
import pytest

from memorata.embed.circuit_breaker import RetryPolicy
from memorata.embed.port import Embedder, Prompts
from memorata.model.errors import (
    DimensionMismatch,
    EmbeddingServiceError,
    InvalidArgument,
    ServiceAnswerInvalid,
    ServiceRefused,
    ServiceUnreachable,
)
from memorata.testing import EmbedderConformance
from memorata_models.services import OllamaEmbedder, OpenAIEmbedder

HASTY = RetryPolicy(timeout=5.0, sleep=lambda seconds: None)


def vector_of(text: str) -> list[float]:
    """Return three numbers that depend on every character of the text."""
    return [len(text), sum(map(ord, text)) % 1009, sum(i * ord(c) for i, c in enumerate(text)) % 997]


def openai_answer(request: dict[str, Any]) -> object:
    return {"data": [{"index": i, "embedding": vector_of(t)} for i, t in enumerate(request["input"])]}


def ollama_answer(request: dict[str, Any]) -> object:
    return {"embeddings": [vector_of(text) for text in request["input"]]}


@pytest.fixture
def openai(service: Any) -> OpenAIEmbedder:
    service.answer = openai_answer
    return OpenAIEmbedder("m", service.address + "/v1", dimension=3, retry=HASTY)


@pytest.fixture
def ollama(service: Any) -> OllamaEmbedder:
    service.answer = ollama_answer
    return OllamaEmbedder("m", service.address, dimension=3, retry=HASTY)


class TestOpenAIConforms(EmbedderConformance):
    @pytest.fixture
    def embedder(self, openai: OpenAIEmbedder) -> Embedder:
        return openai


class TestOllamaConforms(EmbedderConformance):
    @pytest.fixture
    def embedder(self, ollama: OllamaEmbedder) -> Embedder:
        return ollama


def test_openai_is_asked_as_its_reference_says(service: Any) -> None:
    service.answer = openai_answer
    embedder = OpenAIEmbedder("text-embedding-3-small", service.address + "/v1/", api_key="sk-1")
    embedder.embed_documents(["red", "blue"])
    assert service.paths[-1] == "/v1/embeddings"
    assert service.asked[-1] == {
        "model": "text-embedding-3-small",
        "input": ["red", "blue"],
        "encoding_format": "float",
    }
    assert service.headers[-1]["Authorization"] == "Bearer sk-1"


def test_ollama_is_told_not_to_truncate(service: Any, ollama: OllamaEmbedder) -> None:
    ollama.embed_query("red")
    assert service.paths == ["/api/embed"]
    assert service.asked == [{"model": "m", "input": ["red"], "truncate": False}]
    assert "Authorization" not in service.headers[0]


def test_vectors_are_scaled_to_unit_length(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply({"embeddings": [[3, 0, 4]]}))
    embedder = OllamaEmbedder("m", service.address, dimension=3)
    assert embedder.embed_query("red") == pytest.approx([0.6, 0, 0.8])


def test_vectors_are_put_in_the_order_of_their_numbers(service: Any, reply: Callable[..., Any]) -> None:
    shuffled = [{"index": 2, "embedding": [0, 0, 1]}, {"index": 0, "embedding": [1, 0, 0]}]
    service.says(reply({"data": [*shuffled, {"index": 1, "embedding": [0, 1, 0]}]}))
    embedder = OpenAIEmbedder("m", service.address, dimension=3)
    assert embedder.embed_documents(["a", "b", "c"]).tolist() == np.eye(3).tolist()


def test_the_dimension_is_asked_once(service: Any) -> None:
    service.answer = ollama_answer
    embedder = OllamaEmbedder("m", service.address)
    assert (embedder.dimension, embedder.dimension, len(service.asked)) == (3, 3, 1)


def test_a_wrong_dimension_is_named(service: Any, reply: Callable[..., Any]) -> None:
    service.says(reply({"embeddings": [[1, 2, 3, 4]]}))
    embedder = OllamaEmbedder("m", service.address, dimension=3)
    with pytest.raises(DimensionMismatch, match="4 dimensions where 3 were expected") as caught:
        embedder.embed_query("red")
    assert (caught.value.expected, caught.value.got) == (3, 4)


def test_texts_go_in_batches(service: Any) -> None:
    service.answer = ollama_answer
    embedder = OllamaEmbedder("m", service.address, dimension=3, batch=2)
    texts = ["a", "bb", "ccc", "dddd", "eeeee"]
    rows = embedder.embed_documents(texts)
    assert [request["input"] for request in service.asked] == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    for row, text in zip(rows, texts, strict=True):
        assert row == pytest.approx(np.array(vector_of(text)) / np.linalg.norm(vector_of(text)), abs=1e-6)


def test_a_long_question_goes_in_batches_too(service: Any) -> None:
    service.answer = ollama_answer
    embedder = OllamaEmbedder("m", service.address, dimension=3, batch=2, passage_characters=100)
    question = "seven words in each of these sentences. " * 10
    vector = embedder.embed_query(question)
    assert all(len(request["input"]) <= 2 for request in service.asked)
    assert sum(len(request["input"]) for request in service.asked) == len(embedder.passages(question)) > 4
    assert np.array_equal(vector, embedder.embed_documents([question])[0])


def test_blank_texts_are_not_sent(service: Any, ollama: OllamaEmbedder) -> None:
    rows = ollama.embed_documents(["", "red", " \n"])
    assert service.asked == [{"model": "m", "input": ["red"], "truncate": False}]
    assert rows[0].tolist() == rows[2].tolist() == [0, 0, 0]
    assert rows[1].any()


def test_prompts_are_sent_with_the_text(service: Any) -> None:
    service.answer = ollama_answer
    prompts = Prompts(query="search_query: ", document="search_document: ")
    embedder = OllamaEmbedder("m", service.address, dimension=3, prompts=prompts)
    embedder.embed_query("red")
    embedder.embed_documents(["red"])
    assert [request["input"] for request in service.asked] == [
        ["search_query: red"],
        ["search_document: red"],
    ]


def test_long_texts_are_sent_in_pieces(service: Any) -> None:
    service.answer = ollama_answer
    embedder = OllamaEmbedder("m", service.address, dimension=3, passage_characters=100)
    long = "seven words in each of these sentences. " * 10
    embedder.embed_query(long)
    assert len(service.asked[0]["input"]) > 4
    assert all(len(text) <= 100 for text in service.asked[0]["input"])


@pytest.mark.parametrize(
    "answer",
    [
        {"embeddings": [[1, 2, 3]]},
        {"embeddings": [[1, 2, 3]] * 3},
        {"embeddings": []},
        {"embeddings": None},
        {"embeddings": "AAAA"},
        {"embeddings": [[1, 2, 3], [1, 2]]},
        {"embeddings": [[1, 2, 3], [1, 2, None]]},
        {"embeddings": [[1, 2, 3], [1, 2, "3"]]},
        {"embeddings": [[1, 2, 3], [1, 2, math.nan]]},
        {"embeddings": [[1, 2, 3], [1, 2, math.inf]]},
        {"embeddings": [1, 2]},
        {"embeddings": [[], []]},
        {"embedding": [[1, 2, 3], [1, 2, 3]]},
        {},
        [],
        7,
        b"",
        b'{"embeddings": [[1, 2',
        b"<html><body>Welcome to nginx!</body></html>",
    ],
)
def test_answers_that_are_not_the_vectors_asked_for(
    service: Any, reply: Callable[..., Any], answer: object
) -> None:
    service.says(reply(answer))
    with pytest.raises(ServiceAnswerInvalid):
        OllamaEmbedder("m", service.address, dimension=3).embed_documents(["a", "b"])


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        [{"embedding": [1, 2, 3]}],
        [{"index": 0}],
        [{"index": 1, "embedding": [1, 2, 3]}],
        [{"index": "0", "embedding": [1, 2, 3]}],
        [[1, 2, 3]],
        [{"index": 0, "embedding": "AACAPw=="}],
    ],
)
def test_openai_answers_that_are_not_the_vector_asked_for(
    service: Any, reply: Callable[..., Any], data: object
) -> None:
    service.says(reply({"data": data}))
    with pytest.raises(ServiceAnswerInvalid):
        OpenAIEmbedder("m", service.address, dimension=3).embed_query("a")


@pytest.mark.parametrize("answer", [{"error": "unknown key sk-secret"}, "unknown key sk-secret"])
def test_a_key_that_is_repeated_in_an_answer_is_not_shown(
    service: Any, reply: Callable[..., Any], answer: object
) -> None:
    service.says(reply(answer))
    embedder = OpenAIEmbedder("m", service.address, api_key="sk-secret", dimension=3)
    with pytest.raises(ServiceAnswerInvalid, match=r"unknown key \*\*\*") as caught:
        embedder.embed_query("a")
    assert "secret" not in str(caught.value)


def test_failures_keep_their_type(service: Any, reply: Callable[..., Any]) -> None:
    embedder = OllamaEmbedder("m", service.address, retry=HASTY)
    service.says(reply({"error": 'model "m" not found, try pulling it first'}, status=404))
    with pytest.raises(ServiceRefused, match="try pulling it first"):
        embedder.embed_query("red")
    service.says(*[reply(status=502)] * 4)
    with pytest.raises(ServiceUnreachable):
        embedder.embed_query("red")
    assert issubclass(ServiceRefused, EmbeddingServiceError)


def test_a_service_that_stumbles_is_asked_again(
    service: Any, reply: Callable[..., Any], ollama: OllamaEmbedder
) -> None:
    service.says(reply(status=500), reply(status=429, headers={"Retry-After": "1"}))
    assert ollama.embed_query("red").any()
    assert len(service.asked) == 3


def test_a_question_waits_for_seconds_and_the_next_ones_not_at_all(
    service: Any, reply: Callable[..., Any]
) -> None:
    now = [0.0]
    service.says(reply({}, delay=30))
    retry = RetryPolicy(clock=lambda: monotonic() + now[0])
    embedder = OllamaEmbedder("m", service.address, dimension=3, retry=retry, query_seconds=0.2)
    began = monotonic()
    with pytest.raises(ServiceUnreachable, match=r"did not answer within 0\.2 s"):
        embedder.embed_query("red")
    for _ in range(3):
        with pytest.raises(
            ServiceUnreachable, match=r"did not answer .*\(it is not asked again for [1-5] s\)"
        ):
            embedder.embed_query("red")
    assert (len(service.asked), monotonic() - began < 20) == (1, True)
    now[0] += 5.0
    service.answer = ollama_answer
    assert embedder.embed_query("red").any()


def test_a_question_in_many_requests_waits_once(service: Any, reply: Callable[..., Any]) -> None:
    service.says(*[reply({"embeddings": [[1, 2, 3]]}, delay=0.2)] * 100)
    embedder = OllamaEmbedder(
        "m", service.address, dimension=3, batch=1, passage_characters=100, query_seconds=0.5
    )
    began = monotonic()
    with pytest.raises(ServiceUnreachable, match="did not answer within"):
        embedder.embed_query("seven words in each of these sentences. " * 100)
    assert monotonic() - began < 15


def test_documents_are_patient_and_tell_questions_that_it_is_back(
    service: Any, reply: Callable[..., Any]
) -> None:
    embedder = OllamaEmbedder("m", service.address, dimension=3, retry=HASTY)
    service.says(*[reply(status=503)] * 3)
    with pytest.raises(ServiceUnreachable, match="gave up after 3 attempts"):
        embedder.embed_query("red")
    service.answer = ollama_answer
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        embedder.embed_query("red")
    service.says(*[reply(status=503)] * 3)
    assert embedder.embed_documents(["red"]).any()
    assert embedder.embed_query("red").any()


def test_a_document_that_could_not_be_embedded_spares_the_next_question_the_wait(
    service: Any, reply: Callable[..., Any]
) -> None:
    embedder = OllamaEmbedder("m", service.address, dimension=3, retry=HASTY)
    service.says(*[reply(status=503)] * 4)
    with pytest.raises(ServiceUnreachable, match="gave up after 4 attempts"):
        embedder.embed_documents(["red"])
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        embedder.embed_query("red")


def test_documents_do_not_wait_in_vain_one_after_the_other(service: Any, reply: Callable[..., Any]) -> None:
    now = [0.0]
    retry = RetryPolicy(timeout=0.2, attempts=2, first_pause=0.0, clock=lambda: monotonic() + now[0])
    embedder = OllamaEmbedder("m", service.address, dimension=3, retry=retry)
    service.says(*[reply({}, delay=1)] * 2)
    with pytest.raises(ServiceUnreachable, match=r"did not answer within 0\.2 s; gave up after 2 attempts$"):
        embedder.embed_documents(["red"])
    service.answer = ollama_answer
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        embedder.embed_documents(["red"])
    assert len(service.asked) == 2
    # Whoever is answered, a question too, ends it for all.
    now[0] += 5.0
    assert embedder.embed_query("red").any()
    service.says(*[reply({}, delay=1)] * 2)
    with pytest.raises(ServiceUnreachable):
        embedder.embed_documents(["red"])
    now[0] += 5.0
    assert embedder.embed_documents(["red"]).any()


def test_a_blank_text_says_nothing_about_the_service(service: Any, reply: Callable[..., Any]) -> None:
    prompts = Prompts(query="search_query: ", document="search_document: ")
    embedder = OllamaEmbedder("m", service.address, dimension=3, prompts=prompts, retry=HASTY)
    service.says(*[reply(status=503)] * 3)
    with pytest.raises(ServiceUnreachable):
        embedder.embed_query("red")
    assert not embedder.embed_query(" \n").any()
    assert not embedder.embed_documents(["", "\t"]).any()
    with pytest.raises(ServiceUnreachable, match="not asked again"):
        embedder.embed_query("red")
    assert len(service.asked) == 3


@pytest.mark.parametrize("text", ["red", ""])
def test_the_dimension_is_learnt_from_the_first_answer(service: Any, text: str) -> None:
    service.answer = ollama_answer
    embedder = OllamaEmbedder("m", service.address)
    assert (embedder.known_dimension, len(service.asked)) == (None, 0)
    assert embedder.embed_query(text).shape == (3,)
    assert (embedder.known_dimension, embedder.dimension, len(service.asked)) == (3, 3, 1)


TOO_LONG = [
    (400, {"error": "the input length exceeds the context length"}),
    (400, {"error": {"message": "This model's maximum context length is 512 tokens, however you sent 600"}}),
    (413, {"error": "Input validation error: `inputs` must have less than 512 tokens. Given: 600"}),
    (422, {"error": "`inputs` must have less than 512 tokens. Given: 600"}),
    (
        500,
        {
            "error": {
                "message": "input (596 tokens) is too large to process. increase the physical batch size"
            }
        },
    ),
]


@pytest.mark.parametrize(("status", "said"), TOO_LONG)
def test_what_is_too_long_for_a_service_is_cut_until_it_fits(
    service: Any, reply: Callable[..., Any], status: int, said: object
) -> None:
    """The window of a service is not known: mxbai-embed-large reads 512 tokens, llama.cpp as many at once."""

    def answer(request: dict[str, Any]) -> object:
        if max(map(len, request["input"])) > 60:
            return reply(said, status=status)
        return ollama_answer(request)

    service.answer = answer
    prompts = Prompts(document="passage: ")
    embedder = OllamaEmbedder("m", service.address, dimension=3, prompts=prompts, retry=HASTY)
    long = " ".join(f"word{number}" for number in range(30))
    rows = embedder.embed_documents(["red", long, "green"])
    assert np.allclose(rows[[0, 2]], embedder.embed_documents(["red", "green"]), atol=1e-6)
    assert np.linalg.norm(rows[1]) == pytest.approx(1)
    assert np.array_equal(embedder.embed_documents([long])[0], rows[1])
    heard = [text for request in service.asked for text in request["input"] if len(text) <= 60]
    assert all(text.startswith("passage: ") for text in heard)
    assert {word for text in heard for word in text.split()} >= set(long.split())


def test_a_refusal_for_another_reason_is_not_asked_again_in_parts(
    service: Any, reply: Callable[..., Any]
) -> None:
    service.says(reply({"error": "model is required"}, status=400))
    with pytest.raises(ServiceRefused, match="model is required"):
        OllamaEmbedder("m", service.address, dimension=3).embed_documents(["red " * 100, "blue"])
    assert len(service.asked) == 1


def test_a_service_that_finds_everything_too_long_is_not_asked_for_ever(
    service: Any, reply: Callable[..., Any]
) -> None:
    service.answer = lambda request: reply({"error": "too long"}, status=400)
    with pytest.raises(ServiceRefused, match="the texts are too long for the service") as caught:
        OllamaEmbedder("m", service.address, dimension=3).embed_documents(["some words " * 180] * 64)
    assert caught.value.too_long
    assert pickle.loads(pickle.dumps(caught.value)).too_long
    assert len(service.asked) < 20


def test_a_model_that_changes_behind_its_name_is_told_what_to_do(
    service: Any, reply: Callable[..., Any]
) -> None:
    service.says(reply({"embeddings": [[1, 2, 3]]}), reply({"embeddings": [[1, 2, 3, 4]]}))
    embedder = OllamaEmbedder("m", service.address)
    embedder.embed_query("red")
    with pytest.raises(
        DimensionMismatch,
        match=r"set the dimension \(MEMORATA_DIMENSION=4\) and run `memorata admin reembed`",
    ):
        embedder.embed_query("red")
    assert embedder.dimension == 3


def test_a_length_can_be_part_of_the_name() -> None:
    embedder = OllamaEmbedder("m", "http://x")
    known = embedder.of_dimension(4)
    assert (known.name, known.dimension) == (embedder.name, 4)
    apart = embedder.of_dimension(4, apart=True)
    assert (apart.name, apart.dimension) == (f"{embedder.name}:4", 4)
    assert embedder.known_dimension is None
    with pytest.raises(InvalidArgument, match="dimension"):
        embedder.of_dimension(0)


def test_names_tell_models_and_prompts_apart() -> None:
    embedders = [
        OllamaEmbedder("m", "http://x"),
        OllamaEmbedder("n", "http://x"),
        OpenAIEmbedder("m", "http://x"),
        OllamaEmbedder("m", "http://x", prompts=Prompts(query="q")),
        OllamaEmbedder("m", "http://x", prompts=Prompts(document="q")),
        OllamaEmbedder("m", "http://x", passage_characters=100),
    ]
    assert len({embedder.name for embedder in embedders}) == len(embedders)
    assert OllamaEmbedder("m", "http://y").name == embedders[0].name


@pytest.mark.parametrize(
    "settings",
    [
        {"dimension": 0},
        {"batch": 0},
        {"passage_characters": 3},
        {"query_seconds": 0},
        {"query_seconds": 601},
        {"query_seconds": math.nan},
        {"query_seconds": "5"},
        {"similarity_threshold": 2.0},
        {"address": "x"},
        {"model": ""},
        {"model": " "},
    ],
)
def test_settings_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        OllamaEmbedder(**{"model": "m", "address": "http://x", **settings})
