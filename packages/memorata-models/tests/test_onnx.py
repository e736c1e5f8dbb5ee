import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from memorata.embed.description import ModelDescription
from memorata.embed.port import Embedder, Prompts, Vectors
from memorata.model.errors import (
    EmbedderError,
    InvalidArgument,
    ModelCorrupt,
    ModelNotInstalled,
)
from memorata.testing import ODD, TEXTS, EmbedderConformance
from memorata_models.onnx import OnnxEmbedder, OnnxSession, padded, pooled

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

    @pytest.mark.untraced
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


ROWS = [[2, 4, 3], [2, 3], [2, 5, 6, 4, 3], [2, 6, 3]]


@given(st.integers(1, 4), st.integers(1, 6), st.data())
def test_the_mean_leaves_padding_out(rows: int, tokens: int, data: st.DataObject) -> None:
    lengths = [data.draw(st.integers(1, tokens)) for _ in range(rows)]
    states = np.random.default_rng(0).normal(size=(rows, tokens, 5)).astype(np.float32)
    mask = np.array([[1] * length + [0] * (tokens - length) for length in lengths])
    found = pooled(states, mask, "mean")
    for row, length in enumerate(lengths):
        assert found[row] == pytest.approx(states[row, :length].mean(axis=0), abs=1e-5)


def test_a_batch_comes_back_in_the_order_given(tiny_graph: Callable[..., bytes]) -> None:
    for threads in (1, 3):
        session = OnnxSession(tiny_graph(), pooling="mean", threads=threads)
        together = session.forward(ROWS * 20)
        alone = [session.forward([row])[0] for row in ROWS]
        assert np.allclose(together, np.stack(alone * 20), atol=1e-6)


def test_inputs_are_fed_by_name(tiny_graph: Callable[..., bytes]) -> None:
    names = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
    session = OnnxSession(tiny_graph(inputs=names), pooling="cls")
    assert session.forward([[4, 3]]).tolist() == [[3, 0, 0]]
    assert OnnxSession(tiny_graph(inputs=("input_ids",)), pooling="cls").forward([[5]]).tolist() == [
        [0, 3, 0]
    ]


def second_halves() -> bytes:
    """Return a graph that gives for each text the numbers and the types of its tokens, summed."""
    inputs = ("input_ids", "token_type_ids")
    graph = helper.make_graph(
        [
            *(helper.make_node("Cast", [name], [f"{name} float"], to=TensorProto.FLOAT) for name in inputs),
            *(
                helper.make_node("ReduceSum", [f"{name} float", "axis"], [f"{name} sum"], keepdims=1)
                for name in inputs
            ),
            helper.make_node("Concat", [f"{name} sum" for name in inputs], ["logits"], axis=1),
            helper.make_node("Identity", ["input_ids float"], ["last_hidden_state"]),
        ],
        "sums",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in inputs],
        [
            helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "t"]),
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", 2]),
        ],
        [helper.make_tensor("axis", TensorProto.INT64, [1], [1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


def test_without_pooling_the_logits_are_the_rows_and_types_reach_the_graph() -> None:
    session = OnnxSession(second_halves(), pooling=None)
    types = [[0, 0, 1], [0, 1], [0, 1, 1, 1, 1], [0, 0, 0]]
    assert session.forward(ROWS, types).tolist() == [[9, 1], [5, 1], [20, 4], [11, 0]]
    assert session.forward(ROWS[:1]).tolist() == [[9, 0]]


def test_without_pooling_a_graph_of_token_vectors_is_refused(tiny_graph: Callable[..., bytes]) -> None:
    with pytest.raises(ModelCorrupt, match="not one row per text"):
        OnnxSession(tiny_graph(), pooling=None).forward([[4]])


def test_an_input_nobody_knows_is_named(tiny_graph: Callable[..., bytes]) -> None:
    with pytest.raises(ModelCorrupt, match="'pixel_values'"):
        OnnxSession(tiny_graph(inputs=("input_ids", "pixel_values")), pooling="cls")


def test_token_states_are_preferred_to_other_outputs() -> None:
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["input_ids"], ["other"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["other", "axis"], ["token_embeddings"]),
        ],
        "two",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["b", "t"])],
        [
            helper.make_tensor_value_info("other", TensorProto.FLOAT, ["b", "t"]),
            helper.make_tensor_value_info("token_embeddings", TensorProto.FLOAT, ["b", "t", 1]),
        ],
        [helper.make_tensor("axis", TensorProto.INT64, [1], [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    # The input is int32 here, and the mean is over the tokens of each row.
    assert OnnxSession(model.SerializeToString(), pooling="mean").forward([[2, 4]]).tolist() == [[3]]


def test_an_output_of_one_row_per_text_is_taken_as_it_is() -> None:
    graph = helper.make_graph(
        [helper.make_node("Cast", ["input_ids"], ["sentence_embedding"], to=TensorProto.FLOAT)],
        "pooled",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "t"])],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["b", "t"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert OnnxSession(model.SerializeToString(), pooling="mean").forward([[2, 4]]).tolist() == [[2, 4]]


def dynamically_quantised() -> bytes:
    """Return a graph that rounds its input to 255 steps of the largest value in the batch."""
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["input_ids"], ["floats"], to=TensorProto.FLOAT),
            helper.make_node("DynamicQuantizeLinear", ["floats"], ["bytes", "scale", "zero"]),
            helper.make_node("DequantizeLinear", ["bytes", "scale", "zero"], ["rounded"]),
            helper.make_node("Unsqueeze", ["rounded", "axis"], ["last_hidden_state"]),
        ],
        "quantised",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["b", "t"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["b", "t", 1])],
        [helper.make_tensor("axis", TensorProto.INT64, [1], [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = model.SerializeToString()
    return content


def test_a_text_in_a_quantised_batch_is_not_rounded_to_its_neighbours() -> None:
    session = OnnxSession(dynamically_quantised(), pooling="cls")
    # In steps of 100,000/255 = 392 a 3 would be rounded to 0.
    assert session.forward([[3], [100_000]])[0] == pytest.approx([3])


def averaging(inputs: tuple[str, ...], *, each: bool) -> bytes:
    """Return a graph of the mean of the token numbers: of a text, added to its tokens, or of the batch."""
    node = helper.make_node
    nodes = [
        node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["numbers", "last"], ["tokens"]),
        node("ReduceMean", ["tokens"], ["mean"], axes=[1] if each else [0, 1], keepdims=1),
        node("Add", ["tokens", "mean"], ["found"]) if each else node("Identity", ["mean"], ["found"]),
    ]
    graph = helper.make_graph(
        nodes,
        "averaging",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("found", TensorProto.FLOAT, ["batch", "tokens", 1])],
        [numpy_helper.from_array(np.array([2]), "last")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    content: bytes = model.SerializeToString()
    return content


def test_a_graph_that_is_not_told_what_is_padding_is_given_none() -> None:
    session = OnnxSession(averaging(("input_ids",), each=True), pooling="mean", threads=2)
    texts = [[8], [1, 2, 3, 4], [6, 2]]
    assert session.forward(texts).tolist() == [[16.0], [5.0], [8.0]]
    assert [session.forward([text])[0, 0] for text in texts] == [16.0, 5.0, 8.0]


@pytest.mark.parametrize("pooling", ["mean", "cls", None])
def test_an_output_that_is_not_one_row_per_text_or_token_is_refused(pooling: str | None) -> None:
    session = OnnxSession(averaging(("input_ids", "attention_mask"), each=False), pooling=pooling)
    with pytest.raises(ModelCorrupt, match=r"shape \(1, 1, 1\), not one row per text"):
        session.forward([[8], [1, 2]])


def test_a_graph_that_cannot_be_loaded_is_corrupt() -> None:
    with pytest.raises(ModelCorrupt, match="cannot be loaded"):
        OnnxSession(b"not a graph", pooling="cls")


def test_a_graph_that_cannot_run_says_so(tiny_graph: Callable[..., bytes]) -> None:
    session = OnnxSession(tiny_graph(), pooling="cls")
    with pytest.raises(EmbedderError, match="could not read a text of 1 tokens"):
        session.forward([[99]])


@pytest.mark.parametrize("threads", [0, -1, 1.5])
def test_threads_are_counted(tiny_graph: Callable[..., bytes], threads: int) -> None:
    with pytest.raises(InvalidArgument, match="threads"):
        OnnxSession(tiny_graph(), pooling="cls", threads=threads)


_EMBEDDING = """
import sys, time
import memorata
with memorata.open(sys.argv[1], embedder="arctic-embed-s") as memory:
    memory.remember("Anna prefers green tea")
    assert memory.recall("What does Anna drink?").hits
# What is told is told from a thread of its own.
time.sleep(1)
"""


def test_the_runtime_leaves_nothing_behind_and_tells_nobody(tmp_path: Path, models: Path) -> None:
    """Since 1.31 onnxruntime writes an identifier into the user's folders, and reports to its makers."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_"))}
    subprocess.run(
        [sys.executable, "-c", _EMBEDDING, str(tmp_path / "m.db")],
        env=kept | {"MEMORATA_MODELS": str(models), "HOME": str(home), "USERPROFILE": str(home)},
        check=True,
    )
    assert [path for path in home.rglob("*") if "onnxruntime" in path.name.lower()] == []


@given(st.lists(st.lists(st.integers(1, 9), max_size=5), min_size=1, max_size=6))
def test_padding_is_told_apart_by_the_mask(rows: list[list[int]]) -> None:
    numbers, mask = padded(rows, padding=0)
    assert numbers.dtype == mask.dtype == np.int64
    assert [[n for n, m in zip(*pair, strict=True) if m] for pair in zip(numbers, mask, strict=True)] == rows
    assert (numbers[mask == 0] == 0).all()
