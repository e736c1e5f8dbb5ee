"""The language model is a real server on this machine that answers, and misbehaves, as it is told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata.embed.circuit_breaker import RetryPolicy
from memorata.model import InvalidArgument
from memorata.model.errors import ServiceAnswerInvalid
from memorata.text import AnchorExtractor, FallibleAnchors, RuleAnchors
from memorata_models.chat import ChatAnchors, expression

HASTY = RetryPolicy(timeout=5.0, attempts=3, sleep=lambda seconds: None)
NOW = datetime(2023, 5, 8, 14, 30, tzinfo=UTC)
MOVE = "Where did we eat the summer before we moved?"
Turn = tuple[int, object]


def said(content: object) -> object:
    text = content if isinstance(content, str) else json.dumps(content)
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def summer(question: str) -> object:
    """Answer as a good model does that knows when somebody moved."""
    phrase = "the summer before we moved"
    if phrase not in question:
        return said({"phrase": None})
    return said({"phrase": phrase, "from": "2021-06-01", "to": "2021-08-31"})


@dataclass
class Model:
    """What the server is to do next, and what it was asked."""

    address: str = ""
    turns: list[Turn] = field(default_factory=list)
    answer: Callable[[str], Any] = summer
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    delay: float = 0.0


@pytest.fixture
def model() -> Iterator[Model]:
    state, lock = Model(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                state.asked.append(question)
                state.keys.append(self.headers.get("Authorization"))
                turn = state.turns.pop(0) if state.turns else None
            time.sleep(state.delay)
            status, body = turn or (
                200,
                state.answer(json.loads(question["messages"][1]["content"])["question"]),
            )
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            with suppress(ConnectionError):  # a client that has given up is no longer there
                self.send_response(status)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def reader(model: Model, **changes: Any) -> ChatAnchors:
    return ChatAnchors("m", model.address, **({"retry": HASTY} | changes))


def days(found: Any) -> tuple[str, str, str]:
    assert found is not None
    return found.phrase, found.period.start.isoformat()[:10], found.period.end.isoformat()[:10]


def test_the_time_of_a_question_in_its_own_words(model: Model) -> None:
    anchors = reader(model, api_key="sk-1")
    found = anchors.anchor(MOVE, NOW)
    assert days(found) == ("the summer before we moved", "2021-06-01", "2021-09-01")
    assert found is not None
    assert MOVE[found.start : found.end] == found.phrase
    assert anchors.anchor("What does Anna eat?", NOW) is None
    assert model.keys == ["Bearer sk-1"] * 2
    assert model.asked[0]["response_format"] == {"type": "json_object"}
    sent = json.loads(model.asked[0]["messages"][1]["content"])
    assert sent == {"today": "Monday, 2023-05-08", "question": MOVE}
    assert isinstance(anchors, FallibleAnchors)
    assert not isinstance(RuleAnchors(), FallibleAnchors)
    assert anchors.name.startswith("chat:m@")


def test_days_are_those_of_the_zone_of_now(model: Model) -> None:
    tokyo = timezone(timedelta(hours=9))
    found = reader(model).anchor(MOVE, NOW.astimezone(tokyo))
    assert found is not None
    assert found.period.start == datetime(2021, 6, 1, tzinfo=tokyo)


def test_nothing_is_kept(model: Model) -> None:
    """Who asks for another namespace could tell by the time it takes what was asked here."""
    anchors = reader(model)
    assert anchors.anchor(MOVE, NOW) == anchors.anchor(MOVE, NOW)
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        ((200, b"<html>"), "a web page"),
        ((200, b"\xff\xfe not json"), "not JSON"),
        ((200, {"error": "overloaded"}), "without a message"),
        ((200, said("It was in May, I think")), "did not answer in JSON"),
        ((200, said([])), "where a phrase or none was expected"),
        ((200, said({"phrase": 5})), "where a phrase or none was expected"),
        ((200, said({"phrase": "in June", "from": "2022-06-01", "to": None})), "not in the question"),
        ((200, said({"phrase": "in May", "from": "soon", "to": "2022-06-01"})), "where a day such as"),
        ((200, said({"phrase": "in May", "from": "2023-05-31", "to": "2023-05-01"})), "no stretch of time"),
        ((200, said({"phrase": "in May"})), "no stretch of time"),
        ((400, b"too long"), "400"),
        ((401, b"whose key?"), "401"),
    ],
)
def test_where_the_model_fails_the_rules_read_the_question_and_that_is_said(
    model: Model, turn: Turn, why: str
) -> None:
    model.turns = [turn]
    question = "Where did we eat in May?"
    read = reader(model).read(question, NOW)
    assert read.expression == RuleAnchors().anchor(question, NOW)
    assert days(read.expression) == ("May", "2023-05-01", "2023-06-01")
    assert read.failure.startswith("the time of the question was read by rules: ")
    assert why in read.failure


def test_a_passing_failure_is_tried_again(model: Model) -> None:
    model.turns = [(503, b"busy"), (429, b"slow down")]
    assert reader(model).read(MOVE, NOW).failure == ""
    assert len(model.asked) == 3


def test_a_slow_model_is_not_waited_for(model: Model) -> None:
    model.delay = 0.5
    read = reader(model, retry=RetryPolicy(timeout=0.1, attempts=1)).read("What did I do yesterday?", NOW)
    assert days(read.expression)[0] == "yesterday"
    assert "did not answer within 0.1 s" in read.failure


def test_who_is_away_is_left_alone_for_a_while(model: Model) -> None:
    seconds = [0.0]
    anchors = reader(model, retry=replace(HASTY, clock=lambda: seconds[0]))
    model.turns = [(500, b"")] * 3
    for _ in range(5):
        assert "gave up after 3 attempts" in anchors.read(MOVE, NOW).failure
    assert len(model.asked) == 3
    seconds[0] = 31.0
    assert anchors.read(MOVE, NOW).failure == ""
    assert len(model.asked) == 4


def test_blank_and_endless_questions_stay_here(model: Model) -> None:
    assert reader(model).read("  ", NOW).failure == ""
    long = "yesterday " + "tea " * 1_000
    read = reader(model).read(long, NOW)
    assert days(read.expression)[0] == "yesterday"
    assert "longer than 2,000 characters" in read.failure
    assert model.asked == []


def test_a_recall_uses_it_says_what_went_wrong_and_answers_all_the_same(model: Model) -> None:
    with memorata.open(
        ":memory:", embedder="lexical", clock=lambda: NOW, config={"anchors": reader(model)}
    ) as memory:
        for year, friend in ((2020, "Anna"), (2021, "Ben"), (2022, "Carl")):
            memory.remember(f"We ate noodles with {friend}", created_at=datetime(year, 7, 1, tzinfo=UTC))
        found = memory.recall("With whom did we eat noodles the summer before we moved?")
        assert found.hits[0].memory.content == "We ate noodles with Ben"
        assert found.degraded == ()
        model.turns = [(500, b"")] * 3
        found = memory.recall("With whom did we eat noodles in 2020?")
        assert found.hits[0].memory.content == "We ate noodles with Anna"
        (why,) = found.degraded
        assert "read by rules" in why


def test_it_is_opened_by_name(model: Model) -> None:
    with memorata.open(
        ":memory:", embedder="lexical", config={"anchors": f"chat:m@{model.address}"}
    ) as memory:
        memory.remember("Anna likes tea.")
        assert memory.recall("What did Anna like yesterday?").degraded == ()
    assert len(model.asked) == 1
    with pytest.raises(InvalidArgument, match="anchors must be 'rules'"):
        memorata.open(":memory:", embedder=None, config={"anchors": 5})


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.sampled_from(["in May", "2023-05-01", "9999-12-31", "x"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["phrase", "from", "to"]), inner)
    ),
    max_leaves=6,
)


@given(JSON)
def test_no_answer_is_so_odd_that_it_does_harm(answer: Any) -> None:
    try:
        found = expression(answer, "What was in May?", NOW)
    except ServiceAnswerInvalid:
        return
    assert found is None or found.phrase == "in May"


@pytest.mark.parametrize(
    ("argument", "value"),
    [("address", "nowhere"), ("model", None)],
)
def test_bad_input(argument: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=f"{argument} must be"):
        ChatAnchors(**({"model": "m", "address": "http://127.0.0.1:9"} | {argument: value}))


def test_questions_are_texts_and_moments_have_a_zone(model: Model) -> None:
    anchors: AnchorExtractor = reader(model)
    with pytest.raises(InvalidArgument, match="text must be"):
        anchors.anchor(5, NOW)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="now must be"):
        anchors.anchor("x", datetime(2023, 5, 8))
    assert model.asked == []
