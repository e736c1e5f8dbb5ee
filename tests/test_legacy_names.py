"""What was written under the project's former name still opens, and one module alone knows that name."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memorata
from memorata import _legacy_names
from memorata._environment import models_folder
from memorata.engine.access import ApiKeys
from memorata.engine.config_file import config_file
from memorata.engine.settings import Settings, default_db
from memorata.text.secrets import redacted
from memorata_lab.evaluate.run_file import Answer, RunHeader, RunWriter, read_run

ROOT = Path(__file__).parents[1]
FORMER = "recollect"
ALLOWED = {
    "src/memorata/_legacy_names.py",
    "tests/test_legacy_names.py",
    "CHANGELOG.md",
}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for field in [*Settings.model_fields, "config"]:
        for prefix in ("MEMORATA", "RECOLLECT"):
            monkeypatch.delenv(f"{prefix}_{field.upper()}", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("sys.platform", "linux")


def _files() -> Iterator[Path]:
    for top in ("src", "tests", "docs", "benchmarks", "examples"):
        yield from (path for path in (ROOT / top).rglob("*") if path.is_file())
    yield from (path for path in ROOT.glob("*") if path.is_file())


def test_nothing_else_in_the_repository_has_the_former_name() -> None:
    traces = [
        path.relative_to(ROOT).as_posix()
        for path in _files()
        if "__pycache__" not in path.parts
        and (FORMER in path.name.lower() or FORMER.encode() in path.read_bytes().lower())
    ]
    assert sorted(set(traces) - ALLOWED) == []


def test_a_settings_file_of_the_former_name_is_read_unless_there_is_one_of_the_new() -> None:
    former = Path("recollect.toml").absolute()
    former.write_text('namespace = "before"', encoding="utf-8")
    assert Settings().namespace == "before"
    assert Settings().origin("namespace") == str(former)
    (note,) = Settings().notes
    assert note == (
        f"{former} has the project's former name and is still used; move it to {former.parent}/memorata.toml"
    )
    with Settings(db=":memory:", embedder="lexical").open() as engine:
        assert engine.notes.count(note) == 1
    Path("memorata.toml").write_text('namespace = "after"', encoding="utf-8")
    assert (Settings().namespace, Settings().notes) == ("after", ())


def test_variables_of_the_former_name_are_understood_where_the_new_one_is_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECOLLECT_NAMESPACE", "before")
    monkeypatch.setenv("RECOLLECT_LIFE", '{"working_days": 3}')
    assert (Settings().namespace, Settings().life) == ("before", {"working_days": 3.0})
    assert Settings().origin("namespace") == "the environment variable RECOLLECT_NAMESPACE"
    assert Settings().notes == (
        "the variable RECOLLECT_LIFE is still understood; say MEMORATA_LIFE",
        "the variable RECOLLECT_NAMESPACE is still understood; say MEMORATA_NAMESPACE",
    )
    monkeypatch.setenv("MEMORATA_NAMESPACE", "after")
    assert Settings().namespace == "after"
    assert len(Settings().notes) == 1


def test_an_empty_variable_of_the_new_name_hides_none_of_the_former(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORATA_NAMESPACE", "")
    monkeypatch.setenv("RECOLLECT_NAMESPACE", "before")
    assert Settings().namespace == "before"


def test_the_settings_file_may_be_named_by_the_former_variable(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.touch()
    assert config_file({"RECOLLECT_CONFIG": str(file)}, tmp_path) == file


def test_memories_and_models_are_found_in_the_former_folder_if_the_new_one_has_none(tmp_path: Path) -> None:
    environment, home = {"XDG_DATA_HOME": str(tmp_path / "share")}, tmp_path
    former, new = tmp_path / "share" / "recollect", tmp_path / "share" / "memorata"
    assert default_db(environment, "linux", home) == new / "memories.db"
    assert models_folder(environment, "linux", home) == new / "models"
    (former / "models").mkdir(parents=True)
    (former / "memories.db").touch()
    assert default_db(environment, "linux", home) == former / "memories.db"
    assert models_folder(environment, "linux", home) == former / "models"
    assert [note.partition(" has")[0] for note in Settings().notes] == [
        str(former / "memories.db"),
        str(former / "models"),
    ]
    # Each is decided by itself.
    (new / "models").mkdir(parents=True)
    assert default_db(environment, "linux", home) == former / "memories.db"
    assert models_folder(environment, "linux", home) == new / "models"
    assert models_folder({"RECOLLECT_MODELS": "/srv/m"}, "linux", home) == Path("/srv/m")


def test_a_run_file_of_the_former_name_is_read_and_resumed(tmp_path: Path) -> None:
    header = RunHeader("d", "9f", {"name": "b"}, "e", "turn", "0.1.0", 0, datetime(2026, 5, 7, tzinfo=UTC))
    new, former = tmp_path / "new.jsonl", tmp_path / "former.jsonl"
    with RunWriter(new, header) as writer:
        writer.append(Answer("q1", ranking=(("t-1", 0.9),)))
    former.write_text(new.read_text().replace("memorata_run", "recollect_run"))
    assert read_run(former) == read_run(new)
    with RunWriter(former, header) as writer:
        assert writer.finished == {"q1"}
        writer.append(Answer("q2"))
    assert list(read_run(former).answers) == ["q1", "q2"]
    torn = tmp_path / "torn.jsonl"
    torn.write_text(json.dumps({"recollect_run": 1})[:-1])
    with RunWriter(torn, header) as writer:
        assert writer.finished == frozenset()


def test_formats_keep_their_marks() -> None:
    from memorata.store.sqlite.schema import APPLICATION_ID

    assert APPLICATION_ID.to_bytes(4, "big") == b"RCLT"
    assert _legacy_names.renamed_variables({"HOME": "/", "RECOLLECT_DB": ""}) == {}


def test_an_api_key_of_before_is_still_good_and_still_a_secret() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        keys = ApiKeys(memory.store)
        key, new = keys.create("new", ["*"], ["read"])
        assert new.startswith(f"mem_{key.id}_")
        token = f"rcl_{'0' * 16}_{'A' * 43}"
        memory.store.keys.add(replace(key, id="0" * 16, digest=hashlib.sha256(token.encode()).digest()))
        assert keys.authenticate(token).name == "0" * 16
        for each in (token, new):
            assert each not in redacted(f"the key is {each} here")
