import math
from typing import Any

import numpy as np
import pytest

from memorata.embed.onnx import OnnxSession
from memorata.embed.roberta import Quantised, Shape, encoder

SHAPE = Shape(hidden=8, layers=2, heads=2, epsilon=1e-12, first_position=2)
VOCABULARY, INNER, POSITIONS = 11, 12, 20


def weights(seed: int) -> tuple[Quantised, dict[str, Any]]:
    """Return a random encoder."""
    random = np.random.default_rng(seed)

    def numbers(*shape: int) -> Any:
        return random.normal(size=shape).astype(np.float32)

    words = Quantised(
        random.integers(-127, 128, size=(VOCABULARY, SHAPE.hidden), dtype=np.int8),
        np.abs(numbers(VOCABULARY, 2)) / 100,
    )
    tensors = {"pos_emb": numbers(POSITIONS, SHAPE.hidden), "type_emb": numbers(2, SHAPE.hidden)}
    sizes = {"qkv": (24, 8), "ao": (8, 8), "f1": (INNER, 8), "f2": (8, INNER), "aln": (8,), "fln": (8,)}
    named = {f"l{layer}.{name}": size for layer in range(SHAPE.layers) for name, size in sizes.items()}
    for name, size in {"emb_ln": (8,), **named}.items():
        tensors[f"{name}.w"] = numbers(*size)
        tensors[f"{name}.b"] = numbers(size[0])
    return words, tensors


def oracle(words: Quantised, tensors: dict[str, Any], numbers: list[int]) -> Any:
    """Return the first token's state by the textbook: double precision, one text and one head at a time."""
    t = {name: value.astype(np.float64) for name, value in tensors.items()}

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + SHAPE.epsilon)
        return centred / spread * t[f"{name}.w"] + t[f"{name}.b"]

    def linear(x: Any, name: str) -> Any:
        return x @ t[f"{name}.w"].T + t[f"{name}.b"]

    x = words.floats()[numbers].astype(np.float64)
    x = norm(x + t["pos_emb"][2 : 2 + len(numbers)] + t["type_emb"][0], "emb_ln")
    for layer in range(SHAPE.layers):
        query, key, value = np.split(linear(x, f"l{layer}.qkv"), 3, axis=1)
        heads = []
        for head in range(SHAPE.heads):
            part = slice(head * 4, head * 4 + 4)
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(4))
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ value[:, part])
        x = norm(x + linear(np.concatenate(heads, axis=1), f"l{layer}.ao"), f"l{layer}.aln")
        inner = linear(x, f"l{layer}.f1")
        gelu = inner / 2 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + linear(gelu, f"l{layer}.f2"), f"l{layer}.fln")
    return x[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_graph_computes_what_the_textbook_says(seed: int) -> None:
    words, tensors = weights(seed)
    model, arrays = encoder(SHAPE, words, tensors)
    session = OnnxSession(model, pooling="cls", initializers=arrays)
    texts = [[1, 5, 2], [1, 7, 7, 3, 9, 2], [4], [1, 10, 2]]
    # All of them in one padded batch, so that the mask is put to the test as well.
    for row, text in zip(session.forward(texts), texts, strict=True):
        assert row == pytest.approx(oracle(words, tensors, text), abs=2e-4)


def test_a_scale_belongs_to_its_group_of_columns() -> None:
    matrix = Quantised(
        np.array([[1, 1, 1, 1], [2, 2, 2, 2]], np.int8), np.array([[1, 3], [5, 7]], np.float32)
    )
    assert matrix.floats().tolist() == [[1, 1, 3, 3], [10, 10, 14, 14]]
