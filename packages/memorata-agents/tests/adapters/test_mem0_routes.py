"""Routes of mem0's servers: what a client of theirs gets, under keys and namespaces of ours."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.extend.access import ApiKeys
from memorata_server.testing import TestClient, api_client

Open = Callable[..., TestClient]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as opened:
        yield opened


@pytest.fixture
def open_client(engine: Engine) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(api_client(engine, **options))


@pytest.fixture
def mem0(open_client: Open) -> TestClient:
    return open_client()


def add(client: TestClient, text: str, **scope: Any) -> str:
    answer = client.post("/mem0/memories", json={"messages": [{"role": "user", "content": text}], **scope})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["results"][0]["id"])


def texts(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["memory"] for row in answer.json()["results"]]


def test_the_routes_of_the_self_hosted_server(mem0: TestClient) -> None:
    tea = add(mem0, "Anna drinks green tea.", user_id="anna", metadata={"topic": "drinks"})
    add(mem0, "Bob drinks black tea.", user_id="bob")
    found = mem0.post("/mem0/search", json={"query": "who drinks tea?", "user_id": "anna"})
    assert texts(found) == ["Anna drinks green tea."]
    assert texts(mem0.get("/mem0/memories?user_id=bob")) == ["Bob drinks black tea."]
    assert mem0.put(f"/mem0/memories/{tea}", json={"text": "Anna drinks coffee."}).status_code == 200
    row = mem0.get(f"/mem0/memories/{tea}").json()
    assert (row["memory"], row["metadata"], row["user_id"]) == (
        "Anna drinks coffee.",
        {"topic": "drinks"},
        "anna",
    )
    assert mem0.delete(f"/mem0/memories/{tea}").status_code == 200
    events = [each["event"] for each in mem0.get(f"/mem0/memories/{tea}/history").json()]
    assert events == ["ADD", "UPDATE", "DELETE"]
    assert mem0.delete("/mem0/memories?user_id=bob").status_code == 200
    assert texts(mem0.get("/mem0/memories?user_id=bob")) == []
    assert mem0.post("/mem0/reset").json() == {"message": "All memories reset"}
    assert "nothing to configure" in mem0.post("/mem0/configure", json={"llm": {}}).json()["message"]


def test_an_expiry_is_cleared_by_null(mem0: TestClient) -> None:
    id_ = add(mem0, "The parcel comes.", user_id="anna", expiration_date="2020-01-01")
    assert texts(mem0.get("/mem0/memories?user_id=anna")) == []
    assert len(texts(mem0.get("/mem0/memories?user_id=anna&show_expired=true"))) == 1
    mem0.put(f"/mem0/memories/{id_}", json={"metadata": {"n": 1}})
    assert texts(mem0.get("/mem0/memories?user_id=anna")) == []
    mem0.put(f"/mem0/memories/{id_}", json={"expiration_date": None})
    assert len(texts(mem0.get("/mem0/memories?user_id=anna"))) == 1


def test_metadata_names_no_owner_and_ids_may_be_numbers(mem0: TestClient) -> None:
    id_ = add(mem0, "The secret is tea.", agent_id="bot", metadata={"user_id": "victim"})
    mem0.put(f"/mem0/memories/{id_}", json={"metadata": {"user_id": "victim", "agent_id": "other"}})
    for scope in ({"user_id": "victim"}, {"agent_id": "other"}):
        assert texts(mem0.post("/mem0/search", json={"query": "secret", "filters": scope})) == []
    assert texts(mem0.post("/mem0/search", json={"query": "secret", "agent_id": "bot"})) == [
        "The secret is tea."
    ]
    add(mem0, "Seven drinks tea.", user_id=7)
    assert texts(mem0.get("/mem0/memories?user_id=7")) == ["Seven drinks tea."]
    assert texts(mem0.post("/mem0/search", json={"query": "tea", "filters": {"user_id": 7}})) == [
        "Seven drinks tea."
    ]


def test_filters_of_the_platform(mem0: TestClient) -> None:
    for number in (1, 2):
        add(mem0, f"Tea number {number}.", user_id="anna", metadata={"n": number})

    def found(filters: Any) -> list[str]:
        return texts(mem0.post("/mem0/search", json={"query": "tea", "user_id": "anna", "filters": filters}))

    assert found({"NOT": {"n": 1}}) == ["Tea number 2."]
    assert found({"metadata": {"n": 1}}) == ["Tea number 1."]
    assert found({"AND": [{"metadata": {"n": 1}}, {"NOT": {"n": 1}}]}) == []


def test_what_the_platform_has_alone_is_refused(mem0: TestClient) -> None:
    route = "/mem0/api/v1/orgs/organizations/memorata/projects/mem0/"
    assert mem0.get(route).json() == {"name": "mem0", "custom_instructions": None, "custom_categories": None}
    assert mem0.get(route + "?fields=custom_categories").json() == {"custom_categories": None}
    assert mem0.get(route.replace("mem0/", "other/", 2)).status_code == 404
    for answer, reason in (
        (mem0.patch(route, json={"custom_instructions": "x"}), "nothing to configure"),
        (mem0.post("/mem0/v1/feedback/", json={"memory_id": "m", "feedback": "POSITIVE"}), "/v1/feedback"),
        (mem0.post("/mem0/v1/exports/", json={"schema": {}}), "no exports"),
        (mem0.get("/mem0/api/v1/webhooks/projects/mem0/"), "no webhooks"),
    ):
        assert answer.status_code == 501
        assert reason in answer.json()["detail"]
        assert answer.json()["title"] == "This server does not offer that"


def test_errors_are_json_with_a_detail(mem0: TestClient) -> None:
    for answer, status in (
        (mem0.get("/mem0/memories/none"), 404),
        (mem0.put("/mem0/memories/none", json={"text": "x"}), 404),
        (mem0.post("/mem0/memories", json={"messages": "x"}), 400),
        (mem0.post("/mem0/search", json={"query": "x"}), 400),
        (mem0.post("/mem0/search", json={}), 422),
        (mem0.post("/mem0/search", json={"query": "x", "filters": {"user_id": "a", "NOT": 7}}), 400),
        (mem0.post("/mem0/memories", json={"messages": "x", "user_id": "  "}), 400),
        (mem0.post("/mem0/memories", json={"messages": "x", "user_id": "a", "timestamp": 1e300}), 400),
        (
            mem0.post(
                "/mem0/memories", json={"messages": {"content": {"type": "image_url"}}, "user_id": "a"}
            ),
            400,
        ),
        (mem0.put("/mem0/v1/batch/", json={"memories": [{"memory_id": "none", "text": "x"}]}), 404),
        (mem0.delete("/mem0/v2/entities/dog/rex/"), 422),
    ):
        assert answer.status_code == status
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["detail"]
    assert mem0.get("/mem0/nothing").status_code == 404


def test_a_page_of_another_site_cannot_write(mem0: TestClient) -> None:
    text = mem0.post("/mem0/memories", content=b"{}", headers={"content-type": "text/plain"})
    assert text.status_code == 415
    assert mem0.post("/mem0/reset", headers={"origin": "https://elsewhere.example"}).status_code == 403


@pytest.mark.parametrize("header", ["Authorization: Token {}", "Authorization: Bearer {}", "X-API-Key: {}"])
def test_keys_and_their_namespaces(engine: Engine, open_client: Open, header: str) -> None:
    keys = ApiKeys(engine.store)

    def client(namespaces: list[str], scopes: list[str]) -> TestClient:
        name, _, value = header.format(keys.create("k", namespaces, scopes)[1]).partition(": ")
        opened = open_client(required=True)
        opened.headers[name] = value
        return opened

    anna, all_of_acme = client(["acme/anna"], ["write"]), client(["acme/*"], ["read"])
    add(anna, "Anna drinks green tea.", user_id="u")
    assert [memory.content for memory in engine.list(namespace="acme/anna").memories] == [
        "Anna drinks green tea."
    ]
    listed = "/mem0/memories?user_id=u"
    assert texts(all_of_acme.get(listed + "&namespace=acme/anna")) == ["Anna drinks green tea."]
    assert all_of_acme.get(listed).status_code == 403
    assert all_of_acme.delete(listed + "&namespace=acme/anna").status_code == 403
    assert anna.post("/mem0/reset").status_code == 403
    assert anna.get(listed + "&namespace=acme/bob").status_code == 403


def test_without_a_good_key_nobody_is_let_in(open_client: Open) -> None:
    client = open_client(required=True)
    assert client.get("/mem0/v1/ping/").status_code == 401
    answer = client.get("/mem0/v1/ping/", headers={"Authorization": "Token m0-other"})
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="memorata"')
