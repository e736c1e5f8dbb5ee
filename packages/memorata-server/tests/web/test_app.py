"""The application around the pages: keys, namespaces, forms, and addresses that lead nowhere."""

import asyncio
import re
from importlib.resources import files
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount, Route

from memorata.engine import Engine
from memorata.engine.access import ApiKeys
from memorata_server.testing import TestClient
from memorata_server.web.app import MAX_FORM_BYTES, create_pages
from memorata_server.web.context import HEADERS

READABLE = (
    "/", "/?q=tea", "/memories", "/memories/tea", "/memories/tea/similar", "/graph",
    "/graph/data?entity=Anna", "/communities", "/timeline", "/map", "/review", "/lab",
    "/lab/outcome", "/palette", "/palette?q=tea", "/experiments", "/settings", "/settings/vectors", "/export",
)  # fmt: skip
FORMS = (
    "/memories", "/memories/act", "/memories/tea/act", "/memories/tea/correct", "/memories/tea/change",
    "/recipes", "/review/find", "/review/resolve", "/review/resolve-all", "/review/undo",
    "/review/decide", "/lab/ask", "/lab/judge", "/lab/tune", "/lab/install", "/experiments",
    "/experiments/stop", "/experiments/keep", "/settings/reembed", "/settings/prompts", "/settings/use",
    "/settings/rollback", "/demo", "/import", "/backup",
    "/review/themes", "/review/summary", "/settings/keys", "/settings/keys/revoke",
)  # fmt: skip


def token_in(page: str) -> str:
    return page.partition('name="token" value="')[2].partition('"')[0]


def locked(engine: Engine) -> TestClient:
    return TestClient(
        create_pages(engine, keys=ApiKeys(engine.store)),
        base_url="https://memory.example",
        follow_redirects=False,
    )


def log_in(client: TestClient, key: str) -> int:
    form = {"token": token_in(client.get("/login").text), "key": key}
    return client.post("/login", data=form).status_code


@pytest.mark.parametrize("path", READABLE)
def test_every_page_answers(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 200


def test_an_address_that_leads_nowhere(client: TestClient) -> None:
    answer = client.get("/nowhere")
    assert answer.status_code == 404
    assert "no page at this address" in answer.text
    assert 'href="/memories"' in answer.text


def test_an_address_that_leads_nowhere_tells_a_stranger_nothing(engine: Engine) -> None:
    pages = create_pages(engine, keys=ApiKeys(engine.store, required=True))
    answer = TestClient(pages, base_url="http://localhost").get("/nowhere")
    assert (answer.status_code, 'href="/memories"' in answer.text) == (404, False)


def test_a_namespace_without_memories_is_shown_as_asked(client: TestClient) -> None:
    page = client.get("/?namespace=nobody").text
    assert "<option selected>nobody</option>" in page
    assert "<option selected>default</option>" not in page


def test_the_theme_that_was_chosen_is_kept(client: TestClient, token: str) -> None:
    answer = client.post(
        "/theme", data={"token": token, "theme": "dark"}, headers={"referer": "http://localhost//map?q=tea"}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/map?q=tea")
    assert '<html lang="en" data-theme="dark">' in client.get("/").text
    assert client.post("/theme", data={"token": token, "theme": "pink"}).status_code == 400
    assert client.post("/theme", data={"token": "guessed", "theme": "light"}).status_code == 403
    client.cookies.clear()
    forged = {"cookie": "memorata-theme=owned"}
    assert '<html lang="en">' in client.get("/", headers=forged).text


def test_a_page_under_a_strange_name_is_refused(engine: Engine) -> None:
    client = TestClient(create_pages(engine), base_url="http://evil.example")
    for path in (*READABLE, "/login"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "green tea" not in answer.text


@pytest.mark.parametrize("path", FORMS)
def test_no_form_is_taken_without_its_token(client: TestClient, engine: Engine, path: str) -> None:
    client.get("/memories")
    form = {"content": "bad", "do": "forget", "memory": "tea", "token": "guessed"}
    assert client.post(path, data=form).status_code == 403
    assert [memory.id for memory in engine.list(filter={"content": "bad"}).memories] == []
    assert "tea" in {memory.id for memory in engine.list().memories}


@pytest.mark.parametrize(("method", "tried"), [("POST", FORMS), ("GET", READABLE)])
def test_every_address_is_tried_above_and_below(engine: Engine, method: str, tried: tuple[str, ...]) -> None:
    routes = {
        route.path
        for route in create_pages(engine).routes
        if isinstance(route, Route) and method in (route.methods or ())
    }
    addresses = {path.replace("/tea", "/{id:path}").partition("?")[0] for path in tried}
    assert routes - {"/login", "/logout", "/theme"} == addresses


def test_a_form_may_carry_its_token_in_a_header(client: TestClient, token: str) -> None:
    answer = client.post("/memories", data={"content": "Said live."}, headers={"X-Form-Token": token})
    assert answer.status_code == 303


def test_a_form_that_is_too_large_is_refused(client: TestClient, token: str) -> None:
    form = {"token": token, "content": "x" * MAX_FORM_BYTES}
    assert client.post("/memories", data=form).status_code == 400


def test_a_form_that_is_no_form_is_refused(client: TestClient, token: str) -> None:
    answer = client.post("/memories", content=b"\xff\xfe", headers={"X-Form-Token": token})
    assert answer.status_code == 400


def test_without_a_key_one_is_sent_to_the_login(engine: Engine) -> None:
    client = locked(engine)
    for path in READABLE:
        answer = client.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    live = client.get("/", headers={"HX-Request": "true"})
    assert (live.status_code, live.headers["hx-redirect"]) == (204, "/login")
    assert "tea" not in client.get("/login").text


def test_a_key_lets_in_and_leaving_lets_out(engine: Engine) -> None:
    client = locked(engine)
    _, secret = ApiKeys(engine.store).create("me", ["*"], ["write"])
    assert log_in(client, secret) == 303
    page = client.get("/memories").text
    assert "green tea" in page
    assert secret not in page
    assert all(secret not in value for value in client.cookies.values())
    assert client.post("/logout", data={"token": token_in(page)}).status_code == 303
    assert client.get("/memories").status_code == 303


def test_a_wrong_key_does_not_let_in(engine: Engine) -> None:
    client = locked(engine)
    assert log_in(client, "mem_0000000000000000_" + "A" * 43) == 403
    assert log_in(client, "") == 403
    assert client.get("/memories").status_code == 303


def test_the_login_form_needs_its_token(engine: Engine) -> None:
    client = locked(engine)
    _, secret = ApiKeys(engine.store).create("me", ["*"], ["read"])
    client.get("/login")
    assert client.post("/login", data={"key": secret}).status_code == 403


@pytest.mark.untraced
def test_a_key_that_only_reads_is_shown_no_forms_and_may_send_none(engine: Engine) -> None:
    client = locked(engine)
    _, secret = ApiKeys(engine.store).create("reader", ["*"], ["read"])
    log_in(client, secret)
    for path in READABLE:
        page = client.get(path).text
        assert re.findall('method="post" action="([^"]*)"', page) in (["/theme"], ["/theme", "/logout"], [])
    token = token_in(client.get("/").text)
    for path in FORMS:
        form = {"token": token, "content": "bad", "do": "forget", "memory": "tea", "version": "1"}
        assert client.post(path, data=form).status_code == 403
    assert {memory.id for memory in engine.list().memories} == {"tea", "coffee", "lisbon", "script"}


@pytest.mark.untraced
def test_a_key_for_one_namespace_sees_nothing_of_another(engine: Engine) -> None:
    engine.remember("Bob's secret is in the attic.", namespace="acme/bob", id="bobs")
    engine.remember("Alice keeps bees.", namespace="acme/alice", id="bees")
    client = locked(engine)
    _, secret = ApiKeys(engine.store).create("alice", ["acme/alice"], ["write"])
    log_in(client, secret)
    own = client.get("/").text
    assert "Alice keeps bees." in own
    assert "acme/bob" not in own
    assert "<option>default" not in own
    for path in READABLE:
        for other in ("acme/bob", "default", "nobody"):
            separator = "&" if "?" in path else "?"
            answer = client.get(f"{path.replace('tea', 'bobs')}{separator}namespace={other}")
            assert answer.status_code == 403
            assert "attic" not in answer.text
    token = token_in(own)
    form = {
        "token": token,
        "namespace": "acme/bob",
        "do": "forget",
        "id": "bobs",
        "content": "bad",
        "version": "1",
    }
    for path in FORMS:
        assert client.post(path.replace("tea", "bobs"), data=form).status_code == 403
    assert [memory.content for memory in engine.list(namespace="acme/bob").memories] == [
        "Bob's secret is in the attic."
    ]


def test_what_concerns_the_whole_store_is_for_those_who_administer_all_of_it(engine: Engine) -> None:
    keys = ApiKeys(engine.store)
    for namespaces, scope in (["*"], "write"), (["default"], "admin"):
        client = locked(engine)
        log_in(client, keys.create("some", namespaces, [scope])[1])
        page = client.get("/settings").text
        assert "The store" not in page
        assert "Measured by" not in page
        assert client.post("/settings/reembed", data={"token": token_in(page)}).status_code == 403
    client = locked(engine)
    log_in(client, keys.create("all", ["*"], ["admin"])[1])
    page = client.get("/settings").text
    assert "The store" in page
    assert client.post("/settings/reembed", data={"token": token_in(page)}).status_code == 303


def test_a_namespace_that_cannot_be_is_refused(client: TestClient) -> None:
    assert client.get("/?namespace=acme/../bob").status_code == 400


def test_the_namespace_is_carried_along(client: TestClient, engine: Engine) -> None:
    engine.remember("Bees.", namespace="acme/alice", id="bees")
    page = client.get("/memories?namespace=acme/alice").text
    assert 'href="/memories/bees?namespace=acme%2Falice"' in page
    assert "green tea" not in page


def test_the_pages_can_be_mounted_below_a_path(engine: Engine) -> None:
    server = Starlette(routes=[Mount("/kept", create_pages(engine))])
    client = TestClient(server, base_url="http://localhost", follow_redirects=False)
    page = client.get("/kept/memories").text
    addresses = re.findall(r'(?:href|src|action|hx-get|hx-post)="([^"#][^"]*)"', page)
    assert addresses
    assert all(each.startswith("/kept/") for each in addresses)
    assert client.get("/kept/static/app.css").status_code == 200
    form = {"token": token_in(page), "content": "Said below a path."}
    answer = client.post("/kept/memories", data=form)
    assert answer.status_code == 303
    assert client.get(answer.headers["location"]).status_code == 200


@pytest.mark.parametrize(
    ("name", "package"), [("htmx", "memorata_server.web"), ("cytoscape", "memorata_graph")]
)
def test_vendored_scripts_come_with_their_licences(client: TestClient, name: str, package: str) -> None:
    assert client.get(f"/static/vendor/{name}.min.js").status_code == 200
    vendored = files(package) / "static" / "vendor"
    assert (vendored / f"{name}.LICENSE").read_text(encoding="utf-8")
    assert f"`{name}.min.js`" in (vendored / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["/memories", "/login", "/logout"])
def test_somebody_who_leaves_before_the_form_is_there_is_no_failure_of_the_server(
    engine: Engine, path: str
) -> None:
    sent: list[Any] = []

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    async def note(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "query_string": b"", "scheme": "http",
        "headers": [(b"host", b"localhost")], "server": ("localhost", 80),
    }  # fmt: skip
    asyncio.run(create_pages(engine)(scope, gone, note))
    assert sent[0]["status"] == 400


def test_what_nobody_foresaw_is_a_page_that_says_so_and_an_error_for_the_log(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("the vault opens with marmalade")

    pages = create_pages(engine)
    client = TestClient(pages, base_url="http://localhost", raise_server_exceptions=False)
    monkeypatch.setattr(type(engine), "list", staticmethod(broken))
    answer = client.get("/memories")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "Something went wrong in the server" in answer.text
    assert "marmalade" not in answer.text
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    assert answer.headers["cache-control"] == "no-store"
    part = client.get("/memories", headers={"HX-Request": "true", "HX-Target": "listing"})
    assert part.text.startswith('<div class="notice bad"')
    with pytest.raises(KeyError):
        TestClient(pages, base_url="http://localhost").get("/memories")
