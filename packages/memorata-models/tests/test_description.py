import dataclasses
import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.description import ModelDescription, read_checked
from memorata.embed.port import Prompts
from memorata.model.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled
from memorata_models.description import RerankerDescription, as_toml, read_any_description, read_description

FILES = {"model.onnx": "aa", "tokenizer.json": "bb"}
TINY = ModelDescription(id="tiny", kind="onnx", dimension=8, max_tokens=32, pooling="mean", files=FILES)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(id=TEXT, query=TEXT, document=TEXT, licence=TEXT, threshold=st.floats(-1, 1))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    id: str,
    query: str,
    document: str,
    licence: str,
    threshold: float,
) -> None:
    folder = tmp_path_factory.mktemp("model")
    written = dataclasses.replace(
        TINY, id=id, prompts=Prompts(query, document), licence=licence, similarity_threshold=threshold
    )
    (folder / "model.toml").write_text(as_toml(written), encoding="utf-8", newline="\n")
    assert read_description(folder) == written


@pytest.mark.parametrize(
    "change",
    [
        {"pooling": "cls"},
        {"max_tokens": 64},
        {"dimension": 9},
        {"prompts": Prompts(query="q: ")},
        {"prompts": Prompts(document="q: ")},
        {"revision": "abc"},
        {"files": {**FILES, "model.onnx": "cc"}},
        {"files": {**FILES, "tokenizer.json": "cc"}},
    ],
)
def test_whatever_changes_vectors_changes_the_name(change: dict[str, object]) -> None:
    assert dataclasses.replace(TINY, **change).name != TINY.name  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"licence": "MIT"}, {"similarity_threshold": 0.7}])
def test_what_does_not_change_vectors_does_not_change_the_name(change: dict[str, object]) -> None:
    assert dataclasses.replace(TINY, **change).name == TINY.name  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "torch"},
        {"pooling": "max"},
        {"dimension": 0},
        {"max_tokens": 15},
        {"similarity_threshold": 1.5},
        {"id": 7},
    ],
)
def test_facts_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        dataclasses.replace(TINY, **change)  # type: ignore[arg-type]


def test_a_folder_without_a_description_holds_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled, match=r"no model\.toml"):
        read_description(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"id = ", "not a TOML file"),
        (b"\xff\xfe", "not a TOML file"),
        (b"id = 'x'", "does not describe a model"),
        (as_toml(TINY).replace('"mean"', '"max"').encode(), "pooling must be one of"),
        (b"colour = 'red'\n" + as_toml(TINY).encode(), "colour"),
        (b"prompts = 'red'\n" + as_toml(TINY).split("[prompts]")[0].encode(), "does not describe a model"),
        (as_toml(TINY).split("[files]")[0].encode(), "no SHA-256 for model.onnx and tokenizer.json"),
    ],
)
def test_a_description_that_cannot_be_used_says_why(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "model.toml").write_bytes(content)
    with pytest.raises(ModelCorrupt, match=says):
        read_description(tmp_path)


def test_a_file_is_read_only_if_it_is_the_pinned_one(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"seven")
    digest = hashlib.sha256(b"seven").hexdigest()
    assert read_checked(tmp_path, "weights", digest) == b"seven"
    assert read_checked(tmp_path, "weights", None) == b"seven"
    with pytest.raises(ModelCorrupt, match=f"has SHA-256 {digest}, not the pinned 00"):
        read_checked(tmp_path, "weights", "00")
    with pytest.raises(ModelNotInstalled, match="missing"):
        read_checked(tmp_path, "tokens", digest)


def test_what_is_there_and_cannot_be_read_is_corrupt(tmp_path: Path) -> None:
    for name in ("model.toml", "weights"):
        (tmp_path / name).mkdir()
    with pytest.raises(ModelCorrupt, match=r"weights cannot be read"):
        read_checked(tmp_path, "weights", None)
    with pytest.raises(ModelCorrupt, match=r"model\.toml cannot be read"):
        read_description(tmp_path)


RERANKER_FILES = {"model.onnx": "aa", "tokenizer.json": "bb"}
TINY_RERANKER = RerankerDescription(id="tiny", max_tokens=32, template="{q} and {d}", files=RERANKER_FILES)
RERANKER_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(id=RERANKER_TEXT, around=RERANKER_TEXT, licence=RERANKER_TEXT)
def test_what_is_written_is_read_back_of_a_reranker(
    tmp_path_factory: pytest.TempPathFactory, id: str, around: str, licence: str
) -> None:
    folder = tmp_path_factory.mktemp("model")
    around = around.replace("{", "")
    written = dataclasses.replace(
        TINY_RERANKER, id=id, template=f"{around}{{d}}{around}{{q}}", licence=licence
    )
    (folder / "model.toml").write_text(as_toml(written), encoding="utf-8", newline="\n")
    assert read_any_description(folder) == written


def test_an_embedder_s_description_is_read_as_one(tmp_path: Path) -> None:
    embedder = ModelDescription(
        id="e", kind="onnx", dimension=8, max_tokens=32, pooling="mean", files=RERANKER_FILES
    )
    (tmp_path / "model.toml").write_text(as_toml(embedder), encoding="utf-8")
    assert read_any_description(tmp_path) == embedder
    assert (embedder.kind, TINY_RERANKER.kind) == ("onnx", "reranker")


@pytest.mark.parametrize(
    "change",
    [
        {"max_tokens": 64},
        {"template": "pair"},
        {"output": "difference"},
        {"revision": "abc"},
        {"files": {**RERANKER_FILES, "model.onnx": "cc"}},
    ],
)
def test_whatever_changes_scores_changes_the_name(change: dict[str, object]) -> None:
    assert dataclasses.replace(TINY_RERANKER, **change).name != TINY_RERANKER.name  # type: ignore[arg-type]
    assert dataclasses.replace(TINY_RERANKER, licence="MIT").name == TINY_RERANKER.name


@pytest.mark.parametrize(
    "change",
    [
        {"id": 7},
        {"max_tokens": 15},
        {"template": "{q}"},
        {"template": "{q} {d} {d}"},
        {"template": ""},
        {"output": "sigmoid"},
        {"files": {"model.onnx": 7}},
    ],
)
def test_facts_that_cannot_be_are_refused_of_a_reranker(change: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        dataclasses.replace(TINY_RERANKER, **change)  # type: ignore[arg-type]


def test_question_and_text_are_filled_in_as_they_are() -> None:
    # Neither may be mistaken for a place of the template.
    assert TINY_RERANKER.filled("what is {d}?", "{q} is {q}") == "what is {d}? and {q} is {q}"
    backwards = dataclasses.replace(TINY_RERANKER, template="{d} for {q}")
    assert backwards.filled("{d}", "{q}") == "{q} for {d}"
    with pytest.raises(InvalidArgument, match="template"):
        dataclasses.replace(TINY_RERANKER, template="pair").filled("q", "d")


def test_a_folder_without_a_description_holds_no_model_of_a_reranker(tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled, match=r"no model\.toml"):
        read_any_description(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("kind = ", "not a TOML file"),
        ("kind = 'reranker'", "does not describe a re-ranker"),
        (as_toml(TINY_RERANKER).replace('"logit"', '"max"'), "output must be one of"),
        ("pooling = 'cls'\n" + as_toml(TINY_RERANKER), "pooling"),
        ("files = 'red'\n" + as_toml(TINY_RERANKER).split("[files]")[0], "does not describe a re-ranker"),
        (as_toml(TINY_RERANKER).split("[files]")[0], "no SHA-256 for model.onnx and tokenizer.json"),
    ],
)
def test_a_description_that_cannot_be_used_says_why_of_a_reranker(
    tmp_path: Path, content: str, says: str
) -> None:
    (tmp_path / "model.toml").write_text(content)
    with pytest.raises(ModelCorrupt, match=says):
        read_any_description(tmp_path)
