import json
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from time import monotonic

import pytest

from memorata import _satellites
from memorata.embed.port import PRESETS, Prompts
from memorata.embed.selection import Resources, choose, open_embedder, open_reranker
from memorata.model.errors import (
    EmbedderError,
    InvalidArgument,
    ModelCorrupt,
    ModelNotInstalled,
    ServiceUnreachable,
)
from memorata_models.catalogue import CATALOGUE, EMBEDDER, available
from memorata_models.description import RERANKER, as_toml
from memorata_models.onnx import OnnxEmbedder, OnnxReranker
from memorata_models.services import OllamaEmbedder, OpenAIEmbedder
from memorata_models.static import StaticEmbedder


def test_every_model_of_the_catalogue_is_declared_and_its_absence_named() -> None:
    for kind, group in ((EMBEDDER, "embedders"), (RERANKER, "rerankers")):
        declared = set(entry_points(group=f"memorata.{group}").names)
        assert {entry.name for entry in available(kind)} <= declared
        assert declared == set(_satellites.OPENED[group])
    for group in ("extractors", "anchors", "classifiers", "summarisers", "judges"):
        assert set(entry_points(group=f"memorata.{group}").names) == set(_satellites.OPENED[group])


def test_auto_takes_the_recommended_model_if_it_is_installed(models: Path) -> None:
    chosen = choose("auto", Resources(models=models))
    assert isinstance(chosen.embedder, OnnxEmbedder)
    assert chosen.embedder.name.startswith("snowflake-arctic-embed-s-int8@")
    assert chosen.note is None


def test_installed_models_are_opened_by_name(models: Path) -> None:
    given = Resources(models=models)
    assert isinstance(open_embedder("arctic-embed-s", given), OnnxEmbedder)
    assert isinstance(open_embedder("potion-base-8M", given), StaticEmbedder)


@pytest.mark.parametrize("given", [Resources(), Resources(models=Path("nowhere"))])
def test_a_model_that_is_not_installed_says_how_to_get_it(given: Resources) -> None:
    with pytest.raises(ModelNotInstalled, match="memorata model install potion-base-8M"):
        open_embedder("potion-base-8M", given)


def test_folders_are_opened_by_their_path(tiny_folder: Callable[..., Path], models: Path) -> None:
    assert open_embedder(f"onnx:{tiny_folder()}").dimension == 3
    assert open_embedder(f"static:{models / 'potion-base-8M'}").dimension == 256


def test_a_folder_is_found_from_another_one_tomorrow(
    tiny_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_folder()
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    for named in (folder.name, f"./{folder.name}", f"~/{folder.name}", str(folder)):
        assert choose(f"onnx:{named}").specification == f"onnx:{folder}"
    assert choose(f"onnx:{folder.name}#none").specification == f"onnx:{folder}#none"


def test_a_home_that_nobody_has_is_a_folder_like_any_other() -> None:
    with pytest.raises(ModelNotInstalled, match=r"no ONNX model in .*~nobody-of-that-name"):
        choose("onnx:~nobody-of-that-name/model")


def test_a_cached_hub_model_is_opened_by_its_name(
    tmp_path: Path, tiny_graph: Callable[..., bytes], tiny_tokenizer: bytes
) -> None:
    snapshot = tmp_path / "models--org--tiny" / "snapshots" / "abc"
    (snapshot / "onnx").mkdir(parents=True)
    (snapshot / "onnx" / "model.onnx").write_bytes(tiny_graph())
    (snapshot / "tokenizer.json").write_bytes(tiny_tokenizer)
    (snapshot / "config.json").write_text(json.dumps({"hidden_size": 3, "max_position_embeddings": 64}))
    embedder = open_embedder("hub:org/tiny", Resources(hub_cache=tmp_path))
    assert embedder.name.startswith("org/tiny@")
    assert embedder.embed_query("red").any()
    with pytest.raises(ModelNotInstalled, match="org/other"):
        open_embedder("hub:org/other", Resources(hub_cache=tmp_path))


def test_services_are_opened_by_model_and_address() -> None:
    given = Resources(dimension=3, api_key="k")
    openai = open_embedder("openai:text-embedding-3-small", given)
    local = open_embedder("openai:bge@http://127.0.0.1:8080/v1", given)
    ollama = open_embedder("ollama:nomic-embed-text", given)
    assert isinstance(openai, OpenAIEmbedder)
    assert isinstance(local, OpenAIEmbedder)
    assert isinstance(ollama, OllamaEmbedder)
    assert (openai.address, local.address, ollama.address) == (
        "https://api.openai.com/v1",
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:11434",
    )
    assert ollama.dimension == 3


@pytest.mark.parametrize("name", ["", "best", "onnx", "onnx:", "torch:x", "Lexical", "ollama:"])
def test_an_unknown_specification_lists_what_there_is(name: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        open_embedder(name)
    assert str(caught.value).startswith("there is no embedder")


def test_a_model_may_have_an_at_in_its_name() -> None:
    embedder = open_embedder("openai:@cf/baai/bge-m3@https://example.org/v1")
    assert isinstance(embedder, OpenAIEmbedder)
    assert embedder.name.startswith("openai:@cf/baai/bge-m3@")
    assert embedder.address == "https://example.org/v1"


def test_how_long_a_question_waits_for_a_service_can_be_said() -> None:
    patient = open_embedder("ollama:m@http://127.0.0.1:1", Resources(query_seconds=0.05))
    began = monotonic()
    with pytest.raises(ServiceUnreachable, match="gave up after 1 attempt"):
        patient.embed_query("red")
    assert monotonic() - began < 20


@pytest.mark.parametrize("form", ["onnx:{}", "static:{}", "hub:{}/y"])
def test_a_name_that_no_disk_takes_is_refused(form: str, tmp_path: Path) -> None:
    given = Resources(models=tmp_path, hub_cache=tmp_path)
    with pytest.raises(EmbedderError, match=r"cannot be read: File name too long|is not in the hub cache"):
        choose(form.format("x" * 5000), given)


def test_a_folder_that_may_not_be_looked_into_is_no_reason_to_break(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", forbidden)
    with pytest.raises(ModelCorrupt, match="cannot be read: Permission denied"):
        choose(f"onnx:{tmp_path}", Resources(models=tmp_path))


@pytest.mark.parametrize("name", ["openai:\ud83d", "onnx:\ud83d", "builtin#custom:\ud83d|", "\ud83d"])
def test_half_a_character_is_no_name(name: str) -> None:
    with pytest.raises(InvalidArgument, match="specification must be text without half surrogate pairs"):
        choose(name)


def test_a_folder_is_opened_by_its_path(tiny_reranker: Callable[..., Path]) -> None:
    reranker = open_reranker(f"onnx:{tiny_reranker()}", Resources(threads=1))
    assert isinstance(reranker, OnnxReranker)
    assert reranker.score("red", ["red", "blue"]).tolist() == [1, 0]


@pytest.mark.parametrize("given", [Resources(), Resources(models=Path("nowhere"))])
def test_a_re_ranker_that_is_not_installed_says_how_to_get_it(given: Resources) -> None:
    with pytest.raises(ModelNotInstalled, match="memorata model install mini-reranker"):
        open_reranker("mini-reranker", given)


def test_an_installed_re_ranker_is_opened_by_its_name(tmp_path: Path) -> None:
    # Its files are read on first use; what it is, the catalogue says.
    known = CATALOGUE["mini-reranker"].description
    (tmp_path / "mini-reranker").mkdir()
    (tmp_path / "mini-reranker" / "model.toml").write_text(as_toml(known), encoding="utf-8")
    reranker = open_reranker("mini-reranker", Resources(models=tmp_path))
    assert isinstance(reranker, OnnxReranker)
    assert reranker.description == known
    with pytest.raises(ModelNotInstalled, match=r"tokenizer\.json is missing"):
        reranker.score("q", ["d"])


@pytest.mark.parametrize("name", ["", "best", "onnx", "onnx:", "static:x", "auto"])
def test_an_unknown_specification_lists_what_there_is_for_rerankers(name: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        open_reranker(name)
    assert str(caught.value).startswith("there is no re-ranker")


def test_embedders_and_re_rankers_are_not_mixed_up(models: Path) -> None:
    with pytest.raises(EmbedderError, match="there is no re-ranker 'arctic-embed-s'"):
        open_reranker("arctic-embed-s", Resources(models=models))
    with pytest.raises(EmbedderError, match="there is no embedder 'mini-reranker'"):
        open_embedder("mini-reranker", Resources(models=models))


def test_services_have_prompts_as_well() -> None:
    plain = OpenAIEmbedder("m", "http://localhost:1/v1", dimension=4)
    other = plain.prompted(Prompts("q: ", ""))
    assert plain.prompted(Prompts()) is plain
    assert (other.prompts.query, other.dimension) == ("q: ", 4)
    assert other.name != plain.name
    assert choose("openai:m#retrieval").embedder.prompts == PRESETS["retrieval"]
