"""The proxy, asked by the official clients of OpenAI and Anthropic, before a service that is made up."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anthropic
import httpx
import openai
import pytest
import uvicorn

import memorata
from memorata import Engine
from memorata.engine.access import ApiKeys
from memorata.model.errors import InvalidArgument
from memorata.service.conversation import Conversation
from memorata.service.data_rows import RECALLED_TAG
from memorata_server.http import proxy as proxies
from memorata_server.http.proxy import Proxy, ProxySettings
from memorata_server.sockets import address_of, listening

TEA = "Anna prefers green tea in the morning."
PROMPT = "Which tea does Anna prefer?"
COMPLETION = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Green."}}],
}  # fmt: skip
RESPONSE = {
    "id": "r1", "object": "response", "created_at": 1, "model": "m", "status": "completed", "tools": [],
    "parallel_tool_calls": False, "tool_choice": "auto", "output": [
        {"type": "message", "id": "o1", "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Green.", "annotations": []}]}],
}  # fmt: skip
MESSAGE = {
    "id": "m1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "Green."}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip


def events(*data: Any, named: bool = False) -> bytes:
    lines = [(f"event: {each['type']}\n" if named else "") + f"data: {json.dumps(each)}\n\n" for each in data]
    return "".join(lines).encode()


CHAT_STREAM = (
    events(
        *(
            {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
             "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
            for word in ("Gre", "en.")
        )
    )
    + b"data: [DONE]\n\n"
)  # fmt: skip
MESSAGE_STREAM = events(
    {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Gre"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "en."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
     "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
    named=True,
)  # fmt: skip


class Service(ThreadingHTTPServer):
    """Keeps what it is asked, and answers as told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.answer: tuple[int, dict[str, str], bytes] = (200, {}, b"{}")

    def says(self, body: Any, status: int = 200, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "text/event-stream" if isinstance(body, bytes) else "application/json"
        self.answer = status, {"Content-Type": kind, **headers}, data

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def asked(self) -> Any:
        return self.requests[-1][2]


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.path, headers, json.loads(body) if body else None))
        status, sent, data = self.server.answer
        self.send_response(status)
        for name, value in sent.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST  # noqa: N815 - as the standard library names it

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", config={"redact": True}) as opened:
        opened.remember(TEA)
        yield opened


Start = Callable[..., str]


@pytest.fixture
def start(engine: Engine, service: Service) -> Iterator[Start]:
    """Start a proxy, and return its address; when the test ends, it ends as after a signal."""
    with ExitStack() as stack:

        def started(**options: Any) -> str:
            sock = stack.enter_context(closing(listening("127.0.0.1", 0)))
            app = Proxy(engine, options.pop("upstream", service.url), **options).app()
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
            thread = threading.Thread(target=server.run, args=([sock],))
            thread.start()

            def stop() -> None:
                server.should_exit = True
                thread.join()

            stack.callback(stop)
            return address_of(sock)

        yield started


def captured(engine: Engine, count: int, namespace: str = "default") -> list[tuple[str, str]]:
    """Return who said what, as soon as so much was captured."""
    until = time.monotonic() + 10
    said: list[Any] = []
    while time.monotonic() < until and len(said) < count:
        time.sleep(0.01)
        listed = engine.list(namespace=namespace, filter={"category": "message"}, oldest_first=True)
        said = [(each.source.speaker, each.content) for each in listed.memories]
    return said


CLIENTS: list[openai.OpenAI | anthropic.Anthropic] = []


@pytest.fixture(autouse=True)
def closed_clients() -> Iterator[None]:
    yield
    while CLIENTS:
        CLIENTS.pop().close()


def openai_client(address: str) -> openai.OpenAI:
    client = openai.OpenAI(base_url=f"{address}/v1", api_key="sk-of-the-client", max_retries=0)
    CLIENTS.append(client)
    return client


def anthropic_client(address: str) -> anthropic.Anthropic:
    client = anthropic.Anthropic(base_url=address, api_key="key-of-the-client", max_retries=0)
    CLIENTS.append(client)
    return client


def test_openai_chat_gets_memories_and_is_captured(start: Start, service: Service, engine: Engine) -> None:
    service.says(COMPLETION)
    client = openai_client(start())
    history: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPT}]
    answer = client.chat.completions.create(model="m", messages=history)
    assert answer.choices[0].message.content == "Green."
    path, headers, body = service.requests[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-of-the-client")
    assert body["messages"][0] == history[0]
    added = body["messages"][1]["content"]
    assert added.startswith(f"<{RECALLED_TAG}>")
    assert TEA in added
    assert added.endswith(f"</{RECALLED_TAG}>\n\n{PROMPT}")
    assert captured(engine, 2) == [("user", PROMPT), ("assistant", "Green.")]
    # The same turn again, as in a loop of tools, is captured once; our own block is no part of it.
    client.chat.completions.create(model="m", messages=history)
    later = [
        *history,
        {"role": "assistant", "content": "Green."},
        {"role": "user", "content": "Why is that?"},
    ]
    service.says(json.loads(json.dumps(COMPLETION).replace("Green.", "She said so.")))
    client.chat.completions.create(model="m", messages=later)
    said = captured(engine, 4)
    assert said[2:] == [("user", "Why is that?"), ("assistant", "She said so.")]
    assert not any(RECALLED_TAG in text for _, text in said)
    assert {each.source.via for each in engine.list(filter={"category": "message"}).memories} == {"proxy"}


def test_openai_stream_passes_byte_by_byte(start: Start, service: Service, engine: Engine) -> None:
    service.says(CHAT_STREAM)
    address = start()
    stream = openai_client(address).chat.completions.create(
        model="m", messages=[{"role": "user", "content": PROMPT}], stream=True
    )
    assert [chunk.choices[0].delta.content for chunk in stream] == ["Gre", "en."]
    assert captured(engine, 2) == [("user", PROMPT), ("assistant", "Green.")]
    raw = httpx.post(f"{address}/v1/chat/completions", json={"messages": [{"role": "user", "content": "x"}]})
    assert raw.content == CHAT_STREAM


def test_openai_responses_as_text_and_as_parts(start: Start, service: Service, engine: Engine) -> None:
    service.says(RESPONSE)
    client = openai_client(start())
    assert client.responses.create(model="m", input=PROMPT).output_text == "Green."
    assert service.asked["input"].endswith(PROMPT)
    assert TEA in service.asked["input"]
    assert captured(engine, 2) == [("user", PROMPT), ("assistant", "Green.")]
    parts: Any = [{"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}]
    client.responses.create(model="m", input=parts)
    first, second = service.asked["input"][0]["content"]
    assert (first["type"], second["text"]) == ("input_text", PROMPT)
    assert TEA in first["text"]


def test_anthropic_messages_whole_and_streamed(start: Start, service: Service, engine: Engine) -> None:
    service.says(MESSAGE)
    client = anthropic_client(start())
    asked: Any = {
        "model": "m",
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}],
        "metadata": {"user_id": "anna@example.org"},
    }
    engine.remember(TEA, namespace="default/anna@example.org")
    block: Any = client.messages.create(**asked).content[0]
    assert block.text == "Green."
    path, headers, body = service.requests[0]
    assert path == "/v1/messages"
    assert any("key-of-the-client" in value for value in headers.values()), headers
    assert (body["system"], TEA in body["messages"][0]["content"][0]["text"]) == ("Be brief.", True)
    assert body["messages"][0]["content"][1] == {"type": "text", "text": PROMPT}
    there = "default/anna@example.org"
    assert captured(engine, 2, there) == [("user", PROMPT), ("assistant", "Green.")]
    assert captured(engine, 0) == []
    service.says(MESSAGE_STREAM.replace(b"en.", b"en, as you said."))
    tools: Any = [
        *asked["messages"],
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a result"}]},
    ]
    with client.messages.stream(**{**asked, "messages": tools}) as stream:
        assert stream.get_final_text() == "Green, as you said."
    # What a person wrote is the prompt; the result of a tool is neither given memories nor captured.
    assert TEA in service.asked["messages"][0]["content"][0]["text"]
    assert service.asked["messages"][2] == tools[2]
    assert captured(engine, 3, there)[2:] == [("assistant", "Green, as you said.")]


def test_errors_and_headers_of_the_service_come_through(
    start: Start, service: Service, engine: Engine
) -> None:
    service.says({"error": {"message": "slow down", "type": "rate"}}, 429, **{"Retry-After": "7"})
    address = start()
    with pytest.raises(openai.RateLimitError) as raised:
        openai_client(address).chat.completions.create(
            model="m", messages=[{"role": "user", "content": PROMPT}]
        )
    assert raised.value.response.headers["retry-after"] == "7"
    assert raised.value.body == {"message": "slow down", "type": "rate"}
    with pytest.raises(anthropic.RateLimitError):
        anthropic_client(address).messages.create(
            model="m", max_tokens=1, messages=[{"role": "user", "content": PROMPT}]
        )
    assert captured(engine, 0) == []
    service.says({"object": "list", "data": []})
    assert list(openai_client(address).models.list()) == []
    assert service.requests[-1][0] == "/v1/models"


def test_a_memory_that_fails_or_hangs_fails_no_chat(
    start: Start,
    service: Service,
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    service.says(COMPLETION)
    address = start(settings=ProxySettings(recall_seconds=0.1))
    release = threading.Event()
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": PROMPT}]}

    def broken(*args: Any, **options: Any) -> None:
        raise RuntimeError(PROMPT)

    def hanging(*args: Any, **options: Any) -> None:
        release.wait(10)

    for verb in (broken, hanging):
        with monkeypatch.context() as patch:
            patch.setattr(Conversation, "recalled", verb)
            patch.setattr(Conversation, "remember", broken)
            answer = openai_client(address).chat.completions.create(**asked)
            assert answer.choices[0].message.content == "Green."
            assert service.asked["messages"] == asked["messages"]
    release.set()
    bad = openai_client(address).chat.completions.create(
        **asked, extra_headers={"X-Memorata-Namespace": "/ /"}
    )
    assert bad.choices[0].message.content == "Green."
    assert "a chat goes on without its memory" in caplog.text
    assert PROMPT not in caplog.text


def test_headers_of_ours_name_the_namespace_and_go_no_further(
    start: Start, service: Service, engine: Engine
) -> None:
    service.says(COMPLETION)
    ours = {"X-Memorata-Namespace": "acme/anna", "X-Memorata-Session": "s1"}
    client = openai_client(start())
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "My key is AKIAIOSFODNN7EXAMPLE"}]}
    answer = client.chat.completions.with_raw_response.create(**asked, extra_headers=ours)
    assert answer.headers["x-memorata-recalled"] == "0"
    assert not [name for name in service.requests[0][1] if "memorata" in name]
    assert service.asked == asked
    said = captured(engine, 2, "acme/anna")
    assert len(said) == 2
    assert "AKIAIOSFODNN7EXAMPLE" not in said[0][1]
    assert engine.list(namespace="acme/anna", limit=1).memories[0].source.session == "s1"


def test_without_capture_nothing_is_written(start: Start, service: Service, engine: Engine) -> None:
    service.says(COMPLETION)
    client = openai_client(start(settings=ProxySettings(capture=False)))
    client.chat.completions.create(model="m", messages=[{"role": "user", "content": PROMPT}])
    assert TEA in json.dumps(service.asked)
    time.sleep(0.1)
    assert captured(engine, 0) == []


def test_who_may_use_it(start: Start, service: Service, engine: Engine) -> None:
    service.says(COMPLETION)
    asked = {"messages": [{"role": "user", "content": PROMPT}]}
    here = f"{start()}/v1/chat/completions"
    assert httpx.post(here, json=asked, headers={"Origin": "https://evil.example"}).status_code == 403
    assert httpx.post(here, json=asked, headers={"Host": "evil.example"}).status_code == 403
    assert httpx.post(here, json=asked, headers={"Origin": "http://localhost:3000"}).status_code == 200
    keys = ApiKeys(engine.store, required=True)
    there = f"{start(keys=keys)}/v1/chat/completions"
    assert httpx.post(there, json=asked).status_code == 401
    reader = {"X-Memorata-Key": keys.create("r", ["*"], ["read"])[1]}
    assert httpx.post(there, json=asked, headers=reader).status_code == 403
    writer = {"X-Memorata-Key": keys.create("w", ["acme"], ["write"])[1]}
    # The chat goes on; the memory of a namespace that the key is not for has no part in it.
    before = len(service.requests)
    assert httpx.post(there, json=asked, headers=writer).status_code == 200
    assert service.requests[before][2] == asked
    assert "x-memorata-key" not in service.requests[before][1]


def test_a_service_that_is_not_there(start: Start) -> None:
    answer = httpx.post(f"{start(upstream='http://127.0.0.1:9/v1')}/v1/messages", json={"messages": []})
    assert answer.status_code == 502
    assert "does not answer" in answer.json()["error"]["message"]
    with pytest.raises(InvalidArgument, match="--upstream"):
        proxies.checked_upstream("ftp://x")


def test_what_is_no_chat_passes_as_it_is(start: Start, service: Service) -> None:
    service.says({"ok": 1})
    address = start()
    for path, body in (("/v1/chat/completions", b"[1]"), ("/v1/embeddings?x=%20y", b'{"a":  1}')):
        assert httpx.post(address + path, content=body).json() == {"ok": 1}
        assert service.requests[-1][0] == path
