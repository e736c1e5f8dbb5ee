"""The type of a query by a language model: what is asked, what is believed, and rules in its place."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import memorata
from memorata.embed.circuit_breaker import RetryPolicy
from memorata.engine.roles import open_classifier
from memorata.engine.settings import Settings
from memorata.model.errors import InvalidArgument, ServiceUnreachable
from memorata.text.queries import Classification, QueryClassifier, RuleClassifier
from memorata_models import chat as chat_service
from memorata_models.chat import CLASSIFIER_PROMPT, ChatClassifier

ADDRESS = "http://localhost:1/v1"
SPECIFICATION = f"chat:wise@{ADDRESS}"
Says = Callable[[object], list[Any]]


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch) -> Says:
    """Return a way to let the model say something, or raise it; the requests are noted."""

    def told(said: object) -> list[Any]:
        asked: list[Any] = []

        def post(address: str, body: Any, headers: Any, retry: RetryPolicy) -> Any:
            asked.append((address, body["messages"], headers, retry.total))
            if isinstance(said, Exception):
                raise said
            content = said if isinstance(said, str) else json.dumps(said)
            return {"choices": [{"message": {"content": content}}]}

        monkeypatch.setattr(chat_service, "post_json", post)
        return asked

    return told


def test_the_model_is_asked_with_its_own_key_and_within_seconds(says: Says) -> None:
    asked = says({"type": "preference", "confidence": 0.9})
    classifier = open_classifier(SPECIFICATION, "k")
    assert isinstance(classifier, QueryClassifier)
    assert classifier.classify("the coffee of Ruth") == Classification("preference", 0.9)
    ((address, messages, headers, total),) = asked
    assert address == f"{ADDRESS}/chat/completions"
    assert (messages[0]["content"], json.loads(messages[1]["content"])) == (
        CLASSIFIER_PROMPT,
        {"query": "the coffee of Ruth"},
    )
    assert (headers, total) == ({"Authorization": "Bearer k"}, 5.0)


@pytest.mark.parametrize(
    "said",
    ["factual", {}, [], {"type": "poetic", "confidence": 1}, {"type": "factual", "confidence": 2},
     {"type": "factual", "confidence": True}, {"type": "factual"}, ServiceUnreachable("away")],
)  # fmt: skip
def test_rules_answer_where_the_model_does_not(says: Says, said: object) -> None:
    says(said)
    kind, failure = ChatClassifier("wise", ADDRESS).read("Why did it rain?")
    assert kind == RuleClassifier().classify("Why did it rain?")
    assert failure.startswith("the type of the query was told by rules: ")


def test_one_that_is_away_is_left_alone(says: Says) -> None:
    asked = says(ServiceUnreachable("away"))
    classifier = ChatClassifier("wise", ADDRESS)
    for _ in range(3):
        classifier.classify("Why did it rain?")
    assert len(asked) == 1
    assert classifier.classify(" ") == RuleClassifier().classify(" ")


def test_a_recall_follows_the_model_and_says_where_it_could_not(says: Says) -> None:
    asked = says({"type": "preference", "confidence": 0.9})
    with Settings(db=":memory:", embedder="lexical", classifier=SPECIFICATION).open() as memory:
        memory.remember("green tea from Kyoto", confidence=0.5)
        changes = {"weighting": "query", "least_similarity": 0.0}
        query = "green tea from Kyoto"
        similarity = memory.recall(query, recipe="vector").hits[0].score
        weighed = memory.recall(query, recipe={"base": "haia", **changes})
        assert weighed.hits[0].score == pytest.approx(0.70 * similarity + 0.30 * 0.5)
        assert (weighed.degraded, len(asked)) == ((), 1)
        says(ServiceUnreachable("away"))
        failed = memory.recall(query, recipe="adaptive").degraded
        assert failed == ("the type of the query was told by rules: away",)
        assert memory.recall(query).degraded == (), "where no recipe asks for it, nobody is asked"


def test_what_is_no_classifier_is_refused() -> None:
    for wrong in ("model", "chat:wise", "chat:@http://localhost:1"):
        with pytest.raises(InvalidArgument, match="classifier"):
            Settings(classifier=wrong)
    with pytest.raises(InvalidArgument, match="classifier"):
        memorata.open(":memory:", config={"classifier": 5})
