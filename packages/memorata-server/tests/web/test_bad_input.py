"""Whatever is sent, a page answers with words or refuses with words; it never breaks."""

import re

import pytest

from memorata.engine import Engine
from memorata_server.testing import TestClient

NARROWING = "text category tier speaker session tag entity since until filter"
PAGES = {
    "/": f"q recipe compare limit vector_weight vector_pool deduplicate fusion as_of {NARROWING} ns",
    "/memories": f"hidden cursor {NARROWING} ns",
    "/memories/tea": "done",
    "/graph": "entity depth turns",
    "/graph/data": "entity depth",
    "/communities": "level limit iterations",
    "/timeline": "entity start end page",
    "/map": f"lat lon {NARROWING}",
    "/review": "run",
    "/lab": "recall",
}
FORMS = {
    "/memories": "content category tags ns",
    "/memories/act": "do memory cursor",
    "/memories/tea/act": "do",
    "/memories/tea/change": "version tier confidence valid_from expires_at lat place",
    "/recipes": "name recipe vector_weight",
    "/review/find": "strategy",
    "/review/resolve": "memory keep do",
    "/review/undo": "run",
    "/review/decide": "newer older because do",
    "/lab/ask": "q",
    "/lab/judge": "recall memory relevant",
    "/lab/tune": "way",
    "/experiments": "name settings share method users",
    "/experiments/stop": "name",
    "/settings/use": "name",
    "/settings/rollback": "name",
}
pytestmark = pytest.mark.untraced

ODD = (
    "\x00", "a\x00b", "-1", "0", "1e999", "NaN", "9" * 40, "9" * 5000, "../../etc/passwd", "' OR 1=1 --",
    '"unclosed', "{", "[]", "{}", '{"content": {"contains": 3}}', '{"tags": {"any": [null]}}', "😀", "\u202e",
    "<script>", "%", "a" * 30_000, "2026-13-45", "0001-01-01", "9999-12-31", "9999-12-31T23:59:59-12:00",
)  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_no_address_breaks_a_page(client: TestClient, path: str) -> None:
    broken = []
    for field in PAGES[path].split():
        for value in ODD:
            answer = client.get(path, params={"q": "tea", field: value} if path == "/" else {field: value})
            if answer.status_code not in (200, 400, 404):
                broken.append((field, value[:40], answer.status_code))
    assert broken == []


@pytest.mark.parametrize("path", FORMS)
def test_no_form_breaks_a_page(client: TestClient, engine: Engine, token: str, path: str) -> None:
    before = {memory.id: memory.content for memory in engine.list(hidden=True).memories}
    broken = []
    for field in FORMS[path].split():
        for value in ODD:
            answer = client.post(path, data={"token": token, field: value})
            if answer.status_code not in (200, 303, 400, 404, 409):
                broken.append((field, value[:40], answer.status_code))
    assert broken == []
    after = {memory.id: memory.content for memory in engine.list(hidden=True, limit=1000).memories}
    assert {id_: after[id_] for id_ in before} == before


@pytest.mark.parametrize("id_", ["..", "%00", "%ff", "a%2Fb", "x" * 3000, "%F0%9F%98%80"])
def test_no_id_breaks_a_page(client: TestClient, id_: str) -> None:
    assert client.get(f"/memories/{id_}").status_code in (200, 400, 404)


def test_every_refusal_has_words(client: TestClient) -> None:
    for path in ("/?limit=-1&q=x", "/memories?cursor=x", "/graph?depth=9", "/map?lat=1", "/timeline?start=x"):
        page = client.get(path).text
        assert re.search(r'role="alert"><strong>[^<]+</strong> \S', page)
