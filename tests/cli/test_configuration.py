"""Doctor: what is there, what is in use, and what to do about what is not."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.embed.lexical import LexicalEmbedder

Run = Callable[..., Any]

NAME = LexicalEmbedder().name


def test_a_new_machine_is_told_what_to_do(cli: Run, home: Path) -> None:
    data = cli("doctor", "--json").json
    assert data["python"] == ".".join(map(str, sys.version_info[:3]))
    assert data["packages"]["numpy"]
    assert data["db"] == {"path": str(home / "memories.db"), "exists": False}
    assert data["embedder"] == {"specification": "lexical", "name": NAME, "dimension": 512}
    assert data["settings"]["db"] == "the environment variable MEMORATA_DB"
    assert any("memorata model install" in advice for advice in data["advice"])
    assert any("there is no database yet" in advice for advice in data["advice"])


def test_settings_that_nobody_changed_take_one_line(cli: Run, home: Path) -> None:
    shown = cli("doctor").out
    assert "db: the environment variable MEMORATA_DB" in shown
    assert "lease_seconds: " not in shown
    assert "lease_seconds" in shown[shown.index("default: ") :].splitlines()[0]


@pytest.mark.untraced
def test_a_database_is_described_with_the_embedder_it_was_made_with(
    cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORATA_EMBEDDER")
    data = cli("doctor", "--json").json
    assert (data["db"]["memories"], data["db"]["embedder"]) == (3, "lexical")
    assert data["embedder"]["name"] == NAME
    assert "3 memories, " in cli("doctor").out
    cli("--db", "one.db", "remember", "Anna prefers green tea")
    assert "1 memory, " in cli("--db", "one.db", "doctor").out
    assert "lexical leg: own posting lists, BM25" in cli("doctor").out


def test_a_file_that_is_no_database_and_a_model_that_is_damaged_are_said(cli: Run, home: Path) -> None:
    (home / "memories.db").write_text("not a database, whatever its name says. " * 40)
    (home / "models" / "arctic-embed-s").mkdir(parents=True)
    (home / "models" / "arctic-embed-s" / "model.toml").write_text("broken")
    shown = cli("doctor", "--embedder", "arctic-embed-s")
    assert shown.code == 0
    assert "advice: the database cannot be opened" in shown.out
    assert "advice: the embedder 'arctic-embed-s' cannot be used" in shown.out
    assert "cannot be opened" in cli("doctor", "--embedder", "auto").out


def test_an_embedder_that_cannot_be_used_is_said(cli: Run, tea: str) -> None:
    data = cli("doctor", "--embedder", "nonsense", "--json").json
    assert data["embedder"]["name"] is None
    assert any("found by words only" in advice for advice in data["advice"])
    assert "nonsense cannot be used" in cli("doctor", "--embedder", "nonsense", terminal=True).out


def test_a_model_that_does_not_load_is_said(cli: Run, tea: str, home: Path) -> None:
    folder = home / "model"
    folder.mkdir()
    (folder / "model.onnx").write_text("not a graph")
    (folder / "tokenizer.json").write_text("not a tokeniser")
    (folder / "config.json").write_text('{"hidden_size": 8, "max_position_embeddings": 64}')
    data = cli("doctor", "--embedder", f"onnx:{folder}", "--json").json
    assert data["embedder"]["name"] is None
    assert "the tokenizer cannot be read" in data["embedder"]["problem"]


@pytest.mark.parametrize(
    ("reranker", "says"), [("best", "there is no re-ranker 'best'"), ("mini-reranker", "is not installed")]
)
def test_a_re_ranker_that_cannot_be_used_is_said(
    cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch, reranker: str, says: str
) -> None:
    monkeypatch.setenv("MEMORATA_RERANKER", reranker)
    advice = cli("doctor", "--json").json["advice"]
    assert any(f"the re-ranker '{reranker}' cannot be used: " in each and says in each for each in advice)
    monkeypatch.setenv("MEMORATA_RERANKER", "none")
    assert not any("re-ranker" in each for each in cli("doctor", "--json").json["advice"])


def test_a_service_that_is_away_is_said(cli: Run, tea: str) -> None:
    shown = cli("doctor", "--embedder", "ollama:some-model@http://127.0.0.1:1", "--json")
    assert shown.code == 0
    assert shown.json["embedder"]["name"] is None
    assert "is the service running?" in shown.json["embedder"]["problem"]


def test_a_service_that_gives_other_vectors_now_is_said(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    width = [3]
    monkeypatch.setattr(
        "memorata_models.services.post_json",
        lambda address, body, *rest: {"embeddings": [[1.0] * width[0] for _ in body["input"]]},
    )
    monkeypatch.setenv("MEMORATA_EMBEDDER", "ollama:m")
    assert cli("remember", "Anna drinks tea.").code == 0
    assert not any("cannot be used" in each for each in cli("doctor", "--json").json["advice"])
    width[0] = 2
    found = cli("doctor", "--json").json
    [said] = [each for each in found["advice"] if "cannot be used" in each]
    assert "gave vectors of 2 dimensions where 3 were expected" in said
    assert "MEMORATA_DIMENSION=2" in said
    assert found["embedder"]["name"] is None


def test_a_secret_in_an_address_is_not_shown(cli: Run, tea: str) -> None:
    for address in ("http://anna:hunter2@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?key=hunter2"):
        shown = cli("doctor", "--embedder", f"openai:some-model@{address}", "--json")
        assert "a key or a password is given apart" in shown.json["embedder"]["problem"]
        assert "hunter2" not in shown.out + shown.err


def test_a_database_of_a_weaker_embedder_is_told_how_to_move(
    cli: Run, tea: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORATA_EMBEDDER")
    assert "made with the embedder lexical" not in cli("doctor").out
    (home / "models" / "arctic-embed-s").mkdir(parents=True)
    (home / "models" / "arctic-embed-s" / "model.toml").touch()
    shown = cli("doctor").out
    change = "memorata admin reembed --embedder arctic-embed-s changes that"
    assert f"made with the embedder lexical; {change}" in shown


def test_a_better_model_is_advised_once(cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for embedder in ("auto", "builtin"):
        advice = cli("doctor", "--embedder", embedder, "--json").json["advice"]
        install = "a better one for English: memorata model install"
        assert [each.partition("; ")[2] for each in advice if "model install" in each] == [install]


def test_a_database_that_can_only_be_read_is_said(
    cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = cli("doctor", "--json", "--read-only").json
    assert asked["db"]["read_only"] is True
    assert not any("can only be read" in each for each in asked["advice"])
    monkeypatch.setattr("os.access", lambda path, mode, **how: not str(path).endswith(".db"))
    found = cli("doctor", "--json").json
    assert found["db"]["memories"] == 3
    [said] = [each for each in found["advice"] if "can only be read" in each]
    assert "the file may not be written; copy it to where it can be written" in said


def test_trust_shows_the_command_that_a_file_would_run_and_no_key(cli: Run, tea: str, home: Path) -> None:
    shown = {}
    for given in ("command:cat /etc/hostname", "0f" * 32):
        (home / "memorata.toml").write_text(f'encryption_key = "{given}"')
        shown[given] = cli("admin", "trust", str(home / "memorata.toml"), "--json", "--yes").out
    assert "command:cat /etc/hostname" in shown["command:cat /etc/hostname"]
    assert "0f0f" not in shown["0f" * 32]
