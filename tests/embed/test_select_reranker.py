import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from memorata.embed.catalogue import CATALOGUE
from memorata.embed.cross_encoder import OnnxReranker
from memorata.embed.select import NAMES, Resources, open_embedder
from memorata.embed.select_reranker import RERANKER_FORMS, RERANKER_NAMES, open_reranker
from memorata.model.errors import EmbedderError, InvalidArgument, MissingExtra, ModelNotInstalled


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
def test_an_unknown_specification_lists_what_there_is(name: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        open_reranker(name)
    assert all(known in str(caught.value) for known in (*RERANKER_NAMES, *RERANKER_FORMS))


def test_embedders_and_re_rankers_are_not_mixed_up(models: Path) -> None:
    with pytest.raises(EmbedderError, match="arctic-embed-s is an embedder and no re-ranker"):
        open_reranker("arctic-embed-s", Resources(models=models))
    with pytest.raises(EmbedderError, match="mini-reranker is a re-ranker and no embedder"):
        open_embedder("mini-reranker", Resources(models=models))
    assert not set(RERANKER_NAMES) & set(NAMES)


def test_a_specification_is_text() -> None:
    with pytest.raises(InvalidArgument, match="specification"):
        open_reranker(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["minilm-reranker", "onnx:x"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match="pip install onnxruntime tokenizers"):
        open_reranker(name)
