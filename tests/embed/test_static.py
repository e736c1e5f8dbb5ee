import dataclasses
import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.conformance import EmbedderConformance
from memorata.embed.description import ModelDescription
from memorata.embed.port import Embedder
from memorata.embed.static import StaticEmbedder, mean_rows, table_of
from memorata.model.errors import InvalidArgument, ModelCorrupt, ModelNotInstalled


class TestPotion(EmbedderConformance):
    @pytest.fixture
    def embedder(self, potion: StaticEmbedder) -> Embedder:
        return potion

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Alice moved to Lisbon in March.", [0.11669, 0.09639, 0.0139, 0.11666, -0.13463, 0.04694]),
            ("Where does Alice live?", [0.04808, 0.00046, -0.07087, 0.08937, -0.06097, 0.15699]),
            ("日本語の文章です", [0.01807, -0.15288, -0.29635, -0.04728, 0.16473, 0.03707]),
            ("", [0, 0, 0, 0, 0, 0]),
        ],
    )
    def test_vectors_equal_those_of_model2vec(
        self, embedder: Embedder, text: str, expected: list[float]
    ) -> None:
        # Computed with the publisher's own package, model2vec, from the same two files.
        assert embedder.embed_documents([text])[0][:6] == pytest.approx(expected, abs=1e-5)
        assert embedder.embed_query(text)[:6] == pytest.approx(expected, abs=1e-5)


def saved(table: np.typing.NDArray[np.floating], kind: str = "F32", name: str = "embeddings") -> bytes:
    """Return the bytes of a safetensors file with one table."""
    content = table.tobytes()
    facts = {"dtype": kind, "shape": list(table.shape), "data_offsets": [0, len(content)]}
    header = json.dumps({"__metadata__": {"format": "pt"}, name: facts}).encode()
    return struct.pack("<Q", len(header)) + header + content


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8), st.sets(st.integers(0, 9)))
def test_the_mean_leaves_silent_tokens_out(numbers: list[list[int]], quiet: set[int]) -> None:
    table = np.random.default_rng(0).normal(size=(10, 4)).astype(np.float32)
    silent = np.array([number in quiet for number in range(10)])
    for row, read in zip(mean_rows(table, numbers, silent), numbers, strict=True):
        heard = [table[number] for number in read if number not in quiet]
        assert row == pytest.approx(np.mean(heard, axis=0) if heard else np.zeros(4), abs=1e-5)


def test_tables_of_both_precisions_are_read() -> None:
    table = np.array([[1, 2], [3, 4]], dtype=np.float32)
    assert table_of(saved(table)).tolist() == table.tolist()
    assert table_of(saved(table.astype(np.float16), "F16")).tolist() == table.tolist()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x05\x00\x00\x00\x00\x00\x00\x00hello",
        saved(np.ones((2, 2), dtype=np.float32))[:-1],
        saved(np.ones((2, 2), dtype=np.float32), "BF16"),
        saved(np.ones(4, dtype=np.float32)),
        saved(np.ones((2, 2), dtype=np.float32), name="weights"),
        struct.pack("<Q", 2) + b"[]",
    ],
)
def test_a_file_that_is_no_table_is_corrupt(content: bytes) -> None:
    with pytest.raises(ModelCorrupt):
        table_of(content)


@pytest.fixture
def folder(tmp_path: Path, tiny_tokenizer: bytes) -> Path:
    table = np.array([[9, 9]] * 4 + [[3, 0], [0, 4], [1, 1], [0, 0], [0, 0]], dtype=np.float32)
    files = {"model.safetensors": saved(table), "tokenizer.json": tiny_tokenizer}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    description = ModelDescription(
        id="table",
        kind="static",
        dimension=2,
        max_tokens=16,
        pooling="mean",
        files={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
    )
    (tmp_path / "model.toml").write_text(description.as_toml(), encoding="utf-8")
    return tmp_path


def test_a_text_is_the_mean_of_its_known_words(folder: Path) -> None:
    embedder = StaticEmbedder(folder)
    # red (3, 0) and green (0, 4); "what" is unknown and counts for nothing.
    assert embedder.embed_documents(["red what green"])[0] == pytest.approx([0.6, 0.8], abs=1e-6)
    assert embedder.embed_query("what else").tolist() == [0, 0]


def test_a_token_without_a_row_is_the_model_s_fault(folder: Path) -> None:
    # Nine words, and rows for the first six of them.
    (folder / "model.safetensors").write_bytes(saved(np.ones((6, 2), dtype=np.float32)))
    known = StaticEmbedder(folder).description
    embedder = StaticEmbedder(folder, description=dataclasses.replace(known, files={}))
    assert len(embedder.embed_documents(["red", "green"])) == 2
    with pytest.raises(ModelCorrupt, match="tokens that its table has no row for"):
        embedder.embed_documents(["red", "blue"])


def test_a_changed_table_is_refused(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"other")
    with pytest.raises(ModelCorrupt, match="not the pinned"):
        StaticEmbedder(folder).load()


def test_a_graph_is_not_read_as_a_table(folder: Path, tmp_path: Path) -> None:
    graph = dataclasses.replace(StaticEmbedder(folder).description, kind="onnx")
    with pytest.raises(InvalidArgument, match="this one is onnx"):
        StaticEmbedder(folder, description=graph)
    with pytest.raises(ModelNotInstalled):
        StaticEmbedder(tmp_path / "nowhere")
