"""The graph of the built-in model: a RoBERTa encoder, from token numbers to the state of the first token.

Embeddings of word and position, then layers of self-attention and a two-step feed-forward net, each
followed by a residual sum and layer normalisation (Vaswani et al., 2017; Liu et al., RoBERTa, 2019)::

    attention(X) = softmax(Q Kᵀ / √d + mask) V          Q, K, V = X W + b, per head
    feed(x)      = gelu(x W₁ + b₁) W₂ + b₂              gelu(x) = x/2 · (1 + erf(x / √2))

Only the first token's state is wanted (CLS pooling), so the last layer computes that row alone, which saves a
tenth of the work. The word embeddings stay quantised: only the rows that are read become floats. The weights
are no part of the graph; they are handed over when it is loaded, by the names that are used here.

``python -m tests.embed.granite_graph`` writes the file that the package ships.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SHIPPED = Path(__file__).parents[2] / "src" / "memorata" / "embed" / "granite.onnx"


@dataclass(frozen=True)
class Sizes:
    """The sizes of an encoder; the defaults are granite-embedding-30m-english's."""

    hidden: int = 384
    inner: int = 1536
    layers: int = 6
    heads: int = 12
    words: int = 50_265
    groups: int = 6
    positions: int = 512
    epsilon: float = 1e-12


@dataclass
class Builder:
    """A graph under construction."""

    sizes: Sizes
    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)
    constants: int = 0

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append an operator and return the name of its output."""
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output

    def constant(self, values: Any, dtype: Any = np.int64) -> str:
        """Store a small array in the graph and return its name."""
        name = f"constant_{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def weight(self, name: str, shape: tuple[int, ...], kind: int = TensorProto.FLOAT) -> str:
        """Name an array that is handed over when the graph is loaded."""
        tensor = TensorProto(name=name, dims=shape, data_type=kind, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="memory")
        self.tensors.append(tensor)
        return name

    def linear(self, name: str, state: str, inputs: int, outputs: int) -> str:
        product = self.add("MatMul", state, self.weight(f"{name}.w", (inputs, outputs)))
        return self.add("Add", product, self.weight(f"{name}.b", (outputs,)))

    def normalised(self, name: str, state: str) -> str:
        scale, shift = (self.weight(f"{name}.{part}", (self.sizes.hidden,)) for part in "wb")
        return self.add("LayerNormalization", state, scale, shift, axis=-1, epsilon=self.sizes.epsilon)

    def gelu(self, state: str) -> str:
        half = self.add("Mul", state, self.constant(0.5, np.float32))
        error = self.add("Erf", self.add("Mul", state, self.constant(2**-0.5, np.float32)))
        return self.add("Mul", half, self.add("Add", error, self.constant(1.0, np.float32)))

    def first_row(self, state: str) -> str:
        return self.add("Slice", state, self.constant([0]), self.constant([1]), self.constant([1]))

    def embeddings(self) -> str:
        sizes = self.sizes
        words = self.weight("words", (sizes.words, sizes.hidden), TensorProto.INT8)
        values = self.add("Cast", self.add("Gather", words, "input_ids"), to=1)
        values = self.add("Reshape", values, self.constant([0, 0, sizes.groups, -1]))
        scales = self.add("Gather", self.weight("word_scales", (sizes.words, sizes.groups)), "input_ids")
        values = self.add("Mul", values, self.add("Unsqueeze", scales, self.constant([3])))
        values = self.add("Reshape", values, self.constant([0, 0, sizes.hidden]))
        places = self.weight("places", (sizes.positions, sizes.hidden))
        length = self.add("Shape", "input_ids", start=1, end=2)
        places = self.add("Slice", places, self.constant([0]), length, self.constant([0]))
        return self.normalised("emb_ln", self.add("Add", values, places))

    def attention(self, layer: str, state: str, penalty: str) -> str:
        sizes = self.sizes
        width = sizes.hidden // sizes.heads
        mixed = self.linear(f"{layer}.qkv", state, sizes.hidden, 3 * sizes.hidden)
        mixed = self.add("Reshape", mixed, self.constant([0, 0, 3, sizes.heads, width]))
        picked = [self.add("Gather", mixed, self.constant(which), axis=2) for which in range(3)]
        query = self.add("Transpose", picked[0], perm=[0, 2, 1, 3])
        key = self.add("Transpose", picked[1], perm=[0, 2, 3, 1])
        value = self.add("Transpose", picked[2], perm=[0, 2, 1, 3])
        scores = self.add("Mul", self.add("MatMul", query, key), self.constant(width**-0.5, np.float32))
        weights = self.add("Softmax", self.add("Add", scores, penalty), axis=-1)
        seen = self.add("Transpose", self.add("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self.add("Reshape", seen, self.constant([0, 0, sizes.hidden]))


def encoder(sizes: Sizes) -> Any:
    """Return the model of an encoder of these sizes."""
    build = Builder(sizes)
    state = build.embeddings()
    mask = build.add("Cast", "attention_mask", to=1)
    masked = build.add("Sub", mask, build.constant(1.0, np.float32))
    penalty = build.add("Mul", masked, build.constant(1e9, np.float32))
    penalty = build.add("Unsqueeze", penalty, build.constant([1, 2]))
    for number in range(sizes.layers):
        layer = f"l{number}"
        seen = build.attention(layer, state, penalty)
        if number == sizes.layers - 1:
            seen, state = build.first_row(seen), build.first_row(state)
        seen = build.linear(f"{layer}.ao", seen, sizes.hidden, sizes.hidden)
        state = build.normalised(f"{layer}.aln", build.add("Add", seen, state))
        inner = build.gelu(build.linear(f"{layer}.f1", state, sizes.hidden, sizes.inner))
        fed = build.linear(f"{layer}.f2", inner, sizes.inner, sizes.hidden)
        state = build.normalised(f"{layer}.fln", build.add("Add", fed, state))
    output = build.add("Squeeze", state, build.constant([1]))
    read = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    given = helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", sizes.hidden])
    graph = helper.make_graph(build.nodes, "encoder", read, [given], build.tensors)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


if __name__ == "__main__":
    SHIPPED.write_bytes(encoder(Sizes()).SerializeToString())
