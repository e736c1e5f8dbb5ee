"""Made-up memories for timing the engine: clustered vectors, texts by Zipf's law, and questions about them.

Texts are twelve words drawn with the Zipf-Mandelbrot law from 50,000, of which the most frequent are real
function words, as in English, some are names and things that questions can ask for, and the rest are made of
syllables. Vectors lie around a thousand centres, since embeddings of what people say do. The memories of a
larger size begin with those of a smaller one, and everything is the same in every run.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

DIMENSION = 384
CHUNK = 1_000
"""Memories are made this many at a time; it is also how many one transaction of a batch holds."""
SHELVES = 100
"""Every memory has one of this many categories and stands on one of this many shelves, so that a filter by
either keeps one in a hundred."""

_WORDS = 12
_VOCABULARY = 50_000
_CENTRES = 1_000
_EXPONENT, _SHIFT = 1.07, 2.7
_SPREAD = 0.9
"""How long the noise around a centre is, the centre having length 1: two neighbours have a cosine of .55."""
_QUESTION_SPREAD = 0.6
_EVERY = 15
_BATCHES_ASKED = 8
_SEED = 384

_FUNCTION_WORDS = (
    "the", "of", "and", "to", "a", "in", "is", "was", "for", "it", "with", "as", "his", "on", "be", "at",
    "by", "had", "not", "are", "but", "from", "or", "have", "an", "they", "which", "one", "you", "were",
    "her", "all", "she", "there", "would", "their", "we", "him", "been", "has", "when", "who", "will",
    "more", "no", "if", "out", "so", "said", "what", "up", "its",
)  # fmt: skip
_NAMES = (
    "Anna", "Bruno", "Chidi", "Dalia", "Emre", "Fatou", "Goran", "Hana", "Ines", "Jonas", "Keiko",
    "Lena", "Marta", "Nadia", "Omar", "Petra",
)  # fmt: skip
_THINGS = (
    "bicycle", "piano", "ticket", "chair", "notebook", "soup", "camera", "lamp", "coat", "letter",
    "garden", "kitchen", "contract", "meeting", "invoice", "birthday", "concert", "recipe", "doctor",
    "painting", "server", "holiday", "budget", "guitar", "window", "passport", "medicine", "photograph",
    "library", "engine", "harbour", "festival",
)  # fmt: skip
_PLACES = (
    "Lisbon", "Vienna", "Osaka", "Nairobi", "Toronto", "Bergen", "Granada", "Lagos", "Tbilisi",
    "Montevideo", "Ghent", "Jaipur", "Bristol", "Krakow", "Izmir", "Quito",
)  # fmt: skip
_QUESTIONS = (
    "What did {name} say about the {thing} in {place}?",
    "When was {name} in {place} for the {thing}?",
    "Who has the {thing} that {name} was looking for?",
    "Do you remember which {thing} {name} and {other} had chosen?",
    "Why is {name} not happy with the {thing} any more?",
    "Where did {name} put the {thing} before the trip to {place}?",
)


class Prompts(NamedTuple):
    """What is written before a text; of no package, so that every edition can be given it."""

    query: str
    document: str


class FixedVectors:
    """An embedder that computes nothing: it hands out the vectors it was given for the texts.

    Examples
    --------
    >>> embedder = FixedVectors()
    >>> embedder.give(["tea"], np.eye(1, DIMENSION, dtype=np.float32))
    >>> embedder.embed_passages(["tea"])[0].shape
    (1, 384)
    """

    name = "given by the benchmark"
    dimension = DIMENSION
    max_tokens = None
    prompts: Any = Prompts("", "")
    similarity_threshold = 0.3

    def __init__(self) -> None:
        self._rows: dict[str, Floats] = {}

    def give(self, texts: Iterable[str], vectors: Floats) -> None:
        """Say what the vectors of the next texts are, and forget those of the last."""
        self._rows = dict(zip(texts, vectors[:, None, :], strict=True))

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return the rows that were given."""
        return np.concatenate([self._rows[text] for text in texts])

    def embed_query(self, text: str) -> Floats:
        """Return the row that was given; of another text, such as those of a null, any direction."""
        if text in self._rows:
            row: Floats = self._rows[text][0]
            return row
        other = np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dimension)
        return (other / np.linalg.norm(other)).astype(np.float32)

    def passages(self, text: str) -> list[str]:
        """Return the text whole."""
        return [text]

    def embed_passages(self, texts: Sequence[str]) -> list[Floats]:
        """Return the rows that were given, one passage each."""
        return [self._rows[text] for text in texts]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Some memories: their texts, one vector each, and what a filter can ask for."""

    texts: list[str]
    vectors: Floats
    categories: list[str]
    shelves: list[int]

    def items(self, namespace: str | None = None) -> list[dict[str, Any]]:
        """Return them as `remember_many` takes them."""
        return [
            {"content": text, "category": category, "metadata": {"shelf": shelf}, "namespace": namespace}
            for text, category, shelf in zip(self.texts, self.categories, self.shelves, strict=True)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question, its vector, and what is known about the memory that it was made from."""

    text: str
    vector: Floats
    answer: str
    category: str
    shelf: int


def batches(size: int, first: int = 0) -> Iterator[Batch]:
    """Yield the first `size` memories, a thousand at a time, from the batch with the number `first` on."""
    for number in range(first, -(-size // CHUNK)):
        batch, left = _batch(number), size - number * CHUNK
        if left >= CHUNK:
            yield batch
        else:
            yield Batch(
                batch.texts[:left], batch.vectors[:left], batch.categories[:left], batch.shelves[:left]
            )


def about(memories: Sequence[int], seed: int = 1) -> list[Question]:
    """Return for each memory a question of up to five of its rarer words, with a vector close to its own."""
    chance = np.random.default_rng([_SEED, seed])
    questions = []
    for batch, row in map(_found, memories):
        words = [word for word in dict.fromkeys(batch.texts[row].split()) if word not in _FUNCTION_WORDS]
        questions.append(_question(chance, batch, row, " ".join(chance.permutation(words)[:5])))
    return questions


def keywords(size: int, count: int, seed: int = 1) -> list[Question]:
    """Return questions of a few words, about memories drawn from all of a size."""
    return about(_some(size, count, seed), seed)


def natural(size: int, count: int, seed: int = 1) -> list[Question]:
    """Return questions as people ask them, about names, things and places that many memories mention."""
    return naturally(_some(size, count, seed), seed, size)


def naturally(memories: Sequence[int], *seed: int) -> list[Question]:
    """Return such a question for each memory, with a vector close to the memory's own."""
    chance = np.random.default_rng([_SEED, *seed])
    questions = []
    for batch, row in map(_found, memories):
        name, other = chance.choice(_NAMES, 2, replace=False)
        text = str(chance.choice(_QUESTIONS)).format(
            name=name, other=other, thing=chance.choice(_THINGS), place=chance.choice(_PLACES)
        )
        questions.append(_question(chance, batch, row, text))
    return questions


def mixed(size: int, count: int, seed: int = 1) -> list[Question]:
    """Return keywords and natural questions in turn."""
    pairs = zip(keywords(size, -(-count // 2), seed), natural(size, -(-count // 2), seed), strict=True)
    return [question for pair in pairs for question in pair][:count]


def content_words(text: str) -> list[str]:
    """Return the words of a question that carry meaning, for engines that are asked for words one by one."""
    words = "".join(letter if letter.isalnum() else " " for letter in text).split()
    return [word for word in words if word.lower() not in _STOPPED]


_STOPPED = frozenset([*_FUNCTION_WORDS, "did", "do", "about", "that", "why", "where", "before", "any", "and"])


def _some(size: int, count: int, seed: int) -> list[int]:
    """Return memories drawn from a few batches: making a batch takes longer than asking about it."""
    chance = np.random.default_rng([_SEED, seed, size, count])
    made = -(-size // CHUNK)
    starts = CHUNK * chance.choice(made, min(_BATCHES_ASKED, made), replace=False)
    drawn = np.resize(starts, count).tolist()
    return [start + int(chance.integers(0, min(CHUNK, size - start))) for start in drawn]


def _found(memory: int) -> tuple[Batch, int]:
    return _batch(memory // CHUNK), memory % CHUNK


def _question(chance: np.random.Generator, batch: Batch, row: int, text: str) -> Question:
    noise = _unit(chance.normal(size=(1, DIMENSION)).astype(np.float32))
    vector = _unit(batch.vectors[row : row + 1] + _QUESTION_SPREAD * noise)[0]
    return Question(text, vector, batch.texts[row], batch.categories[row], batch.shelves[row])


@lru_cache(maxsize=_BATCHES_ASKED)
def _batch(number: int) -> Batch:
    chance = np.random.default_rng([_SEED, 0, number])
    ranks = np.searchsorted(_cumulated(), chance.random((CHUNK, _WORDS)))
    words = _vocabulary()
    texts = [" ".join([words[rank] for rank in row]) for row in ranks.tolist()]
    centres = _centres()[chance.integers(0, _CENTRES, CHUNK)]
    vectors = _unit(centres + _SPREAD * _unit(chance.normal(size=(CHUNK, DIMENSION)).astype(np.float32)))
    categories = [f"topic {number}" for number in chance.integers(0, SHELVES, CHUNK)]
    return Batch(texts, vectors, categories, chance.integers(0, SHELVES, CHUNK).tolist())


def _unit(rows: Floats) -> Floats:
    unit: Floats = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


@cache
def _centres() -> Floats:
    return _unit(np.random.default_rng(_SEED).normal(size=(_CENTRES, DIMENSION)).astype(np.float32))


@cache
def _cumulated() -> npt.NDArray[np.float64]:
    chances = 1 / (np.arange(_VOCABULARY) + _SHIFT) ** _EXPONENT
    return np.cumsum(chances / chances.sum())


@cache
def _vocabulary() -> Sequence[str]:
    chance = np.random.default_rng(_SEED)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "ar", "en", "il", "or")]
    picks = chance.integers(0, len(syllables), (2 * _VOCABULARY, 4)).tolist()
    lengths = chance.integers(2, 5, 2 * _VOCABULARY).tolist()
    # Twice as many as needed, since short ones repeat.
    made = (
        "".join([syllables[pick] for pick in row[:length]])
        for row, length in zip(picks, lengths, strict=True)
    )
    words = list(dict.fromkeys(made))[:_VOCABULARY]
    words[: len(_FUNCTION_WORDS)] = _FUNCTION_WORDS
    for place, word in enumerate([*_NAMES, *_THINGS, *_PLACES]):
        words[len(_FUNCTION_WORDS) + _EVERY * place] = word
    return words
