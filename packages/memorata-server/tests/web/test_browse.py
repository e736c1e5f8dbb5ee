"""Browse: a list that narrows down, and things done to many that one click takes back."""

import re
from datetime import UTC, datetime

import pytest

from memorata.engine import Engine
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages

LIVE = {"HX-Request": "true", "HX-Target": "listing"}


def listed(page: str) -> list[str]:
    return re.findall(r'<p class="said"><a href="/memories/([\w-]+)"', page)


def test_newest_first(client: TestClient, engine: Engine) -> None:
    page = client.get("/memories").text
    assert listed(page) == [memory.id for memory in engine.list().memories]
    assert "4 memories in default" in page


def test_narrowed_down(client: TestClient) -> None:
    answer = client.get("/memories?speaker=Anna&tag=travel", headers=LIVE)
    assert listed(answer.text) == ["lisbon"]
    assert answer.headers["hx-replace-url"] == "/memories?speaker=Anna&tag=travel"
    assert "No memory is like that" in client.get("/memories?speaker=Zoe").text


def test_a_tag_with_a_comma_leads_to_what_has_it(client: TestClient, engine: Engine) -> None:
    engine.remember("A tag of two words.", id="comma", tags=("Smith, John",))
    link = re.search(r'<a href="(/memories\?tag=[^"]+)">#<bdi>Smith, John', client.get("/memories").text)
    assert link is not None
    assert listed(client.get(link[1]).text) == ["comma"]


def test_page_by_page(client: TestClient, engine: Engine) -> None:
    engine.remember_many([f"Note number {number}." for number in range(60)])
    first = client.get("/memories").text
    older = re.search(r'href="(/memories\?cursor=[^"]+)"', first)
    assert older is not None
    second = client.get(older[1].replace("&amp;", "&")).text
    ids = re.findall(r'name="memory" value="([^"]+)"', first + second)
    assert len(ids) == len(set(ids)) == 64


@pytest.mark.parametrize(("action", "undo", "gone"), [("forget", "restore", True), ("pin", "unpin", False)])
def test_what_is_done_to_many_can_be_undone(
    client: TestClient, engine: Engine, token: str, action: str, undo: str, *, gone: bool
) -> None:
    form = {"token": token, "do": action, "memory": ["tea", "coffee"]}
    page = client.post("/memories/act", data=form).text
    assert re.search(r"2 memories (forgotten|pinned)\.", page)
    visible = {memory.id for memory in engine.list().memories}
    assert ({"tea", "coffee"} & visible == set()) == gone
    assert engine.get("tea").pinned == (not gone)
    notice = page.partition('class="notice good"')[2].partition("</form>")[0]
    assert re.findall('name="memory" value="([^"]+)"', notice) == ["tea", "coffee"]
    assert f'value="{undo}"' in notice
    client.post("/memories/act", data={**form, "do": undo})
    assert {"tea", "coffee"} <= {memory.id for memory in engine.list().memories}
    assert not engine.get("tea").pinned


def test_undo_touches_only_what_was_changed(client: TestClient, engine: Engine, token: str) -> None:
    engine.forget("tea")
    page = client.post(
        "/memories/act", data={"token": token, "do": "forget", "memory": ["tea", "coffee"]}
    ).text
    notice = page.partition('class="notice good"')[2].partition("</form>")[0]
    assert re.findall('name="memory" value="([^"]+)"', notice) == ["coffee"]
    again = client.post("/memories/act", data={"token": token, "do": "forget", "memory": ["tea"]}).text
    assert "Nothing had to change." in again


def test_hidden_ones_are_shown_on_request_with_the_reason(client: TestClient, engine: Engine) -> None:
    engine.forget("coffee")
    white = engine.correct("tea", "Anna prefers white tea.").id
    engine.update("lisbon", expires_at=datetime(2026, 5, 19, tzinfo=UTC))
    assert set(listed(client.get("/memories").text)) == {white, "script", "lisbon"}
    page = client.get("/memories?hidden=true").text
    for id_, reason in (("coffee", "forgotten"), ("tea", "superseded"), ("lisbon", "expired")):
        row = page.partition(f'value="{id_}" data-tick')[2].partition("</li>")[0]
        assert f"<strong>{reason}</strong>" in row


@pytest.mark.parametrize(
    "form",
    [{"do": "forget"}, {"do": "explode", "memory": "tea"}, {"do": "forget", "memory": "../tea"}],
)
def test_what_cannot_be_done_changes_nothing(
    client: TestClient, engine: Engine, token: str, form: dict[str, str]
) -> None:
    assert client.post("/memories/act", data={"token": token, **form}).status_code in (400, 404)
    assert len(engine.list().memories) == 4


def test_a_memory_nobody_has_changes_nothing(client: TestClient, engine: Engine, token: str) -> None:
    form = {"token": token, "do": "forget", "memory": ["tea", "nobody"]}
    assert client.post("/memories/act", data=form).status_code == 404
    assert len(engine.list().memories) == 4


def test_remembering_leads_to_the_memory(client: TestClient, engine: Engine, token: str) -> None:
    form = {
        "token": token,
        "content": "Ben likes rye bread.",
        "category": "preference",
        "tags": "food, bread",
    }
    answer = client.post("/memories", data=form)
    memory = engine.list(filter={"content": {"contains": "rye"}}).memories[0]
    assert (answer.status_code, answer.headers["location"]) == (303, f"/memories/{memory.id}?done=remembered")
    assert (memory.category, memory.tags) == ("preference", ("food", "bread"))


def test_what_was_known_is_not_called_new(client: TestClient, engine: Engine, token: str) -> None:
    form = {"token": token, "content": "Ben likes rye bread."}
    first, second = (client.post("/memories", data=form).headers["location"] for _ in range(2))
    assert second == first.replace("done=remembered", "done=known")
    assert "That was known already" in client.get(second).text
    assert "<dd>2 times</dd>" in client.get(second).text


def test_undo_stays_on_the_page_where_it_is_offered(client: TestClient, engine: Engine, token: str) -> None:
    engine.remember_many([f"Number {number}." for number in range(60)])
    older = re.search(r'href="/memories\?cursor=(\d+)">Older', client.get("/memories").text)
    assert older is not None
    form = {"token": token, "do": "forget", "memory": ["tea"], "cursor": older[1]}
    notice = client.post("/memories/act", data=form).text.partition('class="notice good"')[2]
    assert f'name="cursor" value="{older[1]}"' in notice.partition("</form>")[0]


def test_a_blank_memory_is_refused(client: TestClient, engine: Engine, token: str) -> None:
    assert client.post("/memories", data={"token": token, "content": "  "}).status_code == 400
    assert len(engine.list().memories) == 4


def test_an_empty_memory_says_what_to_do(empty: Engine) -> None:
    page = TestClient(create_pages(empty), base_url="http://localhost").get("/memories").text
    assert "Nothing is remembered here yet" in page
    assert '<details class="panel" id="remember" open>' in page


def test_markup_in_a_memory_is_text(client: TestClient) -> None:
    page = client.get("/memories").text
    for markup in ("<script>document", "<b>", "<i>", "<u>", "<s>"):
        assert markup not in page
