"""Over HTTP with keys: who may call, in which namespace, and tokens of an issuer, by the SDK's own client."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.requests import Request

import memorata
from memorata.engine import Engine
from memorata.engine.access import ApiKeys
from memorata.model.errors import AccessDenied, NotAdmitted
from memorata_server.mcp import server as mcp_server
from memorata_server.mcp.auth import Issuer, Verifier, namespace_of

RESOURCE = "https://memory.example/mcp"
ISSUER = "https://issuer.example/"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", namespace="own") as memory:
        memory.remember("The server's own secret is tea.", id="own")
        memory.remember("Alice prefers green tea.", namespace="acme/alice", id="alice")
        yield memory


@pytest.fixture
def keys(engine: Engine) -> ApiKeys:
    return ApiKeys(engine.store)


@pytest.fixture
def address(engine: Engine, keys: ApiKeys, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server with keys on a thread of the test."""
    import uvicorn

    running: list[uvicorn.Server] = []

    class Noted(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            running.append(self)

    monkeypatch.setattr(uvicorn, "Server", Noted)
    told: list[str] = []
    thread = threading.Thread(
        target=mcp_server.serve_http,
        args=(lambda: nullcontext(engine), "127.0.0.1", 0, told.append),
        kwargs={"verifier": lambda engine: Verifier(keys)},
    )
    thread.start()
    while not (told and running and running[0].started):
        assert thread.is_alive()
        time.sleep(0.01)
    yield told[0]
    running[0].should_exit = True
    thread.join(60)


@asynccontextmanager
async def connected(address: str, token: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


def said(address: str, token: str, tool: str, **arguments: Any) -> Any:
    async def call() -> Any:
        async with connected(address, token) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(call())


def test_without_a_good_key_nobody_is_answered(address: str, keys: ApiKeys) -> None:
    key, token = keys.create("gone", ["*"], ["read"])
    keys.revoke(key.id)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for shown in ({}, {"Authorization": "Bearer mem_x"}, {"Authorization": f"Bearer {token}"}):
        refused = httpx2.post(address, json=body, headers={**shown, "Accept": "application/json"})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")


def test_a_key_reaches_its_namespace_with_every_tool_and_no_other(
    address: str, keys: ApiKeys, engine: Engine
) -> None:
    token = keys.create("alice's agent", ["acme/alice"], ["write"])[1]
    before = [memory.id for memory in engine.list(namespace="own").memories]

    async def conversation() -> str:
        texts = []
        async with connected(address, token) as client:
            kept = await client.call_tool("remember", {"content": "Alice's cat is called Miso."})
            recalled = await client.call_tool("recall", {"query": "tea"})
            for tool, arguments in (
                ("briefing", {}),
                ("explore", {}),
                ("relate", {"subject": "Alice", "type": "owns", "object": "Miso"}),
                ("explore", {"entity": "Alice"}),
                ("correct", {"memory_id": "alice", "content": "Alice prefers black tea."}),
                ("forget", {"memory_ids": ["own"]}),
            ):
                texts.append(str(await client.call_tool(tool, arguments)))
            for resource in (await client.list_resources()).resources:
                assert str(resource.uri) == "memories://acme/alice/recent"
                texts.append(str(await client.read_resource(str(resource.uri))))
            assert "green tea" in str(recalled)
            assert not kept.is_error
        return "".join(texts)

    seen = asyncio.run(conversation())
    assert "secret" not in seen
    assert [memory.id for memory in engine.list(namespace="own").memories] == before
    contents = {memory.content for memory in engine.list(namespace="acme/alice").memories}
    assert "Alice's cat is called Miso." in contents


def test_a_key_that_reads_does_not_write(address: str, keys: ApiKeys) -> None:
    token = keys.create("reader", ["acme/*"], ["read"])[1]
    there = f"{address}?namespace=acme/alice"
    assert "green tea" in str(said(there, token, "recall", query="tea"))
    refused = said(there, token, "remember", content="anything")
    assert refused.is_error
    assert "may not write to the namespace 'acme/alice'" in refused.content[0].text
    elsewhere = said(f"{address}?namespace=own", token, "recall", query="tea")
    assert elsewhere.is_error
    assert "secret" not in str(elsewhere)
    assert "?namespace=" in said(address, token, "recall", query="tea").content[0].text


def test_a_recall_over_several_namespaces_touches_those_that_the_key_is_for(
    address: str, keys: ApiKeys, engine: Engine
) -> None:
    engine.remember("All of acme drinks tea at four.", namespace="acme")
    there = f"{address}?namespace=acme/alice"
    narrow = keys.create("alice's agent", ["acme/alice"], ["read"])[1]
    inherited = str(said(there, narrow, "recall", query="tea", inherit=True))
    assert "green tea" in inherited
    assert "at four" not in inherited
    assert "1 of 2 namespaces are left out" in inherited
    for path in ("own", "acme"):
        refused = said(there, narrow, "recall", query="tea", namespaces=[path])
        assert refused.is_error
        assert f"may not read the namespace '{path}'" in refused.content[0].text
    wide = keys.create("acme's agent", ["acme", "acme/*"], ["read"])[1]
    both = str(said(there, wide, "recall", query="tea", namespaces=["acme/*"]))
    assert "green tea" in both
    assert "at four" in both
    assert "secret" not in both


def test_the_servers_own_namespace_is_meant_by_a_key_that_is_for_it(address: str, keys: ApiKeys) -> None:
    token = keys.create("all", ["*"], ["read"])[1]
    assert "own secret" in str(said(address, token, "recall", query="tea"))


def test_without_keys_the_namespace_is_the_engines() -> None:
    assert namespace_of(None, "read", "own") is None
    assert namespace_of(Request({"type": "http", "query_string": b""}), "read", "own") is None


PRIVATE = ec.generate_private_key(ec.SECP256R1())


def token_of(**changes: Any) -> str:
    claims = {
        "iss": ISSUER,
        "aud": RESOURCE,
        "sub": "anna",
        "exp": datetime.now(UTC) + timedelta(minutes=5),
        "scope": "read write openid",
        "namespaces": ["acme/*"],
        **changes,
    }
    return jwt.encode(claims, PRIVATE, algorithm="ES256", headers={"kid": "1"})


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Issuer:
    jwk = jwt.algorithms.ECAlgorithm.to_jwk(PRIVATE.public_key(), as_dict=True) | {"kid": "1", "use": "sig"}
    monkeypatch.setattr(jwt.PyJWKClient, "fetch_data", lambda self: {"keys": [jwk]})
    places = {"https://issuer.example/.well-known/openid-configuration"}

    def fetch(place: str) -> dict[str, Any] | None:
        return {"issuer": ISSUER, "jwks_uri": "https://issuer.example/keys"} if place in places else None

    return Issuer(ISSUER, RESOURCE, fetch)


def test_a_token_of_the_issuer_is_for_what_its_claims_say(issuer: Issuer) -> None:
    access = issuer.access(token_of())
    assert access.allows("write", "acme/alice")
    assert not access.allows("read", "own")
    assert not access.may("admin")
    assert issuer.access(token_of(namespaces="acme/bob own")).namespaces == ("acme/bob", "own")
    with pytest.raises(AccessDenied):
        issuer.access(token_of(scope="openid")).require("read", "acme/alice")


@pytest.mark.parametrize(
    "wrong",
    [
        {"aud": "https://other.example/mcp"},
        {"iss": "https://other.example/"},
        {"exp": datetime.now(UTC) - timedelta(minutes=5)},
        {"sub": None},
        {"namespaces": ["not a / namespace //"]},
    ],
)
def test_a_token_for_another_server_of_another_issuer_or_over_is_refused(
    issuer: Issuer, wrong: dict[str, Any]
) -> None:
    with pytest.raises(NotAdmitted):
        issuer.access(token_of(**wrong))


def test_a_token_signed_by_somebody_else_is_refused(issuer: Issuer) -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    forged = jwt.encode(jwt.decode(token_of(), options={"verify_signature": False}), other, algorithm="ES256",
                        headers={"kid": "1"})  # fmt: skip
    for token in (forged, jwt.encode({"sub": "anna"}, "", algorithm="none"), "no token"):
        with pytest.raises(NotAdmitted):
            issuer.access(token)


def test_where_tokens_are_issued_is_published_with_an_issuer_alone(issuer: Issuer, keys: ApiKeys) -> None:
    settings = Verifier(keys, issuer).settings
    assert (str(settings.issuer_url), str(settings.resource_server_url)) == (ISSUER, RESOURCE)
    assert Verifier(keys).settings.resource_server_url is None


def test_both_kinds_of_token_are_good_where_an_issuer_is_named(issuer: Issuer, keys: ApiKeys) -> None:
    verifier = Verifier(keys, issuer)
    for token in (keys.create("key", ["acme/*"], ["write"])[1], token_of()):
        shown = asyncio.run(verifier.verify_token(token))
        assert shown is not None
        assert shown.scopes == ["read", "write"]
    assert asyncio.run(verifier.verify_token("mem_unknown")) is None


def test_other_addresses_are_served_with_keys(
    engine: Engine, keys: ApiKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    told: list[str] = []
    mcp_server.serve_http(
        lambda: nullcontext(engine), "0.0.0.0", 0, told.append, verifier=lambda engine: Verifier(keys)
    )
    assert told[0].startswith("http://0.0.0.0:")
