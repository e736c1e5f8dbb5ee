import dataclasses
import hashlib
import json
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.description import ModelDescription
from memorata.embed.port import Embedder, Prompts, Vectors
from memorata.embed.token_embedder import LoadedModel, TokenEmbedder
from memorata.model.errors import (
    DimensionMismatch,
    EmbedderError,
    InvalidArgument,
    ModelCorrupt,
    ModelNotInstalled,
)
from memorata.testing import EmbedderConformance
from memorata_models.description import as_toml, read_description
from memorata_models.onnx import OnnxEmbedder
from memorata_models.static import StaticEmbedder, mean_rows, table_of
from memorata_models.tokens import LibraryTokeniser

TINY = ModelDescription(id="tiny", kind="onnx", dimension=3, max_tokens=16, pooling="mean")


class Fixed(TokenEmbedder):
    """Gives the rows it was told to, and counts how often it was loaded."""

    def __init__(self, tokenizer: bytes, rows: Vectors) -> None:
        super().__init__(TINY, self.loaded)
        self.loads = 0
        self._tokenizer = tokenizer
        self._rows = rows

    def loaded(self) -> LoadedModel:
        time.sleep(0.02)
        self.loads += 1
        return LoadedModel(
            LibraryTokeniser(self._tokenizer), lambda numbers: np.repeat(self._rows, len(numbers), axis=0)
        )


def test_the_model_is_loaded_once_and_only_when_needed(tiny_tokenizer: bytes) -> None:
    embedder = Fixed(tiny_tokenizer, np.ones((1, 3), dtype=np.float32))
    assert (embedder.name, embedder.dimension, embedder.loads) == (TINY.name, 3, 0)
    threads = [threading.Thread(target=embedder.embed_query, args=("red",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    embedder.load()
    assert embedder.loads == 1


def test_a_prompt_that_leaves_no_room_is_refused(tiny_tokenizer: bytes) -> None:
    long = Prompts(query="red " * 20, document="blue " * 9)
    embedder = Fixed(tiny_tokenizer, np.ones((1, 3), dtype=np.float32)).prompted(long)
    for text in ("", "red", "green " * 30):
        with pytest.raises(EmbedderError, match=r"a prompt of 22 tokens leaves too few of the 16 that tiny@"):
            embedder.embed_query(text)
    assert embedder.embed_documents(["red"]).shape == (1, 3)
    for call in (embedder.passages, lambda text: embedder.embed_documents([text])):
        with pytest.raises(EmbedderError, match="a prompt of 11 tokens"):
            call("green " * 30)


def test_a_model_of_another_width_is_refused(tiny_tokenizer: bytes) -> None:
    embedder = Fixed(tiny_tokenizer, np.ones((1, 4), dtype=np.float32))
    with pytest.raises(DimensionMismatch, match="4 dimensions where 3 were expected"):
        embedder.embed_documents(["red"])


def test_a_vector_that_is_not_finite_is_refused(tiny_tokenizer: bytes) -> None:
    embedder = Fixed(tiny_tokenizer, np.array([[1, np.nan, 0]], dtype=np.float32))
    with pytest.raises(EmbedderError, match="NaN or infinity"):
        embedder.embed_query("red")


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_a_text_without_a_single_token_has_no_direction(
    tiny_folder: Callable[..., Path], tiny_tokenizer: bytes, pooling: str
) -> None:
    folder = tiny_folder(pooling=pooling)
    bare = json.loads(tiny_tokenizer) | {"post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(bare), encoding="utf-8")
    digest = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    known = read_description(folder)
    files = {**known.files, "tokenizer.json": digest}
    embedder = OnnxEmbedder(folder, description=replace(known, files=files))
    assert embedder.embed_documents(["", "red", " "]).tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert embedder.embed_query("").tolist() == [0, 0, 0]


def test_passages_hold_as_many_tokens_as_the_model_reads(tiny_folder: Callable[..., Path]) -> None:
    embedder = OnnxEmbedder(tiny_folder(max_tokens=16))
    # 16 tokens less [CLS] and [SEP] leave 14; an eighth of them, 1, is repeated.
    colours = ["red", "green", "blue"]
    words = [colours[place % 3] for place in range(30)]
    assert embedder.passages(" ".join(words[:14])) == [" ".join(words[:14])]
    assert embedder.passages(" ".join(words)) == [
        " ".join(words[:14]),
        " ".join(words[13:27]),
        " ".join(words[26:]),
    ]


def test_the_prompt_takes_its_place_in_every_passage(tiny_folder: Callable[..., Path]) -> None:
    embedder = OnnxEmbedder(tiny_folder(prompts=Prompts(query="query ", document="passage ")))
    passages = embedder.passages(" ".join(["red"] * 20))
    assert [len(passage.split()) for passage in passages] == [13, 8]


def test_a_long_text_is_the_unit_mean_of_its_passages(tiny_folder: Callable[..., Path]) -> None:
    embedder = OnnxEmbedder(tiny_folder())
    long = " ".join(["red"] * 14 + ["blue"] * 13)
    first, second = embedder.embed_passages([long])[0]
    # The first passage: [CLS] (1, 1, 0), fourteen reds (3, 0, 0), [SEP].
    assert first == pytest.approx(np.array([43, 1, 0]) / np.hypot(43, 1), abs=1e-6)
    # The second repeats one red: [CLS], red, thirteen blues (0, 0, 3), [SEP].
    assert second == pytest.approx(np.array([4, 1, 39]) / np.sqrt(16 + 1 + 39**2), abs=1e-6)
    mean = (first + second) / 2
    assert embedder.embed_documents([long])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert embedder.embed_query(long) == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_word_with_more_tokens_apart_than_whole_is_cut_smaller(tiny_tokenizer: bytes) -> None:
    class Swelling(LibraryTokeniser):
        """A part of a text has ten tokens more than its words, as if cutting had broken them up."""

        def ids(self, texts: list[str]) -> list[list[int]]:  # type: ignore[override]
            return [
                row + [1] * 10 * ("whole" not in text)
                for row, text in zip(super().ids(texts), texts, strict=True)
            ]

    class Swollen(Fixed):
        def loaded(self) -> LoadedModel:
            return LoadedModel(Swelling(self._tokenizer), super().loaded().forward)

    embedder = Swollen(tiny_tokenizer, np.ones((1, 3), dtype=np.float32))
    passages = embedder.passages("whole " + " ".join(f"w{number}" for number in range(40)))
    assert len(passages) > 10
    assert all(len(passage.split()) + 2 + 10 <= 16 for passage in passages if "whole" not in passage)
    assert {word for passage in passages for word in passage.split()} >= {
        f"w{number}" for number in range(40)
    }


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
    (tmp_path / "model.toml").write_text(as_toml(description), encoding="utf-8")
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
