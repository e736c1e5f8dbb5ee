"""Models for the tests: real ones from the catalogue, and a tiny one that can be worked out by hand."""

import contextlib
import hashlib
import json
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import tokenizers
from onnx import TensorProto, helper, numpy_helper

from memorata.embed.description import ModelDescription
from memorata.embed.ngram_encoder import BuiltinEmbedder
from memorata.embed.port import Prompts
from memorata_models.description import RerankerDescription, as_toml
from memorata_models.install import install
from memorata_models.onnx import OnnxEmbedder
from memorata_models.static import StaticEmbedder

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
    folder = Path(os.environ.get("MEMORATA_MODELS") or Path(sys.prefix) / "models")
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
def builtin() -> BuiltinEmbedder:
    """Return the built-in model."""
    return BuiltinEmbedder()


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
def tiny_pair_tokenizer(tiny_tokenizer: bytes) -> bytes:
    """Return the same tokeniser, which also joins two texts: [CLS] first [SEP] second [SEP]."""
    tokenizer = tokenizers.Tokenizer.from_str(tiny_tokenizer.decode())
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
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
        (folder / "model.toml").write_text(as_toml(description), encoding="utf-8")
        return folder

    return make


COLOURS = np.array([[place == number for place in (4, 5, 6)] for number in range(9)], dtype=np.float32)
"""One column each for red, green and blue."""


def _cross_encoder(output: str, divisor: float) -> bytes:
    """Return a graph whose scores can be counted.

    Its one logit is the number of equal colours, one in the first text and one in the second; its two logits
    are the numbers of reds and of greens in both. All is divided by `divisor`.
    """
    node = helper.make_node
    nodes = [
        node("Gather", ["colours", "input_ids"], ["tokens"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        node("Mul", ["mask", "types"], ["second"]),
        node("Sub", ["mask", "second"], ["first"]),
    ]
    for name in ("first", "second", "mask"):
        nodes += [
            node("Unsqueeze", [name, "two"], [f"{name} column"]),
            node("Mul", ["tokens", f"{name} column"], [f"{name} tokens"]),
            node("ReduceSum", [f"{name} tokens", "one"], [f"{name} bag"], keepdims=0),
        ]
    if output == "logit":
        nodes += [
            node("Mul", ["first bag", "second bag"], ["equal"]),
            node("ReduceSum", ["equal", "one"], ["found"], keepdims=1),
        ]
    else:
        nodes.append(node("Slice", ["mask bag", "zero", "two", "one"], ["found"]))
    nodes.append(node("Div", ["found", "divisor"], ["logits"]))
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    graph = helper.make_graph(
        nodes,
        "judge",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "labels"])],
        [
            numpy_helper.from_array(COLOURS, "colours"),
            numpy_helper.from_array(np.float32(divisor).reshape(1), "divisor"),
            *(numpy_helper.from_array(np.array([n]), name) for n, name in enumerate(("zero", "one", "two"))),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


@pytest.fixture
def tiny_reranker(tmp_path: Path, tiny_pair_tokenizer: bytes) -> Callable[..., Path]:
    """Return a maker of cross-encoder folders with a model.toml."""

    def make(*, template: str = "pair", output: str = "logit", graph: str = "", divisor: float = 1.0) -> Path:
        folder = tmp_path / "tiny-reranker"
        folder.mkdir()
        files = {
            "model.onnx": _cross_encoder(graph or output, divisor),
            "tokenizer.json": tiny_pair_tokenizer,
        }
        for name, content in files.items():
            (folder / name).write_bytes(content)
        description = RerankerDescription(
            id="judge",
            max_tokens=16,
            template=template,
            output=output,
            licence="CC0-1.0",
            files={name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        )
        (folder / "model.toml").write_text(as_toml(description), encoding="utf-8", newline="\n")
        return folder

    return make


@dataclass
class Reply:
    """What the service says next."""

    body: object = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    """Hang up halfway through the body."""
    drip: float = 0.0
    """Seconds before each byte of the body."""


@dataclass
class Service:
    """A local HTTP server that does what it is told, and remembers what it was asked."""

    address: str = ""
    replies: list[Reply] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], object] | None = None
    """Makes an answer, or its body, from the request, once there are no more replies."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def says(self, *replies: Reply) -> None:
        self.replies.extend(replies)


@pytest.fixture
def service() -> Iterator[Service]:
    """Return a real server on the loopback interface that misbehaves on purpose."""
    state = Service()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            with lock:
                request = json.loads(self.rfile.read(length) or b"{}")
                state.asked.append(request)
                state.paths.append(self.path)
                state.headers.append(dict(self.headers))
                if state.replies:
                    reply = state.replies.pop(0)
                else:
                    assert state.answer is not None, "the service was asked once too often"
                    made = state.answer(request)
                    reply = made if isinstance(made, Reply) else Reply(made)
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            time.sleep(reply.delay)
            with contextlib.suppress(ConnectionError):  # a client that has given up is no longer there
                self.send_response(reply.status)
                self.send_header("Content-Length", str(len(body)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.drip:
                    for byte in body:
                        time.sleep(reply.drip)
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                else:
                    self.wfile.write(body[: len(body) // 2] if reply.cut else body)
            if reply.cut:
                self.close_connection = True

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def reply() -> type[Reply]:
    """Return the class of scripted replies, which tests cannot import from here."""
    return Reply


class Ollama:
    """A real server on the loopback interface that can be started, stopped, made to hang, and changed.

    Its vectors count the words of a text, hashed, so that texts with the same words are near each other.
    """

    def __init__(self) -> None:
        self.width = 64
        self.asked: list[list[str]] = []
        self.hangs = threading.Event()
        self.released = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    @property
    def name(self) -> str:
        """What opens an embedder of it."""
        return f"ollama:words@http://127.0.0.1:{self._port}"

    def start(self) -> None:
        ollama = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
                ollama.asked.append(texts)
                if ollama.hangs.is_set():
                    ollama.released.wait(30)
                    return
                body = json.dumps({"embeddings": [ollama.vector(text) for text in texts]}).encode()
                with contextlib.suppress(ConnectionError):
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test's output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_address[1]
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self.released.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = None

    def vector(self, text: str) -> list[int]:
        counts = [0] * self.width
        for word in text.lower().replace(".", "").replace("?", "").split():
            counts[zlib.crc32(word.encode()) % self.width] += 1
        return counts


@pytest.fixture
def ollama() -> Iterator[Ollama]:
    """Return an embedding service that is there, for now."""
    service = Ollama()
    service.start()
    yield service
    service.stop()
