"""What every request passes, and the limits of a server."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import Request

from memorata import Engine
from memorata.engine.access import ApiKeys
from memorata.model.errors import InvalidArgument
from memorata_server.http.middleware import Limits, RequestMiddleware, host_of, route_of
from memorata_server.http.telemetry import Metrics
from memorata_server.testing import TestClient


def test_only_the_names_of_the_server_are_answered_to(open_client: Callable[..., TestClient]) -> None:
    client = open_client(hosts=["localhost", "Memory.example"])
    for name in ("localhost", "localhost:80", "MEMORY.example:8765"):
        assert client.get("/v1/health", headers={"Host": name}).status_code == 200
    for name in ("evil.example", "localhost.evil.example", "evil.example:80", "", "[::1]"):
        answer = client.get("/v1/health", headers={"Host": name})
        assert (answer.status_code, answer.json()["type"]) == (421, "memorata:misdirected")


def test_something_that_breaks_is_a_problem_and_the_words_of_it_stay_here(
    client: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise KeyError("marmalade")

    monkeypatch.setattr(type(engine), "recall", staticmethod(broken))
    answer = client.post("/v1/recall", json={"query": "tea"})
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert answer.json()["instance"] == answer.headers["x-request-id"]
    assert "marmalade" not in answer.text


def test_a_body_that_does_not_arrive_is_not_waited_for(engine: Engine) -> None:
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.sleep(60)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()

    async def note(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/x", "headers": []}
    asyncio.run(RequestMiddleware(app, Limits(seconds=0.01), Metrics())(scope, never, note))
    assert sent[0]["status"] == 408


@pytest.mark.parametrize(("path", "status"), [("/v1/recall", 408), ("/v1/import", 200)])
def test_a_body_that_drips_has_no_more_time_than_another_unless_it_is_a_stream(
    path: str, status: int
) -> None:
    sent: list[Any] = []
    left = iter(range(8))

    async def drip() -> Any:
        await asyncio.sleep(0.15)
        return {"type": "http.request", "body": b"a", "more_body": next(left) < 7}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def note(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": []}
    asyncio.run(RequestMiddleware(app, Limits(seconds=1.0), Metrics())(scope, drip, note))
    assert sent[0]["status"] == status


def test_somebody_who_leaves_before_the_body_is_there_is_no_failure_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def gone() -> Any:
        return {"type": "http.disconnect"}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await Request(scope, receive).body()

    async def nothing(message: Any) -> None: ...

    metrics = Metrics()
    scope = {"type": "http", "method": "POST", "path": "/v1/import", "headers": []}
    with caplog.at_level(logging.INFO, logger="memorata_server"):
        asyncio.run(RequestMiddleware(app, Limits(), metrics)(scope, gone, nothing))
    assert [(record.levelname, record.fields["status"]) for record in caplog.records] == [("INFO", 400)]  # type: ignore[attr-defined]
    assert b'status="500"' not in metrics.text()


def test_an_answer_that_breaks_off_in_the_middle_is_in_the_log_as_a_failure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise KeyError("marmalade")

    async def nothing(*_: Any) -> Any: ...

    scope = {"type": "http", "method": "GET", "path": "/v1/export", "headers": []}
    with caplog.at_level(logging.INFO, logger="memorata_server"):
        asyncio.run(RequestMiddleware(app, Limits(), Metrics())(scope, nothing, nothing))
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert record.exc_info is not None
    assert record.exc_info[0] is KeyError


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 202),
        ("http://localhost", 202),
        ("https://friend.example", 202),
        ("https://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
def test_a_page_of_another_site_cannot_begin_what_needs_no_body(
    open_client: Callable[..., TestClient], origin: str | None, status: int
) -> None:
    # A browser asks nobody before it sends such a request; of one with JSON in it, it does.
    client = open_client(origins=["https://friend.example"])
    headers = {} if origin is None else {"Origin": origin}
    assert client.post("/v1/jobs/check", headers=headers).status_code == status


def test_who_shows_a_key_may_come_from_anywhere(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    _, token = ApiKeys(engine.store).create("admin", ["*"], ["admin"])
    client = open_client(required=True, token=token)
    headers = {"Origin": "chrome-extension://friend"}
    assert client.post("/v1/jobs/check", headers=headers).status_code == 202


def test_answers_are_not_for_caches(client: TestClient) -> None:
    for path in ("/v1/memories", "/v1/nothing"):
        answer = client.get(path)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "cache-control" not in client.get("/").headers


def test_what_is_no_request_passes() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    async def nothing(*_: Any) -> Any:
        return {}

    asyncio.run(RequestMiddleware(app, Limits(), Metrics())({"type": "lifespan"}, nothing, nothing))
    assert seen == ["lifespan"]


@pytest.mark.parametrize(
    ("header", "name"),
    [("localhost", "localhost"), ("LOCALHOST:80", "localhost"), ("[::1]:80", "::1"), ("", ""), ("[", "")],
)
def test_a_name_is_read_without_its_port(header: str, name: str) -> None:
    assert host_of(header) == name


def test_a_request_that_no_route_answered_has_no_route() -> None:
    assert route_of({"type": "http"}) == "(none)"


@pytest.mark.parametrize(
    "bad",
    [
        {"body": 0},
        {"stream": -1},
        {"rate": 0},
        {"rate": float("nan")},
        {"burst": 0},
        {"seconds": 0},
        {"threads": 0},
        {"threads": 1.5},
        {"waiting": -1},
    ],
)
def test_limits_that_let_nothing_through_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(bad))):
        Limits(**bad)


def test_no_rate_is_no_limit() -> None:
    assert Limits().rate is None
