"""Whoever makes a folder or a database chooses neither where texts and keys go, nor what is loaded.

The attacks: a settings file in a folder that somebody was given; an embedder recorded in a database that
somebody was given; a key that was meant for one service and is asked for by another.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.security.conftest import Spy
from typer.testing import CliRunner

import memorata
from memorata.cli.app import app
from memorata.embed.selection import Resources
from memorata.embed.trust import user_trust
from memorata.engine.config_file import HARMLESS
from memorata.engine.settings import Settings
from memorata.model.errors import ConsentNeeded, EmbedderError

KEY = "sk-of-the-victim"


def written(folder: Path, text: str) -> Path:
    file = folder / "memorata.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def hostile(here: Path, spy: Spy, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose settings file sends everything elsewhere, and a person who has a key."""
    monkeypatch.setenv("MEMORATA_API_KEY", KEY)
    return written(
        here,
        f'namespace = "mine"\nembedder = "{spy.embedder}"\nanchors = "chat:m@{spy.origin}/v1"\n'
        'reranker = "onnx:evil"\ndb = "evil.db"\nmodels = "evil"\nhub_cache = "evil"\n',
    )


def used(settings: Settings) -> None:
    with settings.open() as memory:
        memory.remember("the code is 4711")
        memory.recall("what was the code yesterday?")


@pytest.mark.untraced
def test_a_file_in_the_current_folder_sends_nothing_anywhere(hostile: Path, spy: Spy) -> None:
    settings = Settings()
    assert (settings.embedder, settings.reranker, settings.anchors) == ("auto", "none", "rules")
    assert settings.db != hostile.parent / "evil.db"
    assert settings.models != hostile.parent / "evil"
    assert settings.namespace == "mine"
    used(Settings(db=hostile.parent / "m.db"))
    assert spy.requests == []


def test_every_setting_that_is_not_known_to_be_harmless_needs_trust(here: Path, spy: Spy) -> None:
    """A setting that is added tomorrow is not let through by having been forgotten."""
    assert set(Settings.names) - HARMLESS == {
        "db", "replica", "embedder", "reranker", "reranker_key", "anchors", "anchors_key", "life", "durable",
        "models", "hub_cache", "api_key", "api_key_address", "dimension", "log_limit",
        "log_megabytes", "lease_seconds", "dedupe", "prompts", "analyser", "language", "min_length",
        "classifier", "classifier_key", "extractor", "extractor_key", "summaries", "summaries_key",
        "encryption_key",
    }  # fmt: skip
    written(
        here, f'api_key = "sk-x"\napi_key_address = "{spy.origin}"\ndurable = false\n[life]\nworking_days = 0'
    )
    settings = Settings()
    assert (settings.api_key, settings.api_key_address, settings.durable, settings.life) == (
        None,
        None,
        True,
        {},
    )
    assert settings.ignored == ("api_key", "api_key_address", "durable", "life")


def test_what_is_ignored_is_told_with_what_to_do(hostile: Path) -> None:
    settings = Settings(db=hostile.parent / "m.db")
    (note,) = settings.notes
    assert note == (
        f"{hostile} sets embedder, anchors, reranker, models, hub_cache, which is ignored, for it is not "
        "trusted: `memorata admin trust` shows what it would change and asks; or name the file, with "
        "--config or MEMORATA_CONFIG"
    )
    with settings.open() as memory:
        assert note in memory.notes


def test_a_file_that_is_trusted_counts_until_it_changes(hostile: Path, spy: Spy) -> None:
    user_trust().agree_to_file(hostile, hostile.read_bytes())
    assert Settings().embedder == spy.embedder
    assert (Settings().ignored, Settings().notes) == ((), ())
    hostile.write_text(hostile.read_text() + "# changed\n")
    assert Settings().embedder == "auto"


def test_trust_is_for_one_file_and_not_for_its_copy_elsewhere(hostile: Path, tmp_path: Path) -> None:
    user_trust().agree_to_file(tmp_path / "memorata.toml", hostile.read_bytes())
    assert Settings().embedder == "auto"


@pytest.mark.parametrize("by", ["argument", "variable"])
def test_a_file_that_is_named_counts(
    hostile: Path, spy: Spy, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "variable":
        monkeypatch.setenv("MEMORATA_CONFIG", str(hostile))
    assert Settings(config=str(hostile) if by == "argument" else None).embedder == spy.embedder


@pytest.fixture
def given_database(tmp_path: Path, spy: Spy) -> Path:
    """A database that somebody was given, which names the service that it was made with."""
    path = tmp_path / "given.db"
    with memorata.open(path, embedder="lexical") as memory:
        memory.remember("Anna likes tea.")
        memory.store.remember_setting("embedder", spy.embedder)
    return path


def test_an_address_in_a_database_is_not_contacted_without_consent(given_database: Path, spy: Spy) -> None:
    with memorata.open(given_database, config={"resources": Resources(api_key=KEY)}) as memory:
        assert [hit.memory.content for hit in memory.recall("tea")] == ["Anna likes tea."]
        memory.remember("the code is 4711")
        assert memory.notes == (
            "the store's embedder cannot be used, words only: the database asks for the embedder "
            f"'{spy.embedder}': texts would be sent to {spy.origin}, and you have not agreed to that; "
            "`memorata admin trust --recorded` asks you, or name the embedder yourself (--embedder, "
            "MEMORATA_EMBEDDER, embedder=…)",
        )
        with pytest.raises(EmbedderError, match="you have not agreed to that"):
            memory.admin.reembed()
    assert spy.requests == []


@pytest.mark.parametrize("recorded", ["openai:m", "ollama:m", "onnx:/some/evil", "static:/some/evil"])
def test_services_at_their_usual_addresses_and_folders_need_consent_too(
    given_database: Path, recorded: str
) -> None:
    from memorata.engine.factory import choose_recorded

    with pytest.raises(ConsentNeeded, match="you have not agreed to that"):
        choose_recorded(recorded)


def test_consent_lets_texts_through_but_not_a_key_that_was_given_for_another(
    given_database: Path, spy: Spy
) -> None:
    user_trust().agree_to_source(spy.origin)
    with memorata.open(given_database, config={"resources": Resources(api_key=KEY)}) as memory:
        memory.remember("Ben likes coffee.")
        assert any(
            note.startswith(f"the API key is not sent to {spy.origin}, for which it was not given")
            for note in memory.notes
        )
    assert spy.requests
    assert set(spy.keys) == {None}


def test_what_was_named_once_may_be_named_by_the_database_from_then_on(tmp_path: Path, spy: Spy) -> None:
    path, resources = tmp_path / "own.db", Resources(api_key=KEY)
    with memorata.open(path, embedder=spy.embedder, config={"resources": resources}) as memory:
        memory.remember("Anna likes tea.")
    spy.requests.clear()
    with memorata.open(path, config={"resources": resources}) as memory:
        memory.remember("Ben likes coffee.")
        assert memory.notes == ()
    assert set(spy.keys) == {f"Bearer {KEY}"}
    spy.requests.clear()
    # Another key was never given for it.
    with memorata.open(path, config={"resources": Resources(api_key="sk-another")}) as memory:
        memory.remember("Cleo likes milk.")
    assert set(spy.keys) == {None}


def test_a_key_is_sent_to_its_address_and_to_no_other(tmp_path: Path, spy: Spy, another: Spy) -> None:
    resources = Resources(api_key=KEY, api_key_address=f"{spy.origin}/v1")
    with memorata.open(tmp_path / "a.db", embedder=spy.embedder, config={"resources": resources}) as memory:
        memory.remember("Anna likes tea.")
    with memorata.open(
        tmp_path / "b.db", embedder=another.embedder, config={"resources": resources}
    ) as memory:
        memory.remember("Anna likes tea.")
        assert memory.notes[0] == (f"the API key is for {spy.origin}/v1, and is not sent to {another.origin}")
    assert set(spy.keys) == {f"Bearer {KEY}"}
    assert set(another.keys) == {None}


@pytest.fixture
def run(here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("MEMORATA_DB", str(here / "own.db"))

    def run_command(*arguments: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, list(arguments))
        return result.exit_code, result.stdout, result.stderr

    return run_command


def test_the_command_line_ignores_it_tells_and_asks(
    hostile: Path, spy: Spy, run: Callable[..., tuple[int, str, str]]
) -> None:
    code, _, told = run("remember", "the code is 4711")
    assert code == 0
    assert "is not trusted: `memorata admin trust` shows" in told
    assert spy.requests == []
    code, _, told = run("admin", "trust")
    assert code == 2
    assert f"embedder: auto → {spy.embedder}" in told
    assert f"memories, questions and your API key will be sent to {spy.origin}" in told
    assert KEY not in told
    assert Settings().embedder == "auto"
    assert run("admin", "trust", "--yes")[0] == 0
    assert Settings().embedder == spy.embedder
    assert str(hostile) in run("admin", "trust", "--list")[1]
    assert run("admin", "trust", "--withdraw", str(hostile))[0] == 0
    assert Settings().embedder == "auto"
    assert run("admin", "trust", "--withdraw", str(hostile))[0] == 2


def test_the_command_line_agrees_to_what_a_database_names(
    given_database: Path, spy: Spy, run: Callable[..., tuple[int, str, str]]
) -> None:
    code, _, told = run("recall", "tea", "--db", str(given_database))
    assert code == 0
    assert "`memorata admin trust --recorded` asks you" in told
    assert run("admin", "trust", "--recorded", "--db", str(given_database))[0] == 2
    assert spy.requests == []
    assert run("admin", "trust", "--recorded", "--yes", "--db", str(given_database))[0] == 0
    assert user_trust().sources == (spy.origin,)
    run("recall", "tea", "--db", str(given_database))
    assert spy.requests


def test_doctor_shows_where_every_setting_came_from_and_contacts_nobody(
    hostile: Path, given_database: Path, spy: Spy, run: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, _ = run("doctor", "--db", str(given_database))
    assert code == 0
    assert spy.requests == []
    (defaults,) = re.findall(r"default: (\w+(?:, \w+)+)", out)
    for name in Settings.names:
        assert f"{name}: " in out or name in defaults.split(", ")
    assert f"embedder: default ({hostile} is not trusted)" in out
    assert f"namespace: {hostile}" in out
    assert "db: command line" in out
    assert "api_key: the environment variable MEMORATA_API_KEY" in out
