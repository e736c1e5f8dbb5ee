"""The encoder of n-grams against a slow one, and its tokeniser of a small model of SentencePiece."""

from __future__ import annotations

import hashlib
import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.description import ModelDescription
from memorata.embed.ngram_encoder import WINDOWS, NgramEmbedder, NgramEncoder
from memorata.embed.tokens import sentencepiece_tokeniser
from memorata.model.errors import InvalidArgument, ModelCorrupt

MARKS = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
PLAIN = {"▁tea": -1.0, "▁green": -1.0, "绿": -2.0, "茶": -2.0, "绿茶": -3.0, "▁": -4.0}
PIECES = [*MARKS, *((text, score, 1) for text, score in PLAIN.items())]
DIMENSION, WIDTH, OUT = 6, 4, 5


def field(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def sentencepiece_file() -> bytes:
    pieces = b""
    for text, score, kind in PIECES:
        piece = field(1, text.encode()) + b"\x15" + struct.pack("<f", score)
        pieces += field(1, piece + (b"" if kind == 1 else bytes([3 << 3, kind])))
    return pieces + field(2, b"\x18\x01")


def layers() -> dict[str, npt.NDArray[Any]]:
    random = np.random.default_rng(3)

    def drawn(*shape: int) -> npt.NDArray[np.float32]:
        return (0.5 * random.normal(size=shape)).astype(np.float32)

    made: dict[str, npt.NDArray[Any]] = {
        f"q{part}": random.integers(0, 64, (5, DIMENSION), np.uint8) for part in (1, 2)
    }
    made |= {"scale": np.array([0.1, 0.2], np.float32), "lo": np.array([-3, -6], np.float32)}
    for size in WINDOWS:
        made |= {f"proj{size}": drawn(DIMENSION, WIDTH)}
        made |= {f"{name}{size}": drawn(WIDTH) for name in ("proj_b", "ln_g", "ln_b", "b1_", "b2_")}
        made |= {f"w{step}_{size}": drawn(size * WIDTH, WIDTH) for step in (1, 2)}
    features = DIMENSION + len(WINDOWS) * WIDTH
    made |= {"ln_g": drawn(features), "ln_b": drawn(features), "cnn_W": drawn(features, 8), "cnn_b": drawn(8)}
    made |= {"d0": drawn(8, 12), "d1": drawn(12, 12), "p1": drawn(8, 12), "d2": drawn(12, 4)}
    return made | {"p3": drawn(12, OUT), "d3": drawn(4, OUT), "eps": np.array(1e-3)}


def stored(made: dict[str, npt.NDArray[Any]]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **made)  # type: ignore[arg-type]
    return file.getvalue()


def slow(made: dict[str, npt.NDArray[Any]], tokens: list[int]) -> npt.NDArray[np.float64]:
    """Token by token, as the layers are described, with float64."""

    def normalised(row: npt.NDArray[Any], gain: npt.NDArray[Any], shift: npt.NDArray[Any]) -> Any:
        return (row - row.mean()) / np.sqrt(row.var() + made["eps"]) * gain + shift

    read = [made[f"q{t % 2 + 1}"][t // 2] * made["scale"][t % 2] + made["lo"][t % 2] for t in tokens]
    joined = {
        name: np.concatenate([made[f"{name}{size}"] for size in WINDOWS], axis=-1)
        for name in ("proj", "proj_b", "ln_g", "ln_b")
    }
    states = [
        normalised(row @ joined["proj"] + joined["proj_b"], joined["ln_g"], joined["ln_b"]) for row in read
    ]
    features = [[row] for row in read]
    for number, (size, before) in enumerate(WINDOWS.items()):
        own = [row[number * WIDTH : (number + 1) * WIDTH] for row in states]
        for step in (1, 2):
            nothing = [np.zeros(WIDTH)]
            around = nothing * before + own + nothing * (size - 1 - before)
            own = [
                np.maximum(
                    np.concatenate(around[at : at + size]) @ made[f"w{step}_{size}"]
                    + made[f"b{step}_{size}"],
                    0,
                )
                + own[at]
                for at in range(len(tokens))
            ]
        for listed, row in zip(features, own, strict=True):
            listed.append(row)
    text = sum(
        normalised(np.concatenate(rows), made["ln_g"], made["ln_b"]) @ made["cnn_W"] + made["cnn_b"]
        for rows in features
    ) / np.sqrt(len(tokens))
    first = np.maximum(text @ made["d0"], 0)
    second = np.maximum(text @ made["p1"] + first @ made["d1"], 0)
    last: npt.NDArray[np.float64] = np.tanh(
        second @ made["p3"] + np.maximum(second @ made["d2"], 0) @ made["d3"]
    )
    return last


def test_all_texts_at_once_are_as_token_by_token() -> None:
    made = layers()
    texts = [[1, 2], [1, 3, 4, 5, 2], [1, 9, 2], [7] * 9]
    expected = np.stack([slow(made, text) for text in texts])
    np.testing.assert_allclose(NgramEncoder(stored(made)).forward(texts), expected, atol=1e-4)


def test_marks_stand_around_a_text_and_cannot_be_written() -> None:
    tokens, scores = sentencepiece_tokeniser(sentencepiece_file())
    assert scores[[0, 3, 8]].tolist() == [0.0, -1.0, -4.0]
    assert tokens.special_count == 2
    assert tokens.ids(["green  tea", "", "绿茶"]) == [[1, 4, 3, 2], [1, 2], [1, 8, 7, 2]]
    assert tokens.ids(["<s>"])[0][1:-1] == [8, 0]
    # Characters are read in their compatible form, and those that cannot be seen are not read.
    assert tokens.ids(["ｔｅａ", "te\u200ba", "\u200b"]) == [[1, 3, 2], [1, 3, 2], [1, 2]]


@given(st.text(alphabet="tea grn绿茶x", max_size=20))
def test_pieces_are_those_that_the_library_finds(text: str) -> None:
    library = pytest.importorskip("tokenizers")
    unigram = library.models.Unigram(
        [(piece or "\0", score) for piece, score, _ in PIECES], 0, byte_fallback=False
    )
    theirs = library.Tokenizer(unigram)
    theirs.pre_tokenizer = library.pre_tokenizers.Sequence(
        [library.pre_tokenizers.WhitespaceSplit(), library.pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    ours = sentencepiece_tokeniser(sentencepiece_file())[0].ids([text])[0][1:-1]
    assert ours == theirs.encode(text).ids


def test_it_embeds_from_a_folder(tmp_path: Path) -> None:
    contents = {"weights.npz": stored(layers()), "sp.model": sentencepiece_file()}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    files = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    description = ModelDescription(
        id="tiny", kind="ngrams", dimension=OUT, max_tokens=16, pooling="mean", files=files
    )
    embedder = NgramEmbedder(tmp_path, description)
    alone, (other, together) = (
        embedder.embed_query("green tea"),
        embedder.embed_documents(["tea", "green tea"]),
    )
    np.testing.assert_allclose(alone, together, atol=1e-6)
    assert np.linalg.norm(alone) == pytest.approx(1)
    assert not np.allclose(alone, other)
    assert embedder.embed_passages(["green tea " * 40])[0].shape[0] > 1
    with pytest.raises(InvalidArgument, match="n-grams"):
        NgramEmbedder(
            tmp_path,
            ModelDescription(id="x", kind="onnx", dimension=2, max_tokens=16, pooling="cls"),
        )


@pytest.mark.parametrize("content", [b"", b"\x0a", b"no archive", stored({"q1": np.zeros((2, 2), np.uint8)})])
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(ModelCorrupt):
        NgramEncoder(content)
    with pytest.raises(ModelCorrupt):
        sentencepiece_tokeniser(content)


def test_a_token_without_a_row_is_refused() -> None:
    with pytest.raises(ModelCorrupt, match="no row"):
        NgramEncoder(stored(layers())).forward([[99]])
