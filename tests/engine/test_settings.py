"""Settings: which place wins, and what is said about a value that cannot be used."""

from pathlib import Path

import pytest

from memorata.engine.config_file import config_file
from memorata.engine.settings import Settings, default_db
from memorata.model.errors import InvalidArgument, StoreUnavailable
from memorata.store.address import ServerAddress


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start in an empty folder, with no setting in the environment."""
    for name in [*(f"MEMORATA_{field.upper()}" for field in Settings.names), "MEMORATA_CONFIG"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def config(text: str, path: str = "memorata.toml") -> Path:
    file = Path(path).absolute()
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_the_constructor_wins_over_the_environment_the_environment_over_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Settings().namespace == "default"
    config('namespace = "file"')
    assert Settings().namespace == "file"
    monkeypatch.setenv("MEMORATA_NAMESPACE", "environment")
    assert Settings().namespace == "environment"
    assert Settings(namespace="constructor").namespace == "constructor"


def test_each_setting_is_decided_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    file = config('namespace = "file"\nthreads = 2')
    monkeypatch.setenv("MEMORATA_THREADS", "3")
    settings = Settings(embedder="lexical")
    assert (settings.namespace, settings.threads, settings.embedder) == ("file", 3, "lexical")
    assert settings.origin("namespace") == str(file)
    assert settings.origin("threads") == "the environment variable MEMORATA_THREADS"
    assert (settings.origin("embedder"), settings.origin("recipe")) == ("", "default")


def test_a_table_is_one_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(config("[life]\nworking_days = 3"))
    assert Settings(config=file).life == {"working_days": 3.0}
    monkeypatch.setenv("MEMORATA_LIFE", '{"episodic_days": 5}')
    assert Settings(config=file).life == {"episodic_days": 5.0}
    assert Settings(life={"working_uses": 1}).life == {"working_uses": 1}
    assert Settings(life={"working_uses": 1}).origin("life") == ""


def test_an_empty_variable_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORATA_NAMESPACE", "")
    assert Settings().namespace == "default"
    assert Settings().origin("namespace") == "default"


def test_the_file_may_be_named_and_its_paths_are_relative_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    config('namespace = "here"')
    file = config('db = "mine.db"\nmodels = "~/models"', "elsewhere/settings.toml")
    monkeypatch.setenv("MEMORATA_CONFIG", str(file))
    settings = Settings()
    assert settings.namespace == "default"
    assert settings.db == file.parent / "mine.db"
    assert settings.models == Path.home() / "models"


def test_folders_of_models_in_the_file_are_relative_to_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    file = config('embedder = "onnx:model#none"\nreranker = "onnx:/else/where"', "elsewhere/settings.toml")
    monkeypatch.setenv("MEMORATA_CONFIG", str(file))
    assert Settings().embedder == f"onnx:{file.parent / 'model'}#none"
    assert Settings().reranker == "onnx:/else/where"
    config('embedder = "static:~/model"\nreranker = "none"', "elsewhere/settings.toml")
    assert Settings().embedder == f"static:{Path.home() / 'model'}"
    assert Settings().reranker == "none"
    config('embedder = "hub:org/name"', "elsewhere/settings.toml")
    assert Settings().embedder == "hub:org/name"


def test_a_memory_without_a_file_is_one_wherever_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(Settings(config=str(config('db = ":memory:"'))).db) == ":memory:"
    monkeypatch.setenv("MEMORATA_DB", ":memory:")
    assert str(Settings().db) == ":memory:"


@pytest.mark.parametrize("name", ["db", "models", "hub_cache"])
def test_a_home_that_nobody_has_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = "~nobody-of-that-name/x"
    with pytest.raises(InvalidArgument, match=f"^{name} must be a path in a home that exists"):
        Settings(**{name: nobody})
    monkeypatch.setenv(f"MEMORATA_{name.upper()}", nobody)
    with pytest.raises(InvalidArgument, match="a path in a home that exists"):
        Settings()
    monkeypatch.delenv(f"MEMORATA_{name.upper()}")
    config(f'{name} = "{nobody}"')
    with pytest.raises(InvalidArgument, match="a path in a home that exists"):
        Settings()
    monkeypatch.setenv("MEMORATA_CONFIG", nobody)
    with pytest.raises(InvalidArgument, match="a path in a home that exists"):
        Settings()


def test_a_password_in_the_address_of_a_service_is_not_shown() -> None:
    with pytest.raises(InvalidArgument, match="anchors must be an address") as raised:
        Settings(anchors="chat:some-model@http://anna:secret@127.0.0.1/v1")
    assert "secret" not in str(raised.value)


def test_an_address_where_none_can_be_is_not_shown() -> None:
    file = config('db = ["postgresql://anna:secret@127.0.0.1/memories"]')
    with pytest.raises(InvalidArgument, match=r"db .* must be the path of a file") as raised:
        Settings(config=str(file))
    assert "secret" not in str(raised.value)


def test_a_named_file_must_exist_and_the_usual_one_need_not(tmp_path: Path) -> None:
    assert config_file({}, tmp_path) is None
    with pytest.raises(InvalidArgument, match=r"MEMORATA_CONFIG must be the path .* that exists, got 'no'"):
        config_file({"MEMORATA_CONFIG": "no"}, tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("threads", "many", "a whole number of at least 1"),
        ("threads", "0", "a whole number of at least 1"),
        ("dimension", "-3", "a whole number of at least 1"),
        ("durable", "perhaps", "true or false"),
        ("namespace", "a//b", "a path such as 'acme/alice'"),
        ("log_limit", "0", "a whole number of at least 1"),
    ],
)
def test_a_bad_value_names_the_setting_the_value_and_the_place(
    name: str, value: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidArgument) as constructor:
        Settings(**{name: value})
    assert str(constructor.value).startswith(f"{name} must be {expected}")
    assert str(constructor.value).endswith(f"got {value!r}")
    monkeypatch.setenv(f"MEMORATA_{name.upper()}", value)
    with pytest.raises(InvalidArgument) as environment:
        Settings()
    place = f"the environment variable MEMORATA_{name.upper()}"
    assert str(environment.value).startswith(f"{name} (from {place}) must be {expected}")
    monkeypatch.delenv(f"MEMORATA_{name.upper()}")
    file = config(f'{name} = "{value}"')
    with pytest.raises(InvalidArgument) as written:
        Settings(config=str(file))
    assert str(written.value).startswith(f"{name} (from {file}) must be {expected}")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "broken",
            "life (from VARIABLE) must be JSON: a table of rules, such as working_days, and their numbers",
        ),
        (
            '{"working_days": -1}',
            "working_days in life (from VARIABLE) must be a number from 0 to 3650, got -1",
        ),
        ('{"workin_days": 1}', "life (from VARIABLE) must be one of 'working_days', "),
    ],
)
def test_rules_of_life_that_cannot_be_are_named(
    value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORATA_LIFE", value)
    with pytest.raises(InvalidArgument) as refused:
        Settings()
    place = "the environment variable MEMORATA_LIFE"
    assert str(refused.value).startswith(message.replace("VARIABLE", place))


def test_blank_paths_and_embedders_are_refused() -> None:
    for name in ("db", "models", "hub_cache", "embedder", "reranker"):
        with pytest.raises(InvalidArgument, match=f"^{name} must be"):
            Settings(**{name: ""})


def test_a_setting_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidArgument, match=r"a setting must be one of db, .*, got 'nmespace'"):
        Settings(nmespace="x")
    config("thread = 2")
    with pytest.raises(InvalidArgument, match=r"did you mean 'threads'\? .* got 'thread'"):
        Settings()


def test_a_file_that_is_not_toml_is_named() -> None:
    file = config("namespace = ")
    with pytest.raises(InvalidArgument, match=r"the settings file .* must be readable TOML") as error:
        Settings()
    assert str(file) in str(error.value)


def test_a_key_is_never_shown() -> None:
    file = config("api_key = 12345")
    with pytest.raises(InvalidArgument) as error:
        Settings(config=str(file))
    assert "12345" not in str(error.value)
    Path("memorata.toml").unlink()
    settings = Settings(api_key="secret-key")
    assert "secret-key" not in repr(settings)
    assert settings.resources.api_key == "secret-key"


def test_the_usual_place_of_memories_is_beside_the_models_wherever_those_are() -> None:
    home = Path("/home/ada")
    environment = {"MEMORATA_MODELS": "/srv/models", "XDG_DATA_HOME": "/data"}
    assert default_db(environment, "linux", home) == Path("/data/memorata/memories.db")


def test_they_open_the_memory_they_describe(tmp_path: Path) -> None:
    settings = Settings(
        db=tmp_path / "m.db", embedder="lexical", namespace="ada", recipe="fast", durable=False
    )
    with pytest.raises(StoreUnavailable, match="there is no database"):
        settings.open(must_exist=True)
    with settings.open() as engine:
        assert (engine.namespace, engine.recipe.name) == ("ada", "fast")
        assert engine.embedder is not None
    with settings.open(embed=False) as engine:
        assert engine.embedder is None


def test_a_replica_is_the_address_of_a_server_and_its_password_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMORATA_REPLICA", "postgresql://tom:hunter2@localhost/m")
    settings = Settings(embedder="lexical")
    assert settings.replica == ServerAddress("postgresql://tom:hunter2@localhost/m")
    assert "hunter2" not in repr(settings)
    with pytest.raises(InvalidArgument, match="given together with that of the server") as caught:
        settings.open()
    assert "hunter2" not in str(caught.value)
    with pytest.raises(InvalidArgument, match="replica must be the address of a PostgreSQL server"):
        Settings(replica="memories.db")


def test_a_recipe_that_there_is_not_is_told_with_the_place_it_came_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMORATA_RECIPE", "balancd")
    place = "the environment variable MEMORATA_RECIPE"
    with pytest.raises(
        InvalidArgument, match=rf"^recipe \(from {place}\) must be .*mean balanced.*'balancd'"
    ):
        Settings(db=":memory:", embedder="lexical").open()


def test_a_settings_file_may_use_the_former_name_of_a_setting(tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text("question_seconds = 2.5")
    assert Settings(config=str(tmp_path / "old.toml")).query_seconds == 2.5
