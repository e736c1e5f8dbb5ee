"""Write an ONNX graph without the ``onnx`` package: the few message types a sentence encoder needs.

ONNX files are Protocol Buffers. A message is a run of fields, each a key (field number and wire type)
followed by its value; the field numbers below are those of ``onnx.proto`` (ONNX 1.x, IR version 8). Weights
are not written: the graph names them as external, and onnxruntime is handed the arrays when the graph is
loaded.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_IR_VERSION = 8
_OPSET = 17
_TYPES = {np.dtype(np.float32): 1, np.dtype(np.int8): 3, np.dtype(np.int64): 7}
FLOAT32, INT64 = 1, 7
"""ONNX's numbers for the two element types that graphs have as inputs and outputs here."""


class Graph:
    """A graph under construction. :meth:`add` returns the name of what an operator computes.

    Examples
    --------
    >>> graph = Graph()
    >>> total = graph.add("Add", "x", graph.constant(np.array([1.0], dtype=np.float32)))
    >>> len(graph.model(inputs={"x": (FLOAT32, ["n"])}, output=total, output_shape=["n"]))
    119
    """

    def __init__(self) -> None:
        self.weights: dict[str, npt.NDArray[Any]] = {}
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def add(self, operator: str, *inputs: str, **attributes: float | int | list[int]) -> str:
        """Append an operator and return the name of its output."""
        output = f"{operator}_{len(self._nodes)}"
        # A node has its output's name: older runtimes refuse graphs after fusing nodes without one.
        node = [_text(1, name) for name in inputs] + [_text(2, output), _text(3, output), _text(4, operator)]
        node += [_message(5, _attribute(name, value)) for name, value in attributes.items()]
        self._nodes.append(b"".join(node))
        return output

    def constant(self, value: npt.NDArray[Any]) -> str:
        """Store a small array in the graph itself and return its name."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(_tensor(name, value) + _message(9, value.tobytes()))
        return name

    def weight(self, name: str, value: npt.NDArray[Any]) -> str:
        """Name an array that is handed over when the graph is loaded; it is kept in :attr:`weights`."""
        self.weights[name] = np.ascontiguousarray(value)
        location = _text(1, "location") + _text(2, "memory")
        self._constants.append(_tensor(name, value) + _message(13, location) + _integer(14, 1))
        return name

    def model(
        self,
        *,
        inputs: Mapping[str, tuple[int, Sequence[str | int]]],
        output: str,
        output_shape: Sequence[str | int],
    ) -> bytes:
        """Return the bytes of the finished model.

        Parameters
        ----------
        inputs
            Element type and shape of each input; a named dimension may have any length.
        output, output_shape
            The name of the one output, which holds float32, and its shape.
        """
        graph = [_message(1, node) for node in self._nodes] + [_text(2, "encoder")]
        graph += [_message(5, constant) for constant in self._constants]
        graph += [_message(11, _value(name, kind, shape)) for name, (kind, shape) in inputs.items()]
        graph.append(_message(12, _value(output, FLOAT32, output_shape)))
        opset = _text(1, "") + _integer(2, _OPSET)
        return _integer(1, _IR_VERSION) + _message(7, b"".join(graph)) + _message(8, opset)


def _tensor(name: str, value: npt.NDArray[Any]) -> bytes:
    shape = b"".join(_integer(1, size) for size in value.shape)
    return shape + _integer(2, _TYPES[value.dtype]) + _text(8, name)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = [_text(2, size) if isinstance(size, str) else _integer(1, size) for size in shape]
    tensor = _integer(1, kind) + _message(2, b"".join(_message(1, size) for size in sizes))
    return _text(1, name) + _message(2, _message(1, tensor))


def _attribute(name: str, value: float | int | list[int]) -> bytes:
    if isinstance(value, float):
        return _text(1, name) + _key(2, 5) + struct.pack("<f", value) + _integer(20, 1)
    if isinstance(value, int):
        return _text(1, name) + _integer(3, value) + _integer(20, 2)
    return _text(1, name) + b"".join(_integer(8, item) for item in value) + _integer(20, 7)


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _integer(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value)


def _message(field: int, content: bytes) -> bytes:
    return _key(field, 2) + _varint(len(content)) + content


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())


def _varint(value: int) -> bytes:
    """Return `value` in groups of seven bits, lowest first; negative ones as 64-bit two's complement."""
    value &= (1 << 64) - 1
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
