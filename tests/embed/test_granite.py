import importlib.util
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from memorata.embed.description import package_folder
from memorata.embed.onnx import GRANITE, GRANITE_PACK, GRANITE_PACKAGE, GraniteEmbedder, dequantised, unpacked
from memorata.embed.port import Embedder, Prompts
from memorata.model.errors import MissingExtra, ModelCorrupt, ModelNotInstalled
from memorata.testing import TEXTS, EmbedderConformance


class TestGranite(EmbedderConformance):
    @pytest.fixture
    def embedder(self, granite: GraniteEmbedder) -> Embedder:
        return granite

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Alice moved to Lisbon in March.", [-0.0304, 0.05145, 0.04788, 0.00573, -0.07735, -0.02586]),
            ("Where does Alice live?", [-0.03421, 0.07676, -0.03855, 0.01481, -0.08821, -0.03362]),
            ("日本語の文章です", [0.04362, 0.02703, 0.01965, 0.00502, -0.00512, -0.06436]),
        ],
    )
    def test_vectors_equal_the_pack_s_own(self, embedder: Embedder, text: str, expected: list[float]) -> None:
        # Computed with the pack's own native reader, holographic-memory-py, which shares no code with ours.
        assert embedder.embed_documents([text])[0][:6] == pytest.approx(expected, abs=2e-5)
        assert embedder.embed_query(text)[:6] == pytest.approx(expected, abs=2e-5)

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


def test_the_pack_says_what_we_say() -> None:
    folder = package_folder(GRANITE_PACKAGE)
    assert folder is not None
    content = (folder / GRANITE_PACK).read_bytes()
    (length,) = struct.unpack_from("<Q", content, 8)
    stated = json.loads(content[16 : 16 + length])["meta"]
    ours = GRANITE
    assert stated["model"].endswith(ours.id)
    assert stated["revision"] == ours.revision
    assert stated["license"] == ours.licence
    assert stated["pooling"] == ours.pooling
    assert stated["max_length"] == ours.max_tokens
    assert Prompts(stated["query_prefix"], stated["passage_prefix"]) == ours.prompts


def test_a_changed_pack_is_refused(tmp_path: Path) -> None:
    (tmp_path / GRANITE_PACK).parent.mkdir()
    (tmp_path / GRANITE_PACK).write_bytes(b"HMSEMB01 and something else")
    with pytest.raises(ModelCorrupt, match="not the pinned"):
        GraniteEmbedder(folder=tmp_path).load()
    with pytest.raises(ModelNotInstalled, match="missing"):
        GraniteEmbedder(folder=tmp_path / "nowhere").load()


def test_a_missing_package_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert package_folder(GRANITE_PACKAGE) is None
    with pytest.raises(MissingExtra, match=r"pip install 'memorata\[granite\]'$"):
        GraniteEmbedder()


@pytest.mark.parametrize(
    "content", [b"", b"HMSEMB01", b"PK\x03\x04" + bytes(20), b"HMSEMB01" + struct.pack("<Q", 2) + b"{}"]
)
def test_bytes_that_are_no_pack_are_refused(content: bytes) -> None:
    with pytest.raises(ModelCorrupt, match="pack"):
        unpacked(content)


def test_a_pack_is_read_tensor_by_tensor() -> None:
    words = np.array([[2, -2]], np.int8).tobytes() + np.array([[0.5]], "<f4").tobytes()
    dense = np.array([[1, 2]], np.int8).tobytes() + np.array([[10]], "<f4").tobytes()
    plain = np.array([7, 8], "<f4").tobytes()
    positions = np.arange(8, dtype="<f4").tobytes()
    tensors = [
        {"name": "word_emb", "dtype": "i8", "shape": [1, 2], "len": len(words), "group": 2},
        {"name": "b", "dtype": "f32", "shape": [2], "len": len(plain), "group": 0},
        {"name": "w", "dtype": "i8", "shape": [1, 2], "len": len(dense), "group": 2},
        {"name": "pos_emb", "dtype": "f32", "shape": [4, 2], "len": len(positions), "group": 0},
        {"name": "type_emb", "dtype": "f32", "shape": [1, 2], "len": len(plain), "group": 0},
    ]
    sizes = {"hidden": 2, "layers": 1, "heads": 1, "layer_norm_eps": 1e-5, "position_offset": 2}
    header = json.dumps({"arch": sizes, "tokenizer_len": 3, "tensors": tensors}).encode()
    content = b"HMSEMB01" + struct.pack("<Q", len(header)) + header + b"abc" + words + plain + dense
    tokenizer, weights = unpacked(content + positions + plain)
    assert tokenizer == b"abc"
    # Matrices as the graph multiplies with them; positions from the second on, with the row of their type.
    assert {name: value.tolist() for name, value in weights.items()} == {
        "words": [[2, -2]],
        "word_scales": [[0.5]],
        "b": [7, 8],
        "w": [[10], [20]],
        "places": [[4 + 7, 5 + 8], [6 + 7, 7 + 8]],
    }
    assert all(value.flags.c_contiguous for value in weights.values())


def test_a_scale_belongs_to_its_group_of_columns() -> None:
    values = np.array([[1, 1, 1, 1], [2, 2, 2, 2]], np.int8)
    scales = np.array([[1, 3], [5, 7]], np.float32)
    assert dequantised(values, scales).tolist() == [[1, 1, 3, 3], [10, 10, 14, 14]]
