import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from memorata.embed.graph import FLOAT32, INT64, Graph, _varint


def oracle(value: int) -> int:
    """Decode a varint the slow way."""
    total = 0
    for place, group in enumerate(_varint(value)):
        total |= (group & 0x7F) << (7 * place)
    return total


@given(st.integers(0, 2**63 - 1))
def test_a_varint_is_read_back(value: int) -> None:
    assert oracle(value) == value


def test_a_negative_varint_is_two_s_complement() -> None:
    assert oracle(-1) == 2**64 - 1
    assert len(_varint(-1)) == 10


@pytest.fixture
def graph() -> Graph:
    """Return x · w + [[1.5]] transposed, in the words of ONNX."""
    return Graph()


def test_the_bytes_are_a_model_that_onnx_accepts(graph: Graph) -> None:
    product = graph.add("MatMul", "x", graph.constant(np.eye(2, dtype=np.float32)))
    softened = graph.add("LeakyRelu", product, alpha=0.25)
    turned = graph.add("Transpose", softened, perm=[1, 0])
    joined = graph.add("Softmax", turned, axis=-1)
    model = onnx.load_from_string(
        graph.model(inputs={"x": (FLOAT32, ["n", 2])}, output=joined, output_shape=[2, "n"])
    )
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == ["MatMul", "LeakyRelu", "Transpose", "Softmax"]
    attributes = [onnx.helper.get_attribute_value(node.attribute[0]) for node in model.graph.node[1:]]
    assert attributes == [0.25, [1, 0], -1]
    assert numpy_helper.to_array(model.graph.initializer[0]).tolist() == [[1, 0], [0, 1]]
    sizes = [size.dim_param or size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim]
    assert sizes == ["n", 2]


def test_weights_are_handed_over_when_the_graph_is_loaded(graph: Graph) -> None:
    table = np.array([[1, 2], [3, 4]], dtype=np.float32)
    rows = graph.add("Gather", graph.weight("table", table.T), "which")
    model = graph.model(inputs={"which": (INT64, ["n"])}, output=rows, output_shape=["n", 2])
    assert b"table" in model
    assert table.T.tobytes() not in model
    options = onnxruntime.SessionOptions()
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in graph.weights.values()]
    options.add_external_initializers(list(graph.weights), values)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"which": np.array([1, 0])})
    assert found.tolist() == [[2, 4], [1, 3]]
