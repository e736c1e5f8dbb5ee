"""The application as a whole: every route with a key for another namespace, and what no route answers to."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from memorata import Engine, MemorataError
from memorata.engine.access import ApiKeys
from memorata.model import checks
from memorata_graph import Graph
from memorata_server.testing import TestClient

SECRET = "the vault opens with marmalade"
THERE = "acme/secret"
MINE = "beta/mine"
OPEN = {("GET", "/v1/health"), ("GET", "/v1/ready"), ("GET", "/v1/openapi.json")}
"""What answers to everybody, and holds nothing of anybody's."""
ABOUT_NO_NAMESPACE = {
    ("GET", "/v1/settings"),
    ("GET", "/v1/namespaces"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/{id}"),
    ("GET", "/v1/jobs/{id}/events"),
    ("DELETE", "/v1/jobs/{id}"),
}
EVERYWHERE = {("GET", "/v1/metrics"), ("POST", "/v1/jobs/check"), ("POST", "/v1/jobs/reembed")}

BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/v1/memories"): {"content": "x"},
    ("POST", "/v1/memories/batch"): {"items": [{"content": "x"}]},
    ("PATCH", "/v1/memories/{id}"): {"importance": 0.1},
    ("POST", "/v1/memories/{id}/correct"): {"content": "x"},
    ("POST", "/v1/recall"): {"query": "vault", "explain": True},
    ("PUT", "/v1/entities/{name}"): {"type": "person"},
    ("POST", "/v1/entities/merge"): {"keep": "Vera", "other": "Otto"},
    ("POST", "/v1/entities/undo_merge"): {"name": "Otto"},
    ("POST", "/v1/entities/undo_alias"): {"word": "Ott"},
    ("POST", "/v1/relations"): {"subject": "Vera", "type": "hates", "object": "Otto"},
    ("POST", "/v1/recipes"): {"name": "mine"},
    ("POST", "/v1/recipes/use"): {"name": "fast"},
    ("POST", "/v1/recipes/rollback"): {"name": None},
    ("POST", "/v1/feedback"): {"recall_id": "r1", "memory_id": "secret-id", "kind": "click"},
    ("POST", "/v1/experiments"): {
        "name": "e",
        "variants": [{"name": "a", "weight": 0.5}, {"name": "b", "weight": 0.5}],
    },
    ("POST", "/v1/experiments/{name}/recall"): {"query": "vault", "user": "me"},
    ("POST", "/v1/duplicates/undo"): {},
    ("POST", "/v1/contradictions"): {"newer": "a", "older": "b", "contradicts": True, "because": "x"},
    ("POST", "/v1/summaries"): {"ids": ["secret-id"], "accepted": True},
    ("POST", "/v1/jobs/duplicates"): {"apply": True},
    ("POST", "/v1/jobs/maintain"): {},
    ("POST", "/v1/jobs/tune"): {"save_as": "mine"},
    ("POST", "/v1/jobs/reembed"): {},
}
QUERIES: dict[tuple[str, str], dict[str, str]] = {
    ("GET", "/v1/paths"): {"start": "Vera"},
    ("GET", "/v1/near"): {"lat": "1", "lon": "1"},
    ("GET", "/v1/about"): {"entity": "Vera"},
    ("DELETE", "/v1/about"): {"entity": "Vera"},
    ("DELETE", "/v1/relations"): {"subject": "Vera", "type": "knows", "object": "Otto"},
}

PURGES = {("DELETE", "/v1/about"), ("DELETE", "/v1/namespaces")}


def routes(client: TestClient) -> list[tuple[str, str]]:
    paths = client.get("/v1/openapi.json").json()["paths"]
    return [(method.upper(), path) for path, methods in paths.items() for method in methods]


@pytest.fixture
def secret(engine: Engine) -> str:
    """Something in a namespace that is somebody else's; its id."""
    said = engine.remember(SECRET, namespace=THERE, id="secret-id", entities=["Vera", "Otto"])
    Graph(engine).entities.relate("Vera", "knows", "Otto", namespace=THERE)
    engine.remember("mine", namespace=MINE)
    return said.id


@pytest.fixture
def foreign(open_client: Callable[..., TestClient], engine: Engine) -> TestClient:
    _, token = ApiKeys(engine.store).create("theirs", ["beta/*"], ["admin"])
    return open_client(required=True, token=token)


def ask(client: TestClient, method: str, path: str, *, id: str, name: str, namespace: str | None) -> Any:
    query = dict(QUERIES.get((method, path), {}))
    if namespace is not None:
        query["namespace"] = namespace
    options: dict[str, Any] = {"params": query}
    if path == "/v1/import":
        options |= {"content": b'{"content": "x"}\n', "headers": {"Content-Type": "application/x-ndjson"}}
    elif (method, path) in BODIES:
        options["json"] = BODIES[method, path]
    elif method == "POST" and path.startswith("/v1/memories/"):
        options["json"] = {"ids": [id]}
    return client.request(method, path.replace("{id}", id).replace("{name}", name), **options)


def state(engine: Engine) -> tuple[Any, ...]:
    """Everything that a write could have changed."""
    return (
        dict(engine.store.namespaces()),
        [*engine.store.export(None)],
        engine.store.entities.list(THERE),
        engine.store.relations.list(THERE),
        engine.store.changes(0, 1000),
    )


@pytest.mark.untraced
def test_a_key_for_one_namespace_can_do_nothing_in_another(
    foreign: TestClient, engine: Engine, secret: str
) -> None:
    before = state(engine)
    tried = 0
    for method, path in routes(foreign):
        if (method, path) in OPEN | ABOUT_NO_NAMESPACE:
            continue
        answers = [
            ask(foreign, method, path, id=id_, name=name, namespace=namespace)
            for namespace, id_, name in (
                (THERE, secret, "Vera"),
                (THERE, "no-such-id", "Nobody"),
                ("acme/nowhere", secret, "Vera"),
                (None, secret, "Vera"),  # the server's own, which is not theirs either
            )
        ]
        assert [answer.status_code for answer in answers] == [403] * 4, (method, path)
        assert all(answer.headers["content-type"] == "application/problem+json" for answer in answers)
        # Whether something exists there makes no difference to any word of the answer.
        told = [re.sub(r"'[\w/]+'|\"instance\":\"\w+\"", "", answer.text) for answer in answers]
        assert len(set(told)) == 1, (method, path)
        for answer in answers:
            assert "marmalade" not in answer.text
        tried += 1
    assert tried > 55
    assert state(engine) == before


def test_its_own_namespace_is_open_to_the_same_key(foreign: TestClient, engine: Engine, secret: str) -> None:
    """The other half of the test above: it is the namespace that made the difference, not the request."""
    refused = set()
    for method, path in routes(foreign):
        if (method, path) in OPEN | ABOUT_NO_NAMESPACE | EVERYWHERE:
            continue
        answer = ask(foreign, method, path, id="nobody", name="Nobody", namespace=MINE)
        if answer.status_code in (401, 403):
            refused.add((method, path))
        assert answer.status_code < 500
    assert refused == set()


def test_what_is_about_no_namespace_tells_nothing_of_others(
    foreign: TestClient, engine: Engine, secret: str
) -> None:
    assert foreign.get("/v1/namespaces").json() == {"namespaces": [{"namespace": MINE, "memories": 1}]}
    job = foreign.app.state.server.jobs.start("check", THERE, "other", lambda job: {"found": SECRET})  # type: ignore[attr-defined]
    assert job.wait(60)
    assert foreign.get("/v1/jobs").json() == {"jobs": []}
    unknown = foreign.get("/v1/jobs/nobody").json()
    for method, path in (("GET", ""), ("GET", "/events"), ("DELETE", "")):
        answer = foreign.request(method, f"/v1/jobs/{job.id}{path}")
        assert (answer.status_code, answer.json()["detail"]) == (404, unknown["detail"])
    assert "acme" not in foreign.get("/v1/settings").text


def test_what_a_job_about_everything_found_is_for_those_who_may_see_everything(
    open_client: Callable[..., TestClient], engine: Engine
) -> None:
    keys = ApiKeys(engine.store)
    owner = open_client(required=True, token=keys.create("a", ["*"], ["admin"])[1])
    other = open_client(required=True, token=keys.create("b", ["default", "acme/*"], ["admin"])[1])
    other.app.state.server = owner.app.state.server  # type: ignore[attr-defined]
    where = owner.post("/v1/jobs/check").headers["location"]
    assert owner.get(where).json()["namespace"] == "*"
    assert owner.get("/v1/jobs").json()["jobs"]
    assert other.get(where).status_code == 404
    assert other.get("/v1/jobs").json() == {"jobs": []}


@pytest.mark.untraced
def test_a_key_that_may_read_may_not_write_and_one_that_may_write_may_not_purge(
    open_client: Callable[..., TestClient], engine: Engine, secret: str
) -> None:
    keys = ApiKeys(engine.store)
    before = state(engine)
    for scope, allowed in (("read", {"GET"}), ("write", {"GET", "POST", "PUT", "PATCH", "DELETE"})):
        client = open_client(required=True, token=keys.create("a", ["acme/*"], [scope])[1])
        for method, path in routes(client):
            if (method, path) in OPEN | ABOUT_NO_NAMESPACE | EVERYWHERE:
                continue
            reads = method in allowed or path == "/v1/recall"
            purges = path == "/v1/memories/purge" or (method, path) in PURGES
            reads &= not purges
            if scope == "write" and reads and method != "GET":
                continue  # it may, and would
            answer = ask(client, method, path, id=secret, name="Vera", namespace=THERE)
            assert (answer.status_code != 403) == reads, (scope, method, path)
    assert state(engine) == before


@pytest.mark.untraced
def test_without_a_key_nothing_is_told_but_that_one_is_needed(
    open_client: Callable[..., TestClient], engine: Engine, secret: str
) -> None:
    client = open_client(required=True)
    before = state(engine)
    for method, path in routes(client):
        if (method, path) in OPEN:
            continue
        answer = ask(client, method, path, id=secret, name="Vera", namespace=THERE)
        assert answer.status_code == 401, (method, path)
        assert answer.headers["www-authenticate"] == 'Bearer realm="memorata"'
        assert "marmalade" not in answer.text
    assert state(engine) == before


@pytest.mark.parametrize("header", ["Basic eDp5", "Bearer", "Bearer x", "mem_x", "bearer mem_0_1"])
def test_a_header_that_is_no_key_is_not_as_good_as_none(client: TestClient, header: str) -> None:
    answer = client.get("/v1/memories", headers={"Authorization": header})
    assert (answer.status_code, answer.json()["type"]) == (401, "memorata:not-admitted")


def test_what_nothing_answers_to_is_told_as_a_problem(client: TestClient) -> None:
    for path in ("/v1/nothing", "/v1", "/v1/", "/nothing", "/"):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), path
    wrong = client.put("/v1/memories")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, POST")
    assert wrong.json()["type"] == "memorata:method-not-allowed"


def test_pages_answer_what_is_not_under_v1(open_client: Callable[..., TestClient]) -> None:
    async def pages(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a page"})

    client = open_client(pages=pages)
    assert client.get("/").text == client.get("/memories/x").text == "a page"
    for path in ("/v1/nothing", "/v1", "/v1/"):
        assert client.get(path).json()["detail"] == "see /v1/openapi.json for what there is"
    assert client.get("/v1/nothing").status_code == 404
    assert client.get("/v1/health").status_code == 200
    for method in ("QUERY", "PROPFIND", "BREW"):
        is_new = client.request(method, "/v1/recall")
        assert (is_new.status_code, is_new.headers["allow"]) == (405, "POST")
        assert client.request(method, "/v1/nothing").json()["type"] == "memorata:not-found"


def test_other_sites_may_not_ask_unless_they_are_named(open_client: Callable[..., TestClient]) -> None:
    asking = {"Origin": "https://notes.example", "Access-Control-Request-Method": "POST"}
    closed, opened = open_client(), open_client(origins=["https://notes.example"])
    assert "access-control-allow-origin" not in closed.options("/v1/recall", headers=asking).headers
    assert "access-control-allow-origin" not in closed.get("/v1/health", headers=asking).headers
    allowed = opened.options("/v1/recall", headers=asking)
    assert allowed.headers["access-control-allow-origin"] == "https://notes.example"
    for body, kind in ((b"x", "text/plain"), (b"x" * 5_000_000, "application/json")):
        headers = {"Origin": "https://notes.example", "Content-Type": kind}
        refused = opened.post("/v1/recall", content=body, headers=headers)
        assert refused.status_code in (413, 415)
        assert refused.headers["access-control-allow-origin"] == "https://notes.example"
        assert "X-Request-Id" in refused.headers["access-control-expose-headers"]
    other = opened.get("/v1/health", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers


@pytest.mark.untraced
def test_the_description_says_whether_a_key_is_needed(open_client: Callable[..., TestClient]) -> None:
    needed: dict[bool, list[Any]] = {True: [{"key": []}], False: [{"key": []}, {}]}
    for required, wanted in needed.items():
        paths = open_client(required=required).get("/v1/openapi.json").json()["paths"]
        assert paths["/v1/recall"]["post"]["security"] == wanted
        assert "security" not in paths["/v1/health"]["get"]


def test_operations_are_named_after_their_verbs_and_few(client: TestClient) -> None:
    described = client.get("/v1/openapi.json").json()["paths"]
    names = [route["operationId"] for methods in described.values() for route in methods.values()]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
    assert {"remember", "remember_many", "recall", "briefing", "correct", "update", "put", "get"} <= {*names}
    assert {"delete", "list", "history", "forget", "restore", "purge"} <= {*names}
    satellites = {"entities and graph", "experiments"}
    own = [
        name
        for methods in described.values()
        for name, route in methods.items()
        if not satellites.intersection(route["tags"])
    ]
    assert len(own) <= 50


def test_patterns_are_those_of_the_checks(client: TestClient) -> None:
    described = client.get("/v1/openapi.json").json()["paths"]["/v1/memories/{id}"]["get"]["parameters"]
    schemas = {parameter["name"]: parameter["schema"] for parameter in described}
    for name, check in (("id", checks.memory_id), ("namespace", checks.namespace)):
        for text in ("a", "a b", "a/b", ".a", "a/.b", "a\0", "é", "a//b", "", "/", "a+b@c.d~e-f", "a\tb"):
            described_as_good = re.search(schemas[name]["pattern"], text) is not None
            with suppress(MemorataError):
                check(name, text)
                assert described_as_good, (name, text)
                continue
            assert not described_as_good, (name, text)


@pytest.mark.untraced
def test_the_description_describes_problems_and_keys(client: TestClient) -> None:
    described = client.get("/v1/openapi.json").json()
    assert described["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            assert route["responses"]["default"]["content"]["application/problem+json"], (method, path)
            assert {"401", "403", "422", "429"} <= route["responses"].keys(), (method, path)
            assert ("404" in route["responses"]) == ("{" in path), (method, path)
            assert route["description"], (method, path)
            assert "HTTPValidationError" not in str(route)
