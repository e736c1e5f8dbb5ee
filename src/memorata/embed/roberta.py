"""The RoBERTa sentence encoder as a graph: from token numbers to the state of the first token.

Embeddings of word and position, then layers of self-attention and a two-step feed-forward net, each
followed by a residual sum and layer normalisation (Vaswani et al., 2017; Liu et al., RoBERTa, 2019)::

    attention(X) = softmax(Q Kᵀ / √d + mask) V          Q, K, V = X W + b, per head
    feed(x)      = gelu(x W₁ + b₁) W₂ + b₂              gelu(x) = x/2 · (1 + erf(x / √2))

Only the first token's state is wanted (CLS pooling), so the last layer computes that row alone, which saves a
tenth of the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.embed.graph import INT64, Graph
from memorata.embed.port import Vectors

Weights: TypeAlias = dict[str, npt.NDArray[Any]]
_MASKED = 1e9


@frozen
class Quantised:
    """A matrix as bytes with one scale for each group of columns: ``value = bytes · scale``."""

    values: npt.NDArray[np.int8]
    scales: Vectors

    def floats(self) -> Vectors:
        """Return the matrix itself.

        Examples
        --------
        >>> Quantised(np.array([[1, 2, 3, 4]], np.int8), np.array([[0.5, 10]], np.float32)).floats()
        array([[ 0.5,  1. , 30. , 40. ]], dtype=float32)
        """
        rows, groups = self.scales.shape
        grouped = self.values.reshape(rows, groups, -1).astype(np.float32)
        return (grouped * self.scales[:, :, None]).reshape(self.values.shape)


@frozen
class Shape:
    """The sizes of an encoder."""

    hidden: int
    layers: int
    heads: int
    epsilon: float
    first_position: int


def encoder(shape: Shape, words: Quantised, tensors: Mapping[str, Vectors]) -> tuple[bytes, Weights]:
    """Return the graph of an encoder and the weights to load it with.

    Parameters
    ----------
    shape
        The encoder's sizes.
    words
        The word embeddings, which stay quantised: only the rows that are read become floats.
    tensors
        The other weights, matrices as ``(outputs, inputs)``: ``pos_emb``, ``type_emb``, ``emb_ln.w|b``, and
        for each layer ``lN.`` the attention (``qkv``, ``ao``), its norm (``aln``), the feed-forward net
        (``f1``, ``f2``) and its norm (``fln``), each with ``.w`` and ``.b``.
    """
    graph = Graph()
    state = _embeddings(graph, shape, words, tensors)
    mask = graph.add("Cast", "attention_mask", to=1)
    penalty = graph.add("Mul", graph.add("Sub", mask, _scalar(graph, 1.0)), _scalar(graph, _MASKED))
    penalty = graph.add("Unsqueeze", penalty, _integers(graph, 1, 2))
    for layer in range(shape.layers):
        heard = _attention(graph, shape, tensors, f"l{layer}", state, penalty)
        if layer == shape.layers - 1:
            heard, state = _first_row(graph, heard), _first_row(graph, state)
        heard = _linear(graph, tensors, f"l{layer}.ao", heard)
        state = _normalised(graph, shape, tensors, f"l{layer}.aln", graph.add("Add", heard, state))
        fed = _linear(
            graph, tensors, f"l{layer}.f2", _gelu(graph, _linear(graph, tensors, f"l{layer}.f1", state))
        )
        state = _normalised(graph, shape, tensors, f"l{layer}.fln", graph.add("Add", fed, state))
    output = graph.add("Squeeze", state, _integers(graph, 1))
    read = (INT64, ("batch", "tokens"))
    inputs = {"input_ids": read, "attention_mask": read}
    model = graph.model(inputs=inputs, output=output, output_shape=["batch", shape.hidden])
    return model, graph.weights


def _embeddings(graph: Graph, shape: Shape, words: Quantised, tensors: Mapping[str, Vectors]) -> str:
    groups = words.scales.shape[1]
    values = graph.add("Cast", graph.add("Gather", graph.weight("words", words.values), "input_ids"), to=1)
    values = graph.add("Reshape", values, _integers(graph, 0, 0, groups, -1))
    scales = graph.add("Gather", graph.weight("word_scales", words.scales), "input_ids")
    values = graph.add("Mul", values, graph.add("Unsqueeze", scales, _integers(graph, 3)))
    values = graph.add("Reshape", values, _integers(graph, 0, 0, shape.hidden))
    # Every token is of type 0, so its type's row is the same everywhere and joins the positions.
    places = graph.weight("places", tensors["pos_emb"][shape.first_position :] + tensors["type_emb"][0])
    length = graph.add("Shape", "input_ids", start=1, end=2)
    places = graph.add("Slice", places, _integers(graph, 0), length, _integers(graph, 0))
    return _normalised(graph, shape, tensors, "emb_ln", graph.add("Add", values, places))


def _attention(
    graph: Graph, shape: Shape, tensors: Mapping[str, Vectors], layer: str, state: str, penalty: str
) -> str:
    width = shape.hidden // shape.heads
    mixed = _linear(graph, tensors, f"{layer}.qkv", state)
    mixed = graph.add("Reshape", mixed, _integers(graph, 0, 0, 3, shape.heads, width))
    picked = [graph.add("Gather", mixed, graph.constant(np.array(which)), axis=2) for which in range(3)]
    query = graph.add("Transpose", picked[0], perm=[0, 2, 1, 3])
    key = graph.add("Transpose", picked[1], perm=[0, 2, 3, 1])
    value = graph.add("Transpose", picked[2], perm=[0, 2, 1, 3])
    scores = graph.add("Mul", graph.add("MatMul", query, key), _scalar(graph, width**-0.5))
    weights = graph.add("Softmax", graph.add("Add", scores, penalty), axis=-1)
    heard = graph.add("Transpose", graph.add("MatMul", weights, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", heard, _integers(graph, 0, 0, shape.hidden))


def _linear(graph: Graph, tensors: Mapping[str, Vectors], name: str, state: str) -> str:
    product = graph.add("MatMul", state, graph.weight(f"{name}.w", tensors[f"{name}.w"].T))
    return graph.add("Add", product, graph.weight(f"{name}.b", tensors[f"{name}.b"]))


def _normalised(graph: Graph, shape: Shape, tensors: Mapping[str, Vectors], name: str, state: str) -> str:
    scale, shift = (graph.weight(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in "wb")
    return graph.add("LayerNormalization", state, scale, shift, axis=-1, epsilon=shape.epsilon)


def _gelu(graph: Graph, state: str) -> str:
    half = graph.add("Mul", state, _scalar(graph, 0.5))
    error = graph.add("Erf", graph.add("Mul", state, _scalar(graph, 2**-0.5)))
    return graph.add("Mul", half, graph.add("Add", error, _scalar(graph, 1.0)))


def _first_row(graph: Graph, state: str) -> str:
    return graph.add("Slice", state, _integers(graph, 0), _integers(graph, 1), _integers(graph, 1))


def _scalar(graph: Graph, value: float) -> str:
    return graph.constant(np.array(value, dtype=np.float32))


def _integers(graph: Graph, *values: int) -> str:
    return graph.constant(np.array(values, dtype=np.int64))
