import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tokenizers

from memorata.embed.conformance import ODD, TEXTS, EmbedderConformance
from memorata.embed.description import ModelDescription
from memorata.embed.onnx import OnnxEmbedder
from memorata.embed.port import Embedder, Prompts, Vectors
from memorata.model.errors import InvalidArgument, MissingExtra, ModelCorrupt, ModelNotInstalled

PREFIX = "Represent this sentence for searching relevant passages: "


class TestTinyMean(EmbedderConformance):
    @pytest.fixture
    def embedder(self, tiny_folder: Callable[..., Path]) -> Embedder:
        return OnnxEmbedder(tiny_folder(pooling="mean"))

    # A tiny model knows three words, and no ending changes a CLS vector that looks at nothing else.
    def test_the_end_of_a_long_text_counts(self, embedder: Embedder) -> None:
        one, other = embedder.embed_documents(["red " * 50 + "green", "red " * 50 + "blue"])
        assert not np.array_equal(one, other)


class TestArctic(EmbedderConformance):
    @pytest.fixture
    def embedder(self, arctic: OnnxEmbedder) -> Embedder:
        return arctic

    def test_vectors_equal_those_of_the_bare_runtime(self, embedder: Embedder, models: Path) -> None:
        plain = oracle(models / "arctic-embed-s")
        texts = [*TEXTS, *(text for text in ODD if "\ud83d" not in text and len(text) < 1000)]
        for text, row in zip(texts, embedder.embed_documents(texts), strict=True):
            assert row == pytest.approx(plain(text), abs=1e-5)
            assert embedder.embed_query(text) == pytest.approx(plain(PREFIX + text), abs=1e-5)

    def test_vectors_are_near_those_once_measured(self, embedder: Embedder) -> None:
        # Eight-bit arithmetic differs a little between processors; the measured ones had AVX2 without VNNI.
        document = embedder.embed_documents([TEXTS[0]])[0]
        question = embedder.embed_query("Where does Alice live?")
        assert document[:6] == pytest.approx(
            [0.02208, -0.02991, -0.01899, -0.002, -0.04319, -0.01701], abs=0.02
        )
        assert question[:6] == pytest.approx(
            [0.01988, 0.01983, -0.06721, -0.0361, -0.04079, -0.02969], abs=0.02
        )

    def test_the_prompt_belongs_to_queries_only(self, embedder: Embedder, models: Path) -> None:
        text = "Where does Alice live?"
        plain = oracle(models / "arctic-embed-s")
        assert embedder.prompts == Prompts(query=PREFIX, document="")
        assert embedder.embed_documents([text])[0] == pytest.approx(plain(text), abs=1e-5)
        assert embedder.embed_query(text) == pytest.approx(plain(PREFIX + text), abs=1e-5)
        assert float(embedder.embed_query(text) @ embedder.embed_documents([text])[0]) < 0.95

    def test_it_tells_related_from_unrelated(self, embedder: Embedder) -> None:
        rows = embedder.embed_documents(TEXTS[:3])
        for question, expected in (
            ("Where does Alice live now?", 0),
            ("Was there a problem with a payment?", 1),
            ("Which nuts must she not eat?", 2),
        ):
            scores = rows @ embedder.embed_query(question)
            assert int(scores.argmax()) == expected
            assert scores[expected] > embedder.similarity_threshold
            assert np.delete(scores, expected).max() < embedder.similarity_threshold


def oracle(folder: Path) -> Callable[[str], Vectors]:
    """Return the slow and obvious way: one text at a time, no padding, CLS, unit length."""
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])

    def embed(text: str) -> Vectors:
        numbers = np.array([tokenizer.encode(text).ids])
        feed = {"input_ids": numbers, "attention_mask": numbers * 0 + 1, "token_type_ids": numbers * 0}
        states: Vectors = session.run(["last_hidden_state"], feed)[0][0, 0]
        unit: Vectors = states / np.linalg.norm(states)
        return unit

    return embed


def test_pooling_is_the_description_s(tiny_folder: Callable[..., Path]) -> None:
    # [CLS] is (1, 1, 0), red (3, 0, 0), [SEP] nothing.
    (mean,) = OnnxEmbedder(tiny_folder(pooling="mean")).embed_documents(["red"])
    (first,) = OnnxEmbedder(tiny_folder(pooling="cls")).embed_documents(["red"])
    assert mean == pytest.approx(np.array([4, 1, 0]) / np.sqrt(17), abs=1e-6)
    assert first == pytest.approx(np.array([1, 1, 0]) / np.sqrt(2), abs=1e-6)


def test_prompts_are_read_before_the_text(tiny_folder: Callable[..., Path]) -> None:
    embedder = OnnxEmbedder(tiny_folder(prompts=Prompts(query="query ", document="passage ")))
    # query is (9, 0, 0) and passage (0, 9, 0).
    assert embedder.embed_query("red") == pytest.approx(np.array([13, 1, 0]) / np.sqrt(170), abs=1e-6)
    assert embedder.embed_documents(["red"])[0] == pytest.approx(
        np.array([4, 10, 0]) / np.sqrt(116), abs=1e-6
    )


def test_a_changed_file_is_refused_on_loading(tiny_folder: Callable[..., Path]) -> None:
    folder = tiny_folder()
    for name in ("model.onnx", "tokenizer.json"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content + b" ")
        with pytest.raises(ModelCorrupt, match=f"{name} has SHA-256"):
            OnnxEmbedder(folder).load()
        (folder / name).write_bytes(content)
    OnnxEmbedder(folder).load()


def test_a_missing_file_is_named(tiny_folder: Callable[..., Path]) -> None:
    folder = tiny_folder()
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelNotInstalled, match=r"tokenizer\.json is missing"):
        OnnxEmbedder(folder).embed_query("red")


def test_a_static_model_is_not_run_as_a_graph(tmp_path: Path) -> None:
    static = ModelDescription(id="s", kind="static", dimension=3, max_tokens=16, pooling="mean")
    with pytest.raises(InvalidArgument, match="this one is static"):
        OnnxEmbedder(tmp_path, description=static)


def test_a_folder_from_the_hub_needs_no_description(
    tmp_path: Path, tiny_graph: Callable[..., bytes], tiny_tokenizer: bytes
) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(tiny_graph())
    (tmp_path / "tokenizer.json").write_bytes(tiny_tokenizer)
    (tmp_path / "config.json").write_text(json.dumps({"hidden_size": 3, "max_position_embeddings": 64}))
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (tmp_path / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "query "}}))
    embedder = OnnxEmbedder(tmp_path)
    assert embedder.max_tokens == 64
    assert embedder.prompts == Prompts(query="query ")
    assert embedder.embed_query("red") == pytest.approx(np.array([1, 1, 0]) / np.sqrt(2), abs=1e-6)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_named_with_the_line_that_installs_it(
    tiny_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=f"pip install {package}$"):
        OnnxEmbedder(tiny_folder()).load()
