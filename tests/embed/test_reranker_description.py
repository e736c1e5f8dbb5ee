import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.description import ModelDescription
from memorata.embed.reranker_description import RerankerDescription, read_any_description
from memorata.model.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled

FILES = {"model.onnx": "aa", "tokenizer.json": "bb"}
TINY = RerankerDescription(id="tiny", max_tokens=32, template="{q} and {d}", files=FILES)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(id=TEXT, around=TEXT, licence=TEXT)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, id: str, around: str, licence: str
) -> None:
    folder = tmp_path_factory.mktemp("model")
    around = around.replace("{", "")
    written = dataclasses.replace(TINY, id=id, template=f"{around}{{d}}{around}{{q}}", licence=licence)
    (folder / "model.toml").write_text(written.as_toml(), encoding="utf-8", newline="\n")
    assert read_any_description(folder) == written


def test_an_embedder_s_description_is_read_as_one(tmp_path: Path) -> None:
    embedder = ModelDescription(id="e", kind="onnx", dimension=8, max_tokens=32, pooling="mean", files=FILES)
    (tmp_path / "model.toml").write_text(embedder.as_toml(), encoding="utf-8")
    assert read_any_description(tmp_path) == embedder
    assert (embedder.kind, TINY.kind) == ("onnx", "reranker")


@pytest.mark.parametrize(
    "change",
    [
        {"max_tokens": 64},
        {"template": "pair"},
        {"output": "difference"},
        {"revision": "abc"},
        {"files": {**FILES, "model.onnx": "cc"}},
    ],
)
def test_whatever_changes_scores_changes_the_name(change: dict[str, object]) -> None:
    assert dataclasses.replace(TINY, **change).name != TINY.name  # type: ignore[arg-type]
    assert dataclasses.replace(TINY, licence="MIT").name == TINY.name


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
def test_facts_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        dataclasses.replace(TINY, **change)  # type: ignore[arg-type]


def test_question_and_text_are_filled_in_as_they_are() -> None:
    # Neither may be mistaken for a place of the template.
    assert TINY.filled("what is {d}?", "{q} is {q}") == "what is {d}? and {q} is {q}"
    backwards = dataclasses.replace(TINY, template="{d} for {q}")
    assert backwards.filled("{d}", "{q}") == "{q} for {d}"
    with pytest.raises(InvalidArgument, match="template"):
        dataclasses.replace(TINY, template="pair").filled("q", "d")


def test_a_folder_without_a_description_holds_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled, match=r"no model\.toml"):
        read_any_description(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("kind = ", "not a TOML file"),
        ("kind = 'reranker'", "does not describe a re-ranker"),
        (TINY.as_toml().replace('"logit"', '"max"'), "output must be one of"),
        ("pooling = 'cls'\n" + TINY.as_toml(), "pooling"),
        ("files = 'red'\n" + TINY.as_toml().split("[files]")[0], "does not describe a re-ranker"),
        (TINY.as_toml().split("[files]")[0], "no SHA-256 for model.onnx and tokenizer.json"),
    ],
)
def test_a_description_that_cannot_be_used_says_why(tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "model.toml").write_text(content)
    with pytest.raises(ModelCorrupt, match=says):
        read_any_description(tmp_path)
