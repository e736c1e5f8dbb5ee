"""The shipped graph is the one that is described, and computes what the textbook says."""

import math
from typing import Any

import numpy as np
import onnx
import pytest
from tests.embed.granite_graph import SHIPPED, Sizes, encoder

from memorata.embed.onnx import OnnxSession, dequantised

SMALL = Sizes(hidden=8, inner=12, layers=2, heads=2, words=11, groups=2, positions=18)


def test_the_shipped_graph_is_the_one_described() -> None:
    shipped = onnx.load(str(SHIPPED), load_external_data=False)
    assert shipped == encoder(Sizes())
    assert SHIPPED.stat().st_size < 20_000


def weights(seed: int) -> dict[str, Any]:
    """Return a random encoder, its matrices as the graph multiplies with them."""
    random = np.random.default_rng(seed)
    made: dict[str, Any] = {}
    for tensor in encoder(SMALL).graph.initializer:
        if not tensor.name.startswith("constant"):
            made[tensor.name] = random.normal(size=tuple(tensor.dims)).astype(np.float32)
    made["words"] = random.integers(-127, 128, size=(SMALL.words, SMALL.hidden), dtype=np.int8)
    made["word_scales"] = np.abs(made["word_scales"]) / 100
    return made


def oracle(made: dict[str, Any], numbers: list[int]) -> Any:
    """Return the first token's state by the textbook: double precision, one text and one head at a time."""
    t = {name: value.astype(np.float64) for name, value in made.items()}

    def norm(x: Any, name: str) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + SMALL.epsilon)
        return centred / spread * t[f"{name}.w"] + t[f"{name}.b"]

    def linear(x: Any, name: str) -> Any:
        return x @ t[f"{name}.w"] + t[f"{name}.b"]

    x = dequantised(made["words"], made["word_scales"])[numbers].astype(np.float64)
    x = norm(x + t["places"][: len(numbers)], "emb_ln")
    for layer in range(SMALL.layers):
        query, key, value = np.split(linear(x, f"l{layer}.qkv"), 3, axis=1)
        heads = []
        for head in range(SMALL.heads):
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
    made = weights(seed)
    session = OnnxSession(encoder(SMALL).SerializeToString(), pooling="cls", initializers=made)
    texts = [[1, 5, 2], [1, 7, 7, 3, 9, 2], [4], [1, 10, 2]]
    # All of them in one padded batch, so that the mask is put to the test as well.
    for row, text in zip(session.forward(texts), texts, strict=True):
        assert row == pytest.approx(oracle(made, text), abs=2e-4)
