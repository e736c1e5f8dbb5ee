import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memorata.embed.description import ModelDescription, read_description
from memorata.embed.onnx import OnnxEmbedder
from memorata.embed.port import Prompts, Vectors
from memorata.embed.token_embedder import Loaded, TokenEmbedder
from memorata.embed.tokens import Tokens
from memorata.model.errors import DimensionMismatch, EmbedderError

TINY = ModelDescription(id="tiny", kind="onnx", dimension=3, max_tokens=16, pooling="mean")


class Fixed(TokenEmbedder):
    """Gives the rows it was told to, and counts how often it was loaded."""

    def __init__(self, tokenizer: bytes, rows: Vectors) -> None:
        super().__init__(TINY)
        self.loads = 0
        self._tokenizer = tokenizer
        self._rows = rows

    def _load(self) -> Loaded:
        time.sleep(0.02)
        self.loads += 1
        return Loaded(Tokens(self._tokenizer), lambda numbers: np.repeat(self._rows, len(numbers), axis=0))


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
    class Swelling(Tokens):
        """A part of a text has ten tokens more than its words, as if cutting had broken them up."""

        def numbers(self, texts: list[str]) -> list[list[int]]:  # type: ignore[override]
            return [
                row + [1] * 10 * ("whole" not in text)
                for row, text in zip(super().numbers(texts), texts, strict=True)
            ]

    class Swollen(Fixed):
        def _load(self) -> Loaded:
            return Loaded(Swelling(self._tokenizer), super()._load().forward)

    embedder = Swollen(tiny_tokenizer, np.ones((1, 3), dtype=np.float32))
    passages = embedder.passages("whole " + " ".join(f"w{number}" for number in range(40)))
    assert len(passages) > 10
    assert all(len(passage.split()) + 2 + 10 <= 16 for passage in passages if "whole" not in passage)
    assert {word for passage in passages for word in passage.split()} >= {
        f"w{number}" for number in range(40)
    }
