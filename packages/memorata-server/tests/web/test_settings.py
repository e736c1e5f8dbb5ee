"""Settings: what is in use, what has no vector yet, and recipes that come and go."""

import re
import time
from pathlib import Path
from typing import Any

from typer.main import get_command

import memorata
from memorata.cli.app import app
from memorata.engine import Engine
from memorata.engine.recipes import Recipe
from memorata_server import web as pages
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages


def test_it_says_what_is_in_use(client: TestClient) -> None:
    page = client.get("/settings").text
    assert "Measured by <strong>lexical" in page
    assert "In use here: <strong>balanced</strong>" in page
    assert "Every memory has its vector" in page
    assert "default, 4 memories" in page


def test_without_an_embedder_it_says_words_alone() -> None:
    with memorata.open(":memory:", embedder=None) as engine:
        engine.remember("Anna prefers green tea.")
        client = TestClient(create_pages(engine), base_url="http://localhost")
        assert "nothing: words alone" in client.get("/settings").text


def test_memories_without_a_vector_are_warned_about_and_embedded_on_request(tmp_path: object) -> None:
    path = f"{tmp_path}/m.db"
    with memorata.open(path, embedder=None) as engine:
        engine.remember_many([f"Note number {number}." for number in range(30)])
    with memorata.open(path, embedder="lexical") as engine:
        client = TestClient(create_pages(engine), base_url="http://localhost", follow_redirects=False)
        page = client.get("/settings").text
        assert "30 memories have no vector of this model" in page
        assert "found by words alone" in page
        token = page.partition('name="token" value="')[2].partition('"')[0]
        answer = client.post("/settings/reembed", data={"token": token}, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        end = time.monotonic() + 60
        while engine.store.count_waiting() and time.monotonic() < end:
            time.sleep(0.01)
        while 'class="running"' in (part := client.get("/settings/vectors").text) and time.monotonic() < end:
            time.sleep(0.01)
        assert "Embedded 30 memories" in part
        assert "Every memory has its vector" in part


def test_a_recipe_is_used_and_taken_back(client: TestClient, engine: Engine, token: str) -> None:
    engine.admin.recipes.save(
        "mine", Recipe(name="mine", vector_weight=0.9), evidence={"by": "hand", "base": "fast"}
    )
    page = client.get("/settings").text
    assert "version 1" in page
    assert "by hand from fast" in page
    answer = client.post("/settings/use", data={"token": token, "name": "mine"})
    assert answer.headers["location"] == "/settings#recipes"
    assert engine.admin.recipes.get().name == "mine"
    assert "In use here: <strong>mine</strong>" in client.get("/settings").text
    client.post("/settings/rollback", data={"token": token})
    assert engine.admin.recipes.get().name == "balanced"


def test_a_version_is_rolled_back(client: TestClient, engine: Engine, token: str) -> None:
    for weight in (0.1, 0.9):
        engine.admin.recipes.save("mine", Recipe(name="mine", vector_weight=weight))
    client.post("/settings/rollback", data={"token": token, "name": "mine"})
    assert engine.admin.recipes.get("mine").vector_weight == 0.1


def test_what_cannot_be_used_is_refused(client: TestClient, engine: Engine, token: str) -> None:
    assert client.post("/settings/use", data={"token": token, "name": "magic"}).status_code == 400
    assert client.post("/settings/rollback", data={"token": token}).status_code == 400
    assert client.post("/settings/rollback", data={"token": token, "name": "mine"}).status_code == 400


def test_every_shipped_recipe_is_offered_once(client: TestClient) -> None:
    options = re.findall(
        r"<option[^>]*>([\w, ]+)</option>", client.get("/settings").text.partition('id="use"')[2]
    )
    assert len(options) == len(set(options))


def test_prompts_are_chosen_from_a_list_and_those_in_force_are_shown() -> None:
    with memorata.open(":memory:", embedder="builtin") as engine:
        engine.remember("Anna prefers green tea.")
        client = TestClient(create_pages(engine), base_url="http://localhost", follow_redirects=False)
        page = client.get("/settings").text
        for name in ("similarity", "narrative", "romance", "relationship"):
            assert f"<option>{name}</option>" in page
        (token,) = set(re.findall(r'name="token" value="([^"]+)"', page))
        assert client.post("/settings/prompts", data={"token": token, "prompts": "x"}).status_code == 400
        changed = client.post("/settings/prompts", data={"token": token, "prompts": "similarity"})
        assert changed.status_code == 303
        page = client.get("/settings").text
        assert "<code>task: sentence similarity | text: </code> before queries" in page
        assert "1 memory has no vector of this model" in page


def test_a_prompt_that_is_empty_is_called_none() -> None:
    with memorata.open(":memory:", embedder="builtin#custom:query: |") as engine:
        page = TestClient(create_pages(engine), base_url="http://localhost").get("/settings").text
    assert "<code>query: </code> before queries, none before memories" in page


def test_every_command_that_a_page_names_exists() -> None:
    commands = get_command(app)
    named = {
        line
        for template in Path(pages.__file__).parent.glob("templates/*.html")
        for line in re.findall(r"<code>memorata ([^<]+)</code>", template.read_text("utf-8"))
    }
    assert named
    for line in named:
        words = [word for word in line.split() if re.fullmatch(r"[a-z][a-z-]*", word)]
        group: Any = commands
        assert words, line
        for word in words[:2]:
            if hasattr(group, "commands"):
                assert word in group.list_commands(None), line
                group = group.commands[word]


def test_keys_are_made_shown_once_and_revoked(client: TestClient, engine: Engine, token: str) -> None:
    form = {"token": token, "name": "<b>agent</b>", "namespaces": "acme/*, default", "scope": "write"}
    page = client.post("/settings/keys", data={**form, "expires": "2027-01-01"}).text
    secret = page.partition("shown this once: <code>")[2].partition("<")[0]
    (key,) = engine.admin.keys.list()
    assert (key.namespaces, key.scopes) == (("acme/*", "default"), ("write",))
    assert engine.admin.keys.authenticate(secret).allows("write", "acme/alice")
    after = client.get("/settings").text
    assert secret not in after
    assert "&lt;b&gt;agent&lt;/b&gt;" in after
    client.post("/settings/keys/revoke", data={"token": token, "id": key.id})
    assert engine.admin.keys.list()[0].revoked_at is not None
    assert client.post("/settings/keys", data={**form, "scope": "everything"}).status_code == 400
