"""mem0's own client package against our routes: only its address is changed."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.engine.access import ApiKeys

os.environ |= {"MEM0_TELEMETRY": "false", "MEM0_DIR": tempfile.mkdtemp()}
mem0 = pytest.importorskip("mem0", reason="make test-adapters installs it")
httpx = pytest.importorskip("httpx", reason="make test-adapters installs it")
errors = pytest.importorskip("mem0.exceptions", reason="make test-adapters installs it")

ANNA = {"user_id": "anna"}


@contextmanager
def served(folder: Path, *options: str) -> Iterator[str]:
    """Serve a database of a folder, and give the address of mem0's routes."""
    settings = {"MEMORATA_DB": str(folder / "memories.db"), "MEMORATA_EMBEDDER": "lexical"}
    command = ["server", "start", "--port", "0", "--json", "--no-pages", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "memorata", *command],
        cwd=folder,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["address"] + "/mem0"
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    with served(tmp_path) as host, httpx.Client() as http:
        yield mem0.MemoryClient(api_key="m0-a-key-of-theirs", host=host, client=http)


def test_every_verb(client: Any) -> None:
    (tea,) = client.add([{"role": "user", "content": "I drink tea."}], user_id="anna")["results"]
    (cello,) = client.add("Bob plays the cello.", filters={"user_id": "bob"})["results"]
    (hit,) = client.search("what do I drink?", filters=ANNA, top_k=3)["results"]
    assert (hit["id"], hit["memory"], hit["user_id"]) == (tea["id"], "I drink tea.", "anna")
    page = client.get_all(filters={"OR": [ANNA, {"user_id": "bob"}]}, page=1, page_size=1)
    assert (page["count"], len(page["results"]), page["previous"]) == (2, 1, None)
    assert page["next"] is not None
    client.update(tea["id"], text="I drink coffee.", metadata={"since": "May"})
    row = client.get(tea["id"])
    assert (row["memory"], row["metadata"]) == ("I drink coffee.", {"since": "May"})
    client.batch_update([{"memory_id": tea["id"], "text": "I drink milk."}])
    client.delete(tea["id"])
    events = [(each["event"], each["new_memory"]) for each in client.history(tea["id"])]
    assert events == [
        ("ADD", "I drink tea."),
        ("UPDATE", "I drink coffee."),
        ("UPDATE", "I drink milk."),
        ("DELETE", None),
    ]
    assert [(each["type"], each["id"], each["name"]) for each in client.users()["results"]] == [
        ("user", "bob", "bob")
    ]
    client.batch_delete([{"memory_id": cello["id"]}])
    client.add("Anna sings.", user_id="anna")
    client.delete_all(user_id="anna")
    assert client.get_all(filters=ANNA)["results"] == []
    client.add("Bob sings.", user_id="bob")
    client.reset()
    assert client.users()["results"] == []


def test_errors_are_theirs(client: Any) -> None:
    with pytest.raises(errors.MemoryNotFoundError, match="not found"):
        client.get("none")
    with pytest.raises(errors.ValidationError, match="user_id"):
        client.search("tea", filters={"topic": "tea"})


def test_what_is_not_offered_says_why(client: Any) -> None:
    assert client.project.get(fields=["name"]) == {"name": "mem0"}
    calls: list[Callable[[], Any]] = [
        lambda: client.project.update(custom_instructions="Be brief."),
        lambda: client.feedback("none", feedback="POSITIVE"),
        lambda: client.create_memory_export("{}", filters=ANNA),
    ]
    for call in calls:
        with pytest.raises(errors.MemoryError, match="does not offer"):
            call()


def test_a_key_of_ours_is_its_key(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "memories.db", embedder="lexical") as engine:
        token = ApiKeys(engine.store).create("anna", ["acme/anna"], ["read"])[1]
    with served(tmp_path, "--require-key") as host, httpx.Client() as http:
        with pytest.raises(ValueError, match="key"):
            mem0.MemoryClient(api_key="m0-a-key-of-theirs", host=host, client=http)
        client = mem0.MemoryClient(api_key=token, host=host, client=http)
        assert client.project_id == "acme/anna"
        with pytest.raises(errors.AuthenticationError):
            client.add("x", user_id="anna")


def test_the_recipe_of_docs_moving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mem0.embeddings.mock import MockEmbeddings
    from mem0.utils.factory import EmbedderFactory

    from memorata_agents.importers.memory_stores import mem0 as records

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(EmbedderFactory, "create", lambda *args: MockEmbeddings())
    place = {"path": str(tmp_path / "vectors"), "embedding_model_dims": 10}
    memory = mem0.Memory.from_config({"vector_store": {"provider": "qdrant", "config": place}})
    said = [{"role": "user", "content": "I am vegetarian."}, {"role": "assistant", "content": "Noted."}]
    memory.add(said, user_id="anna", infer=False, metadata={"topic": "food"})
    memory.add("I live in Porto.", user_id="anna", infer=False, expiration_date="2030-01-01")
    memory.add("I live in Rome.", user_id="bob", infer=False)
    with (tmp_path / "mem0.json").open("w") as file:
        json.dump(memory.get_all(filters={"user_id": "anna"}, top_k=100_000), file)
    memory.close()
    fields = [record.fields for record in records((tmp_path / "mem0.json").read_bytes()).records]
    with memorata.open(":memory:", embedder="lexical") as engine:
        engine.remember_many(fields)
        contents = sorted(each.content for each in engine.list().memories)
        assert contents == ["I am vegetarian.", "I live in Porto.", "Noted."]
        (hit, *_) = engine.recall("Who is vegetarian?").hits
        assert hit.memory.metadata["mem0"]["user_id"] == "anna"
