"""The model commands, on a folder of models that the test makes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.embed.selection import RECOMMENDED
from memorata.model.errors import ModelNotInstalled
from memorata_models import install as installing
from memorata_models.catalogue import CATALOGUE
from memorata_models.commands.models import model_names
from memorata_models.description import as_toml

Run = Callable[..., Any]


def broken_model(home: Path, name: str) -> None:
    (home / "models" / name).mkdir(parents=True)
    (home / "models" / name / "model.toml").write_text(as_toml(CATALOGUE[name].description))


def test_the_catalogue_is_listed_with_what_is_installed(cli: Run, home: Path) -> None:
    broken_model(home, "potion-base-8M")
    rows = cli("model", "list", "--json").json["models"]
    assert {row["name"]: row["installed"] for row in rows} == {
        name: name == "potion-base-8M" for name in CATALOGUE
    }
    assert cli("model", "list").lines[1].startswith("potion-base-8M\tinstalled\t31\t")
    shown = " ".join(cli("model", "list", terminal=True).out.split())
    assert "potion-base-8M installed 31 MB The fast one" in shown


def test_a_model_is_installed_with_progress(cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetched(name: str, folder: Path, *, progress: Any) -> installing.Installed:
        progress("model.onnx", 0, None)
        progress("model.onnx", 5, 10)
        return installing.Installed(name, folder / name, "the model hub")

    monkeypatch.setattr(installing, "install", fetched)
    assert cli("model", "install", "--json").json["name"] == RECOMMENDED
    done = cli("model", "install", "potion-base-8M")
    assert done.out == f"potion-base-8M: the model hub, in {home / 'models' / 'potion-base-8M'}\n"
    named = cli("model", "install", "all-MiniLM-L6-v2", "--json").json
    assert (named["name"], [one["name"] for one in named["beside"]]) == (
        "all-MiniLM-L6-v2",
        ["potion-base-8M"],
    )
    chinese = cli("model", "install", "bge-small-zh-v1.5", "--json").json
    assert [one["name"] for one in chinese["beside"]] == ["potion-multilingual-128"]
    assert "reembed" not in done.err
    cli("remember", "Anna prefers green tea")
    move = "memorata admin reembed --embedder potion-base-8M moves the database you have to it"
    assert move in cli("model", "install", "potion-base-8M").err
    reranker = cli("model", "install", "mini-reranker").err
    assert "reembed" not in reranker
    used = {"potion-base-8M": "use it with --embedder potion-base-8M\n", RECOMMENDED: "new databases use"}
    for name, how in used.items():
        assert how in cli("model", "install", name).err
    assert "new databases" not in done.err + reranker
    assert "use it with --reranker mini-reranker\n" in reranker


def test_without_a_name_the_languages_of_the_memories_decide(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[str] = []

    def fetch(name: str, folder: Path, *, progress: Any) -> installing.Installed:
        fetched.append(name)
        return installing.Installed(name, folder / name, "the model hub")

    monkeypatch.setattr(installing, "install", fetch)
    broken_model(home, "potion-base-8M")
    new = cli("model", "install", "--json").json
    assert (new["name"], [one["name"] for one in new["beside"]]) == (RECOMMENDED, ["potion-base-8M"])
    assert fetched == [RECOMMENDED]
    for text in ("Anna prefers green tea", "Der Schlüssel liegt unter der Matte", "我的钥匙在桌子上"):
        cli("remember", text)
    mixed = cli("model", "install")
    assert "use-multilingual: 33 % " in mixed.err
    assert mixed.out.startswith("use-multilingual: built in, in ")
    assert "memorata admin reembed --embedder use-multilingual" in mixed.err
    assert fetched[1:] == []


def test_a_model_that_cannot_be_fetched_is_code_4(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(name: str, folder: Path, *, progress: Any) -> installing.Installed:
        raise ModelNotInstalled(f"{name} could not be installed; tried the model hub: no route")

    monkeypatch.setattr(installing, "install", unreachable)
    wrong = cli("model", "install", RECOMMENDED)
    assert (wrong.code, wrong.out) == (4, "")
    assert wrong.err == f"memorata: {RECOMMENDED} could not be installed; tried the model hub: no route\n"


def test_verify_says_which_is_damaged_with_code_4(cli: Run, home: Path) -> None:
    nothing = cli("model", "verify")
    assert (nothing.code, nothing.out) == (0, "")
    broken_model(home, "potion-base-8M")
    found = cli("model", "verify", "--json")
    assert found.code == 4
    assert [(row["name"], row["sound"]) for row in found.json["models"]] == [("potion-base-8M", False)]
    assert cli("model", "verify", "arctic-embed-s").code == 4


def test_a_sound_model_is_verified(cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken_model(home, "potion-base-8M")
    monkeypatch.setattr(installing, "verify", lambda name, folder: None)
    assert cli("model", "verify").out == "potion-base-8M: verified\n"


def test_remove(cli: Run, home: Path) -> None:
    broken_model(home, "potion-base-8M")
    assert cli("model", "remove", "potion-base-8M").out == "removed potion-base-8M\n"
    assert not (home / "models" / "potion-base-8M").exists()
    again = cli("model", "remove", "potion-base-8M")
    assert again.code == 4
    assert "is not installed" in again.err


@pytest.mark.parametrize("verb", ["install", "verify", "remove"])
def test_an_unknown_model_is_met_with_the_nearest(cli: Run, verb: str) -> None:
    wrong = cli("model", verb, "arctic-embed")
    assert wrong.code == 2
    assert "(did you mean arctic-embed-s?)" in wrong.err


def test_the_shell_completes_models() -> None:
    assert model_names("pot") == ["potion-base-8M", "potion-multilingual-128"]
