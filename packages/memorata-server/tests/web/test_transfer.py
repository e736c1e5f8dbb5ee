"""Memories come in and go out by the pages: the demo, an import, an export, a backup."""

import json
from pathlib import Path

import pytest

import memorata
from memorata.engine import Engine
from memorata.service.transfer import conversation
from memorata_server.testing import TestClient
from memorata_server.web.app import create_pages


def test_the_demo_comes_into_an_empty_namespace_only(client: TestClient, engine: Engine, token: str) -> None:
    assert "Load the demo" in client.get("/?namespace=new").text
    assert "Load the demo" not in client.get("/").text
    answer = client.post("/demo", data={"token": token, "namespace": "new"})
    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/")
    assert engine.store.namespaces()["new"] == len(conversation())
    assert client.post("/demo", data={"token": token, "namespace": "new"}).status_code == 400


def test_what_is_pasted_is_imported_in_its_format(client: TestClient, engine: Engine, token: str) -> None:
    lines = json.dumps({"content": "Anna keeps bees.", "category": "fact", "id": "bees"})
    for text, file in (("One.\n\nTwo.", ""), (lines, "export.jsonl"), ("# Tea\n\nGreen.", "a/b/notes.md")):
        form = {"token": token, "text": text, "file": file, "namespace": "new"}
        assert client.post("/import", data=form).status_code == 303
    contents = {memory.content for memory in engine.list(namespace="new").memories}
    assert {"One.", "Two.", "Anna keeps bees."} <= contents
    assert (
        "3 memories imported; 1 record could not be read" in client.get("/memories?imported=3&failed=1").text
    )
    assert client.post("/import", data={"token": token, "text": " "}).status_code == 400


def test_an_export_is_imported_again_as_it_was(client: TestClient, engine: Engine, token: str) -> None:
    answer = client.get("/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="default-2026-05-20.jsonl"'
    form = {"token": token, "text": answer.text, "file": "default.jsonl", "namespace": "copy"}
    assert client.post("/import", data=form).status_code == 303
    assert [memory.content for memory in engine.list(namespace="copy").memories] == [
        memory.content for memory in engine.list().memories
    ]


def test_a_backup_can_be_opened(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical") as engine:
        engine.remember("Anna keeps bees.", id="bees")
        client = TestClient(create_pages(engine), base_url="http://localhost")
        page = client.get("/memories").text
        token = page.partition('name="token" value="')[2].partition('"')[0]
        answer = client.post("/backup", data={"token": token})
        assert answer.status_code == 200
        (tmp_path / "copy.db").write_bytes(answer.content)
    with memorata.open(tmp_path / "copy.db", embedder="lexical") as copy:
        assert copy.get("bees").content == "Anna keeps bees."


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/graph?entity=Bori&depth=1", "/graph?depth=1&amp;entity=Boris"),
        ("/?q=tea&recipe=balancd", "/?q=tea&amp;recipe=balanced"),
    ],
)
def test_what_was_meant_is_a_link(client: TestClient, path: str, link: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert f'<a href="{link}"' in answer.text
    assert client.get(link.replace("&amp;", "&")).status_code == 200


def test_a_form_that_is_refused_comes_back_with_what_was_typed(client: TestClient, token: str) -> None:
    form = {"token": token, "content": " ", "category": "<b>kept</b>", "tags": "x" * 300}
    answer = client.post("/memories", data=form)
    assert answer.status_code == 400
    assert 'name="category" value="&lt;b&gt;kept&lt;/b&gt;"' in answer.text
    assert f'dir="auto">{"x" * 300}</textarea>' in answer.text
    assert "Send again" in answer.text
