"""Prompts beside the model: named, recorded, and never mixed with others."""

from pathlib import Path

import numpy as np
import pytest

import memorata
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.ngram_encoder import BuiltinEmbedder
from memorata.embed.port import PRESETS, Prompts, prompts_named, split_specification, with_prompts
from memorata.model.errors import EmbedderError


@pytest.mark.parametrize(
    ("specification", "expected"),
    [
        ("builtin", ("builtin", "")),
        ("builtin#none", ("builtin", "none")),
        ("openai:m@https://x.org/v1#retrieval", ("openai:m@https://x.org/v1", "retrieval")),
        ("onnx:a#1/b#similarity", ("onnx:a#1/b", "similarity")),
        ("onnx:a#1", ("onnx:a#1", "")),
        ("onnx:a#1#custom:q#1|d#2", ("onnx:a#1", "custom:q#1|d#2")),
        ("#none", ("#none", "")),
    ],
)
def test_prompts_stand_after_the_embedder(specification: str, expected: tuple[str, str]) -> None:
    assert split_specification(specification) == expected


def test_presets_and_prompts_of_ones_own() -> None:
    assert prompts_named("none") == Prompts()
    assert prompts_named("similarity").query == prompts_named("similarity").document != ""
    assert prompts_named("custom:|d|e") == Prompts("", "d|e")
    with pytest.raises(EmbedderError, match=r"have a \| between them"):
        prompts_named("custom:only one")
    assert set(PRESETS) == {"none", "similarity", "retrieval", "narrative", "romance", "relationship"}


@pytest.mark.untraced
def test_other_prompts_are_another_embedder_and_the_models_own_the_same() -> None:
    own = BuiltinEmbedder()
    other = own.prompted(Prompts("query: ", "passage: "))
    assert own.prompted(own.prompts) is own
    assert other.name != own.name
    assert (other.prompts, own.prompts) == (Prompts("query: ", "passage: "), Prompts())
    # The threshold was measured with the model's own prompts, and says nothing about others.
    assert (other.similarity_threshold, own.similarity_threshold > 0) == (0.0, True)
    np.testing.assert_array_equal(other.embed_documents(["tea"]), own.embed_documents(["passage: tea"]))
    np.testing.assert_array_equal(other.embed_query("tea"), own.embed_query("query: tea"))


def test_the_lexical_embedder_has_none() -> None:
    with pytest.raises(EmbedderError, match="has no prompts; leave out #none"):
        with_prompts(LexicalEmbedder(), "none")


@pytest.mark.untraced
def test_a_change_of_prompts_is_noticed_re_embedded_and_recorded(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with memorata.open(path, embedder="builtin") as memory:
        memory.remember("Anna prefers green tea.")
        before = memory.embedder
    with memorata.open(path, embedder="builtin#similarity") as memory:
        told = "prompts changed from own to similarity: 1 memory will be embedded again"
        assert any(told in note for note in memory.notes)
        assert memory.admin.reembed().dropped == 1
        assert memory.store.setting("embedder") == "use-multilingual#similarity"
    with memorata.open(path) as memory:
        assert before is not None
        assert memory.embedder is not None
        assert memory.embedder.name != before.name
        assert memory.embedder.prompts == PRESETS["similarity"]
        assert memory.recall("what does Anna drink?").degraded == ()
        assert memory.admin.check() == []
