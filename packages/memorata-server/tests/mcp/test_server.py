"""The server behind the protocol's requests, over both transports."""

import asyncio
import http.client
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import Client, MCPError, StdioServerParameters

from memorata import __version__
from memorata.engine import Engine
from memorata.model.errors import InvalidArgument
from memorata_server.mcp.answers import Busy
from memorata_server.mcp.server import MAX_BODY_BYTES, EngineRunner, serve_http, server
from memorata_server.mcp.tools import OWN_TOOLS

Talk = Callable[..., Any]


def test_it_says_who_it_is_and_lists_few_tools_with_plain_names(talk: Talk) -> None:
    async def conversation(client: Client) -> Any:
        return client.server_info, client.instructions, (await client.list_tools()).tools

    info, instructions, tools = talk(conversation)
    assert (info.name, info.version) == ("memorata", __version__)
    assert "recall" in instructions
    names = ["recall", "briefing", "remember", "correct", "forget", "feedback"]
    assert [tool.name for tool in tools][: len(names)] == names
    assert all(tool.title and tool.description for tool in tools)


def test_the_prompt_is_listed_and_given(talk: Talk) -> None:
    async def conversation(client: Client) -> Any:
        (prompt,) = (await client.list_prompts()).prompts
        with pytest.raises(MCPError, match="there is no prompt 'other'; there is use_memory"):
            await client.get_prompt("other")
        return await client.get_prompt(prompt.name)

    assert "Recall first." in talk(conversation).messages[0].content.text


def test_an_unknown_tool_is_refused_with_the_known_ones(talk: Talk) -> None:
    async def conversation(client: Client) -> None:
        with pytest.raises(MCPError, match=r"there is no tool 'recal'; there are recall, briefing, remember"):
            await client.call_tool("recal", {})

    talk(conversation)


def test_arguments_that_do_not_fit_are_an_answer_that_the_model_reads(call: Callable[..., Any]) -> None:
    result = call("recall", query=7)
    assert result.is_error
    assert "query: Input should be a valid string" in result.content[0].text


def test_many_calls_at_once_are_all_answered(engine: Engine, talk: Talk) -> None:
    async def conversation(client: Client) -> list[str]:
        writes = [client.call_tool("remember", {"content": f"Fact number {n} about tea."}) for n in range(24)]
        reads = [client.call_tool("recall", {"query": "tea"}) for _ in range(24)]
        results = await asyncio.gather(*writes, *reads)
        assert not any(result.is_error for result in results)
        return [str(result.content[0].text) for result in results[:24]]  # type: ignore[union-attr]

    said = talk(conversation)
    ids = {re.findall(r"id (\S+)\.", text)[0] for text in said}
    assert ids == {memory.id for memory in engine.list(limit=100).memories}
    assert len(ids) == 24


def test_a_fault_inside_becomes_an_error_of_its_call_only(
    engine: Engine, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(type(engine), "recall", staticmethod(broken))
    monkeypatch.setattr(type(engine), "list", staticmethod(broken))

    async def conversation(client: Client) -> None:
        failed = await client.call_tool("recall", {"query": "tea"})
        assert failed.is_error
        assert "recall failed inside Memorata (RuntimeError)" in failed.content[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="failed inside Memorata"):
            await client.read_resource("memories://acme/alice/recent")
        assert not (await client.call_tool("remember", {"content": "Anna likes tea."})).is_error

    talk(conversation)


Connect = Callable[..., AbstractAsyncContextManager[Client]]
PATIENCE = 60
INTERRUPTIBLE = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from memorata.cli import main; main()"
)
"""The command in a process that Ctrl-C ends, also from the background of a shell, which ignores it."""


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    db = str(tmp_path / "memories.db")
    return [
        "-c",
        INTERRUPTIBLE,
        "server",
        "mcp",
        "--db",
        db,
        "--embedder",
        "lexical",
        "--namespace",
        "acme/alice",
    ]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMORATA_")}
    return {**kept, "MEMORATA_MODELS": str(tmp_path / "models")}


@asynccontextmanager
async def over_stdio(arguments: list[str], environment: dict[str, str], mode: str) -> AsyncIterator[Client]:
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    async with Client(server, mode=mode, read_timeout_seconds=PATIENCE) as client:
        yield client


@asynccontextmanager
async def listening(arguments: list[str], environment: dict[str, str]) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, "--transport", "http", "--port", "0",
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        said = ""
        async with asyncio.timeout(PATIENCE):
            while (address := re.search(r"http://127\.0\.0\.1:\d+/mcp", said)) is None:
                line = await process.stderr.readline()
                assert line, said
                said += line.decode()
        yield address[0]
    finally:
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    assert (process.returncode, out) == (130, b"")


@asynccontextmanager
async def over_http(arguments: list[str], environment: dict[str, str], mode: str) -> AsyncIterator[Client]:
    async with (
        listening(arguments, environment) as address,
        Client(address, mode=mode, read_timeout_seconds=PATIENCE) as client,
    ):
        yield client


@pytest.fixture(params=[over_stdio, over_http], ids=["stdio", "http"])
def connect(request: pytest.FixtureRequest, arguments: list[str], environment: dict[str, str]) -> Connect:
    def connected(*more: str, mode: str = "legacy") -> AbstractAsyncContextManager[Client]:
        made: AbstractAsyncContextManager[Client] = request.param([*arguments, *more], environment, mode)
        return made

    return connected


def text_of(result: Any) -> str:
    assert not result.is_error, result.content[0].text
    return str(result.content[0].text)


def test_a_whole_conversation(connect: Connect) -> None:
    async def conversation() -> None:
        async with connect() as client:
            assert client.server_info is not None
            assert client.server_info.name == "memorata"
            assert "recall" in [tool.name for tool in (await client.list_tools()).tools]
            said = text_of(await client.call_tool("remember", {"content": "Anna Keller prefers green tea."}))
            id_ = said.removeprefix("Remembered, with the id ").removesuffix(".")
            found = text_of(await client.call_tool("recall", {"query": "what tea does Anna like?"}))
            assert json.loads(found.splitlines()[3])["id"] == id_
            (content,) = (await client.read_resource(f"memory://acme/alice/{id_}")).contents
            assert "green tea" in content.text  # type: ignore[union-attr]
            assert "use_memory" in [prompt.name for prompt in (await client.list_prompts()).prompts]
            wrong = await client.call_tool("recall", {"query": "tea", "limit": -1})
            assert wrong.is_error

    asyncio.run(conversation())


def test_calls_at_once_and_calls_that_are_cancelled(connect: Connect) -> None:
    async def conversation() -> None:
        async with connect(mode="auto") as client:
            texts = [f"Fact number {number} about tea." for number in range(16)]
            runner = [asyncio.create_task(client.call_tool("remember", {"content": text})) for text in texts]
            gone = [
                asyncio.create_task(client.call_tool("remember", {"content": f"Cancelled {number}. " * 200}))
                for number in range(8)
            ]
            await asyncio.sleep(0)
            for task in gone:
                task.cancel()
            ended = await asyncio.gather(*gone, return_exceptions=True)
            assert all(isinstance(each, asyncio.CancelledError) for each in ended)
            for result in await asyncio.gather(*runner):
                assert text_of(result).startswith("Remembered")
            asked = {"query": "fact about tea", "limit": 50, "budget": 20_000}
            rows = text_of(await client.call_tool("recall", asked)).splitlines()[3:-1]
            told = {json.loads(row)["content"] for row in rows}
            assert set(texts) <= told
            # One that had begun is whole; of one that had not there is nothing.
            assert all(text in texts or text.count("Cancelled") == 200 for text in told)

    asyncio.run(conversation())


def test_the_reference_servers_tools(connect: Connect) -> None:
    async def conversation() -> None:
        async with connect("--compat", "reference") as client:
            anna = {"name": "Anna", "entityType": "person", "observations": ["Likes tea"]}
            made = await client.call_tool("create_entities", {"entities": [anna]})
            assert made.structured_content == {"entities": [anna]}
            read = await client.call_tool("read_graph", {})
            assert read.structured_content == {"entities": [anna], "relations": []}

    asyncio.run(conversation())


def test_a_memory_that_cannot_be_opened_is_told_with_every_call_over_stdio(
    arguments: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "memories.db").write_text("this is no database" * 100)

    async def conversation() -> None:
        async with over_stdio(arguments, environment, "legacy") as client:
            for _ in range(2):
                result = await client.call_tool("recall", {"query": "tea"})
                assert result.is_error
                assert "damaged or not a database" in result.content[0].text  # type: ignore[union-attr]

    asyncio.run(conversation())


def test_on_standard_output_there_is_nothing_but_the_protocol(
    arguments: list[str], environment: dict[str, str]
) -> None:
    client = {"clientInfo": {"name": "t", "version": "1"}, "capabilities": {}}
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", **client},
    }  # fmt: skip
    forget = {"name": "forget", "arguments": {"ids": ["nobody"]}}
    lines = [
        hello,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": forget},
    ]
    with subprocess.Popen(
        [sys.executable, *arguments, "--debug"],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("this is not JSON\n" + "".join(json.dumps(line) + "\n" for line in lines))
        process.stdin.flush()
        # stderr is not read meanwhile: what is logged for so few lines fits in the pipe.
        answers: list[dict[str, Any]] = []
        while not any(answer.get("id") == 2 for answer in answers):
            answers.append(json.loads(process.stdout.readline()))
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert out == ""
    assert "A new memory, in" in err
    assert [answer["id"] for answer in answers if "result" in answer] == [1, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_ends_it_at_once(arguments: list[str], environment: dict[str, str]) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, *arguments], env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == -signal.SIGINT


def test_nothing_heavy_is_loaded_before_a_tool_is_called() -> None:
    code = (
        "import sys, memorata.cli.app, memorata_server.mcp.server, memorata_server.mcp.tools as tools\n"
        "tools.tools()\n"
        "heavy = ('numpy', 'memorata.engine', 'memorata.model.memory')\n"
        "loaded = [name for name in heavy if name in sys.modules]\n"
        "assert not loaded, loaded"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def status(address: str, body: bytes, headers: dict[str, str]) -> int:
    """Return the HTTP status of a request that is posted."""
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    parts = urlsplit(address)
    with closing(
        http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    ) as connection:
        # Who refuses a body may answer and hang up before all of it was sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request("POST", parts.path, body, {**usual, **headers})
        return connection.getresponse().status


def test_over_http_foreign_pages_and_bodies_that_are_no_requests_are_refused(
    arguments: list[str], environment: dict[str, str]
) -> None:
    async def conversation() -> list[int]:
        async with listening(arguments, environment) as address:
            asked: list[tuple[str, bytes, dict[str, str]]] = [
                (address, b"{}", {"Host": "evil.example"}),
                (address, b"{}", {"Origin": "https://evil.example"}),
                (address, b"this is not JSON", {}),
                (address, b" " * (MAX_BODY_BYTES + 1), {}),
                (address.replace("/mcp", "/other"), b"{}", {}),
            ]
            return [await asyncio.to_thread(status, *given) for given in asked]

    assert asyncio.run(conversation()) == [421, 403, 400, 413, 404]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org"])
def test_only_this_machine_is_served(host: str) -> None:
    with pytest.raises(InvalidArgument, match="without keys, only this machine is served"):
        serve_http(lambda: pytest.fail("not opened"), host, 0, lambda address: None)


def test_the_longest_text_fits_in_a_request() -> None:
    assert MAX_BODY_BYTES >= 6 * 100_000


def run(engine: Engine, conversation: Callable[[EngineRunner], Any], **bounds: int) -> Any:
    runner = EngineRunner(lambda: nullcontext(engine), **bounds)
    try:
        return asyncio.run(conversation(runner))
    finally:
        runner.close()


def test_the_engine_is_opened_once_when_first_needed_and_closed_at_the_end(engine: Engine) -> None:
    events = []

    @contextmanager
    def opening() -> Iterator[Engine]:
        events.append(
            f"opened off the main thread: {threading.current_thread() is not threading.main_thread()}"
        )
        yield engine
        events.append("closed")

    runner = EngineRunner(opening)
    assert events == []

    async def many() -> list[str]:
        return list(await asyncio.gather(*(runner.run(lambda given: given.namespace) for _ in range(8))))

    assert asyncio.run(many()) == ["acme/alice"] * 8
    runner.close()
    assert events == ["opened off the main thread: True", "closed"]


def test_opening_that_failed_is_tried_again(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    tries = []

    def opening() -> Any:
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError("locked")
        return nullcontext(engine)

    runner = EngineRunner(opening, threads=1)

    async def conversation() -> None:
        runner.warm()
        with pytest.raises(RuntimeError, match="locked"):
            await runner.run(lambda given: None)
        assert await runner.run(lambda given: "open") == "open"

    with caplog.at_level(logging.ERROR):
        asyncio.run(conversation())
    runner.close()
    assert caplog.messages == ["the memory cannot be opened: locked"]


def test_no_more_run_at_once_than_there_are_threads(engine: Engine) -> None:
    running = most = 0
    lock = threading.Lock()

    def work(_: Engine) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.01)
        with lock:
            running -= 1

    async def conversation(runner: EngineRunner) -> None:
        await asyncio.gather(*(runner.run(work) for _ in range(12)))

    run(engine, conversation, threads=3)
    assert 1 < most <= 3


def test_those_who_look_do_not_wait_for_those_who_write(engine: Engine) -> None:
    go = threading.Event()

    async def conversation(runner: EngineRunner) -> None:
        writes = [asyncio.create_task(runner.run(lambda given: go.wait(60), writing=True)) for _ in range(4)]
        await asyncio.sleep(0.02)
        assert await asyncio.wait_for(runner.run(lambda given: "found"), 5) == "found"
        go.set()
        assert await asyncio.gather(*writes) == [True] * 4

    run(engine, conversation, threads=2)


def test_a_cancelled_call_that_waits_never_happens_and_one_that_runs_comes_to_its_end(engine: Engine) -> None:
    begun, go, done = threading.Event(), threading.Event(), []

    def first(_: Engine) -> None:
        begun.set()
        go.wait(60)
        done.append("first")

    async def conversation(runner: EngineRunner) -> None:
        running = asyncio.create_task(runner.run(first))
        waiting = asyncio.create_task(runner.run(lambda given: done.append("second")))
        assert await asyncio.to_thread(begun.wait, 10)
        running.cancel()
        waiting.cancel()
        for task in (running, waiting):
            with pytest.raises(asyncio.CancelledError):
                await task
        go.set()
        await runner.run(lambda given: done.append("third"))

    run(engine, conversation, threads=1)
    assert done == ["first", "third"]


def test_too_many_calls_are_refused_until_some_are_done(engine: Engine) -> None:
    go = threading.Event()

    async def conversation(runner: EngineRunner) -> None:
        taken = [asyncio.create_task(runner.run(lambda given: go.wait(60))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="3 calls are waiting"):
            await runner.run(lambda given: None)
        go.set()
        await asyncio.gather(*taken)
        assert await runner.run(lambda given: 7) == 7

    run(engine, conversation, threads=1, max_calls=3)


def test_the_schema_of_a_tool_is_made_once_and_is_the_one_that_is_listed(engine: Engine) -> None:
    served = server(EngineRunner(lambda: nullcontext(engine)))
    assert served.get_tool_input_schema is not None
    schema = served.get_tool_input_schema("recall")
    assert schema == next(tool for tool in OWN_TOOLS if tool.name == "recall").definition().input_schema
    assert served.get_tool_input_schema("recall") is schema
    assert served.get_tool_input_schema("no such tool") is None
