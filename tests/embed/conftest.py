"""Models for the tests: real ones from the catalogue, and a tiny one that can be worked out by hand."""

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
import tokenizers
from onnx import TensorProto, helper, numpy_helper

from recollect.embed.builtin import BuiltinEmbedder
from recollect.embed.description import ModelDescription
from recollect.embed.install import install
from recollect.embed.onnx import OnnxEmbedder
from recollect.embed.port import Prompts
from recollect.embed.static import StaticEmbedder

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "green", "blue", "query", "passage"]
TABLE = np.array(
    [
        [0, 0, 0],  # [PAD]
        [0, 0, 0],  # [UNK]
        [1, 1, 0],  # [CLS]
        [0, 0, 0],  # [SEP]
        [3, 0, 0],  # red
        [0, 3, 0],  # green
        [0, 0, 3],  # blue
        [9, 0, 0],  # query
        [0, 9, 0],  # passage
    ],
    dtype=np.float32,
)


@pytest.fixture(scope="session")
def models() -> Path:
    """Return the folder of installed models, installing what the tests need if it is missing."""
    folder = Path(os.environ.get("RECOLLECT_MODELS") or Path(sys.prefix) / "models")
    for name in ("arctic-embed-s", "potion-base-8M"):
        install(name, folder)
    return folder


@pytest.fixture(scope="session")
def arctic(models: Path) -> OnnxEmbedder:
    """Return arctic-embed-s, the recommended model."""
    return OnnxEmbedder(models / "arctic-embed-s", threads=2)


@pytest.fixture(scope="session")
def potion(models: Path) -> StaticEmbedder:
    """Return potion-base-8M, the static model."""
    return StaticEmbedder(models / "potion-base-8M")


@pytest.fixture(scope="session")
def granite() -> BuiltinEmbedder:
    """Return the built-in model."""
    return BuiltinEmbedder(threads=2)


@pytest.fixture(scope="session")
def tiny_tokenizer() -> bytes:
    """Return the tokenizer.json of nine words; it asks for truncation and padding, which must be ignored."""
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(WORDS[:4])
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=6)
    return tokenizer.to_str().encode()


@pytest.fixture(scope="session")
def tiny_graph() -> Callable[..., bytes]:
    """Return a maker of graphs that look every token up in TABLE."""

    def make(
        *,
        inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
        output: str = "last_hidden_state",
        width: int = 3,
    ) -> bytes:
        nodes = [helper.make_node("Gather", ["table", "input_ids"], [output])]
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", "tokens", width])],
            [numpy_helper.from_array(TABLE[:, :width], "table")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content

    return make


@pytest.fixture
def tiny_folder(
    tmp_path: Path, tiny_graph: Callable[..., bytes], tiny_tokenizer: bytes
) -> Callable[..., Path]:
    """Return a maker of model folders with a model.toml."""

    def make(*, pooling: str = "mean", prompts: Prompts | None = None, max_tokens: int = 16) -> Path:
        folder = tmp_path / f"tiny-{pooling}"
        folder.mkdir()
        files = {"model.onnx": tiny_graph(), "tokenizer.json": tiny_tokenizer}
        for name, content in files.items():
            (folder / name).write_bytes(content)
        description = ModelDescription(
            id="tiny",
            kind="onnx",
            dimension=3,
            max_tokens=max_tokens,
            pooling=pooling,
            similarity_threshold=0.5,
            licence="CC0-1.0",
            prompts=prompts or Prompts(),
            files={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        )
        (folder / "model.toml").write_text(description.as_toml(), encoding="utf-8")
        return folder

    return make
