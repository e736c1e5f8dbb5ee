"""Irreversible deletion takes a name for a name, refuses what nobody knows, and can be tried first."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import memorata
from memorata import Engine
from memorata.cli.app import app
from memorata.engine.access import ApiKeys
from memorata.model.errors import EntityNotFound, InvalidArgument
from memorata_graph import Graph
from memorata_server.http.app import create_api
from memorata_server.testing import TestClient

TEXTS = {
    "will-1": "Will drinks tea.",
    "will-2": "On Sunday I met Will at the lake.",
    "word-1": "Will you come to the party?",
    "word-2": "The train will be late.",
    "nobody": "Nobody came to the party.",
    "the": "The cat sat on the mat.",
    "may": "Bob moved to Lisbon in May.",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "m.db"
    with memorata.open(made, embedder="lexical") as memory:
        memory.remember_many([{"content": text, "id": id_} for id_, text in TEXTS.items()])
        Graph(memory).entities.describe("Will", type="person")
        # Read when Will was known already, and so listed as being about him.
        memory.remember("Will you mark it?", id="word-3")
    return made


@pytest.fixture
def memory(path: Path) -> Iterator[Engine]:
    with memorata.open(path, embedder="lexical") as opened:
        yield opened


def left(memory: Engine) -> list[str]:
    return sorted(each.id for each in memory.list(limit=100, hidden=True).memories)


@pytest.mark.parametrize(("word", "count"), [("the", 5), ("Nobody", 1), ("May", 1), ("party", 2)])
@pytest.mark.parametrize("verb", ["about", "purge"])
def test_what_nobody_knows_is_refused(memory: Engine, word: str, count: int, verb: str) -> None:
    before = left(memory)
    with pytest.raises(EntityNotFound) as refused:
        getattr(Graph(memory).entities, verb)(word)
    assert refused.value.in_texts == count
    assert "it as a word: text=True (--text) means those" in str(refused.value)
    assert left(memory) == before


def test_a_name_that_is_a_word_takes_no_ordinary_words_along(memory: Engine) -> None:
    found = Graph(memory).entities.about("will")
    assert [each.id for each in found.memories] == ["will-1", "will-2"]
    assert found.in_texts == 3
    removed = Graph(memory).entities.purge("Will")
    assert [each.id for each in removed.memories] == ["will-1", "will-2"]
    assert left(memory) == sorted({*TEXTS, "word-3"} - {"will-1", "will-2"})


def test_what_is_listed_or_said_counts_without_a_name_in_the_text(memory: Engine) -> None:
    memory.remember("The form is in the drawer.", id="listed", entities=["Will"])
    memory.remember(
        "I prefer the window.", id="said", source={"speaker": "Will", "session": "s", "position": 1}
    )
    assert {"listed", "said"} <= {each.id for each in Graph(memory).entities.about("Will").memories}


def test_texts_can_be_asked_for(memory: Engine) -> None:
    found = Graph(memory).entities.about("Will", text=True)
    assert [each.id for each in found.memories] == ["will-1", "will-2", "word-1", "word-2", "word-3"]
    assert found.in_texts == 0
    assert [each.id for each in Graph(memory).entities.purge("nobody", text=True).memories] == ["nobody"]
    assert "nobody" not in left(memory)
    with pytest.raises(EntityNotFound):
        Graph(memory).entities.purge("quokka", text=True)


def test_a_dry_run_removes_nothing(memory: Engine) -> None:
    before = left(memory)
    assert len(Graph(memory).entities.purge("Will", dry_run=True).memories) == 2
    memory.remember("The safe opens with quokka.", id="first")
    memory.remember("The safe opens with quokka!", id="again")
    assert memory.purge("first", dry_run=True) == ("first", "again")
    assert left(memory) == sorted([*before, "first", "again"])
    assert memory.purge("first") == ("first", "again")
    assert left(memory) == before
    with pytest.raises(InvalidArgument, match="dry_run must be True or False"):
        memory.purge("will-1", dry_run="no")  # type: ignore[arg-type]


@pytest.fixture
def run(path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("MEMORATA_DB", str(path))
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")

    def run_command(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, result.stdout, result.stderr

    return run_command


def test_the_command_line_refuses_shows_and_counts(run: Callable[..., tuple[int, str, str]]) -> None:
    for word in ("the", "Nobody", "May"):
        code, _, told = run("graph", "purge", word, "--yes")
        assert code == 1
        assert "as a word: text=True (--text) means those" in told
    code, out, told = run("graph", "purge", "Will", "--dry-run")
    assert (code, out) == (0, "Would remove 2 memories, 1 entity, 0 relations.\n")
    assert "  Will drinks tea.\n  On Sunday I met Will at the lake.\n" in told
    assert "3 more memories have the word, and probably not as the name; --text includes them" in told
    code, _, told = run("graph", "purge", "Will")
    assert code == 2
    assert "Will drinks tea." in told
    assert run("graph", "purge", "Will", "--yes")[1] == "Removed 2 memories, 1 entity, 0 relations.\n"
    assert run("graph", "purge", "will", "--text", "--dry-run")[1].startswith("Would remove 3 memories")
    assert run("purge", "word-1", "--dry-run")[1] == "word-1\n"
    assert run("show", "word-1")[0] == 0


def test_http_refuses_counts_and_tries(memory: Engine) -> None:
    client = TestClient(create_api(memory, ApiKeys(memory.store, required=False)))
    assert client.delete("/v1/about", params={"entity": "the"}).status_code == 404
    tried = client.delete("/v1/about", params={"entity": "Will", "dry_run": True}).json()
    assert tried == {"removed": 0, "would_remove": 2}
    assert client.get("/v1/about", params={"entity": "Will"}).json()["in_texts"] == 3
    assert len(client.get("/v1/about", params={"entity": "will", "text": True}).json()["memories"]) == 5
    asked = {"ids": ["may"], "dry_run": True}
    assert client.post("/v1/memories/purge", json=asked).json() == {"done": 0, "would_purge": ["may"]}
    assert client.delete("/v1/about", params={"entity": "Will"}).json() == {"removed": 2}
    assert "may" in left(memory)
