"""Embedding: the vectors of what is remembered and of queries, and the embedder while it is unavailable.

A text that its namespace holds is not embedded again. When the embedder fails, nothing is lost: a memory
is stored and waits for its vector, and a query is answered by words. An embedder that could not be had is
looked for again now and then, less and less often (:mod:`memorata.embed.circuit_breaker`), and so it comes
back by itself. What is to be remembered in a transaction is embedded before it begins: an embedder may take
its time, and others would have to wait.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np

from memorata._frozen import frozen
from memorata.embed.circuit_breaker import CircuitBreaker
from memorata.embed.port import Embedder
from memorata.embed.vectors import are_directions, is_direction
from memorata.engine.query_vectors import QueryVectors
from memorata.engine.write.terms import embedded_text
from memorata.index.codes import Floats
from memorata.model import checks
from memorata.model.errors import (
    DimensionMismatch,
    EmbedderError,
    InvalidArgument,
    MemorataError,
    MissingExtra,
    ServiceUnreachable,
)
from memorata.model.memory import Memory
from memorata.store.store import Store

if TYPE_CHECKING:
    from memorata.engine.engine import Engine

_DIGEST_BYTES: Final = 16
_NO_DIRECTION: Final = "are not finite, or not of length 1"
_FAILURES: Final = (EmbedderError, MissingExtra)
"""What may be wrong with an embedder: a package that was there when it was chosen may fail to load."""
_LOG: Final = logging.getLogger(__name__)


@frozen(eq=False)
class CallerVector:
    """The vector of a memory that its caller computed, and the embedder it is from; None for the current.

    `item` is the argument that the vector is a part of, if it is.
    """

    vector: checks.Numbers
    embedder: str | None = None
    item: str = ""


Ahead: TypeAlias = Mapping[tuple[str, str, bytes], "Floats | None"]
"""By embedder, namespace and address of a text, vectors from before a transaction; None if that failed."""


@frozen
class Embedding:
    """An embedder, and the store that remembers what it computed; without one, why there is none."""

    embedder: Embedder | None
    store: Store
    absence: str = ""
    queries: QueryVectors | None = None
    ahead: Ahead = field(default_factory=dict)

    def documents(
        self, texts: Sequence[str], namespaces: Sequence[str], own_vectors: Sequence[CallerVector | None] = ()
    ) -> list[tuple[bytes, Floats | None]]:
        """Return the address and the vectors of each text; None where they have to wait.

        A text that its own namespace holds is not embedded again. What another holds does not count: the time
        that is saved would disclose it. Vectors of the caller (`own_vectors`) are checked, and not changed.
        """
        if any(vector is not None for vector in own_vectors):
            own_rows = [None if vector is None else self._checked_own(vector) for vector in own_vectors]
            missing = [place for place, rows in enumerate(own_rows) if rows is None]
            embedded = iter(self.documents([texts[at] for at in missing], [namespaces[at] for at in missing]))
            return [
                next(embedded) if rows is None else (address(text), rows)
                for text, rows in zip(texts, own_rows, strict=True)
            ]
        digests = [address(text) for text in texts]
        if self.embedder is None:
            return [(digest, None) for digest in digests]
        keys = list(zip(namespaces, digests, strict=True))
        name, ahead = self.embedder.name if self.ahead else "", dict(self.ahead)
        cached = {key: ahead[name, *key] for key in keys if (name, *key) in ahead}
        cached |= cached_vectors(self.store, [key for key in keys if key not in cached])
        new = {key[1]: text for key, text in zip(keys, texts, strict=True) if key not in cached}
        try:
            rows = self.computed(list(new.values()))
        except _FAILURES as error:
            stored = "1 memory is" if len(new) == 1 else f"{len(new):,} memories are"
            _LOG.warning("%s stored without vectors for now: %s", stored, error)
            return [(key[1], cached.get(key)) for key in keys]
        fresh = dict(zip(new, rows, strict=True))
        return [(key[1], cached[key] if key in cached else fresh[key[1]]) for key in keys]

    def computed(self, texts: Sequence[str]) -> list[Floats]:
        """Return the vectors of texts, one row per passage, as the embedder computes them."""
        if self.embedder is None:
            raise EmbedderError("there is no embedder; open the memory with one, such as embedder='builtin'")
        if not texts:
            return []
        rows = self.embedder.embed_passages(texts)
        if len(rows) != len(texts):
            raise EmbedderError(
                f"{self.embedder.name} gave the vectors of {len(rows)} texts for {len(texts)}"
            )
        for passages in rows:
            if not isinstance(passages, np.ndarray):
                raise EmbedderError(f"{self.embedder.name} gave {type(passages).__name__}, not an array")
            if passages.ndim != 2 or passages.shape[1] != self.embedder.dimension:
                got = passages.shape[-1] if passages.ndim else 0
                raise DimensionMismatch(self.embedder.name, expected=self.embedder.dimension, got=got)
        # All at once: a thousand numpy calls take longer than the computation.
        stacked = rows[0] if len(rows) == 1 else np.concatenate(rows)
        if not all(map(len, rows)) or not are_directions(stacked):
            raise EmbedderError(f"{self.embedder.name} gave vectors that {_NO_DIRECTION}, or none")
        return rows

    def query(
        self, text: str, vector: checks.Numbers | None, namespace: str = ""
    ) -> tuple[Floats | None, str]:
        """Return the vector of a query in a namespace, and what was wrong if there is none."""
        if self.embedder is None:
            return None, self.absence or "no embedder: words only"
        if vector is not None:
            return self._checked_vector(vector, self.embedder.dimension), ""
        if not text:
            return None, ""
        try:
            if self.queries is None:
                row = np.asarray(self.embedder.embed_query(text))
            else:
                row = np.asarray(self.queries.vector(self.embedder, namespace, text))
            if row.shape != (self.embedder.dimension,):
                raise DimensionMismatch(self.embedder.name, expected=self.embedder.dimension, got=row.size)
            if not are_directions(row[None, :]):
                raise EmbedderError(f"{self.embedder.name} gave a vector whose numbers {_NO_DIRECTION}")
        except _FAILURES as error:
            return None, f"the embedder failed, words only: {error}"
        return row, ""

    def _checked_own(self, vector: CallerVector) -> Floats:
        try:
            return self._of_caller(vector)
        except InvalidArgument as error:
            raise error.inside(vector.item) if vector.item else error from None

    def _of_caller(self, vector: CallerVector) -> Floats:
        """Return the vectors of a text that a caller embedded, one row, or raise if they are of no use."""
        if self.embedder is None:
            raise InvalidArgument("vector", "given", f"left out: {self.absence or 'there is no embedder'}")
        if vector.embedder not in (None, self.embedder.name):
            raise InvalidArgument(
                "embedder", vector.embedder, f"the one in use, {self.embedder.name}: vectors of two differ"
            )
        return self._checked_vector(vector.vector, self.embedder.dimension)[None, :]

    def _checked_vector(self, vector: Any, dimension: int) -> Floats:  # noqa: ANN401 - checked here
        """Return a vector that a caller computed, in an array of our own: theirs may be used again."""
        as_embedded = type(vector) is np.ndarray and vector.dtype == np.float32
        if as_embedded and vector.shape == (dimension,) and is_direction(vector):
            copy: Floats = vector.copy()
            return copy
        numbers = checks.numbers("vector", vector)
        if numbers.shape != (dimension,):
            raise InvalidArgument("vector", numbers.shape, f"of shape ({dimension},)")
        if not are_directions(numbers[None, :]):
            raise InvalidArgument(
                "vector", float(np.linalg.norm(numbers)), "one whose norm is 1 (divide it by its norm)"
            )
        return numbers.astype(np.float32)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that the embedder was made for; empty when unknown."""
        languages: tuple[str, ...] = getattr(self.embedder, "languages", ())
        return languages

    @property
    def reliability(self) -> float:
        """What the embedder's cosines count beside words; 1 when it was not measured."""
        return float(getattr(self.embedder, "reliability", 1.0))

    @property
    def quick(self) -> bool:
        """Whether a query may be embedded while others wait: it takes no time, or there is no embedder."""
        return self.embedder is None or getattr(self.embedder, "quick", False)

    @property
    def threshold(self) -> float:
        """The cosine above which texts are likelier related than not."""
        return self.embedder.similarity_threshold if self.embedder is not None else 0.0


def cached_vectors(store: Store, keys: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], Floats]:
    """Return the vectors that a store has of texts, by namespace and address; each from its own namespace."""
    by_namespace: dict[str, list[bytes]] = {}
    for namespace, digest in keys:
        by_namespace.setdefault(namespace, []).append(digest)
    return {
        (namespace, digest): rows
        for namespace, digests in by_namespace.items()
        for digest, rows in store.cached_vectors(namespace, digests).items()
    }


def _addresses(memories: Sequence[Memory]) -> list[bytes]:
    return [address(embedded_text(memory)) for memory in memories]


def address(text: str) -> bytes:
    """Return the address of a text that is embedded; equal texts have the same one."""
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


def embedded_in_advance(
    engine: Engine, items: Sequence[Mapping[str, Any]], namespace: str | None = None
) -> AbstractContextManager[None]:
    """Embed what will be remembered in a block before the block begins."""
    drafts = []
    # A wrong item raises when it is remembered, with its position.
    with suppress(InvalidArgument):
        for item in items:
            if item.get("vector") is not None:
                continue
            details = {"namespace": namespace, **item}
            drafts.append(engine.draft(details.pop("content"), **details))
    return embedded_before(engine, drafts)


def embedded_before(engine: Engine, memories: Sequence[Memory]) -> AbstractContextManager[None]:
    """Embed memories that will be written in a block before the block begins."""
    return engine._embedding.before(memories)


UNAVAILABLE: Final = "the store's embedder cannot be used, words only: "
"""The beginning of the note while it is unavailable; the reason follows."""


@frozen
class OpenedEmbedder:
    """An embedder, its specification, and notes for the user."""

    embedder: Embedder
    specification: str | None = None
    notes: tuple[str, ...] = ()


class EmbedderRetry:
    """Looks for an embedder that could not be had when the memory was opened."""

    def __init__(
        self, find: Callable[[], OpenedEmbedder], why: str, breaker: CircuitBreaker | None = None
    ) -> None:
        self._find = find
        self._breaker = CircuitBreaker() if breaker is None else breaker
        self._breaker.failed(why)
        self.why = why

    def look(self, *, at_once: bool = False) -> OpenedEmbedder | None:
        """Return the embedder if it is there now; otherwise `why` says why not."""
        try:
            return self._breaker.call(self._opened, force=at_once)
        except EmbedderError as error:
            self.why = str(error)
            return None

    def _opened(self) -> OpenedEmbedder:
        try:
            return self._find()
        except MemorataError as error:
            # Whatever it is, it may be mended by the next time: a service started, a model installed.
            raise ServiceUnreachable(str(error)) from error


class CurrentEmbedder:
    """The embedder of an engine, which may come back later, and the notes about how it was opened."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        specification: str | None,
        absent: EmbedderRetry | None,
        notes: Sequence[str],
    ) -> None:
        self._store = store
        self.embedder = embedder
        self.specification = specification
        self.notes = tuple(notes)
        self._absent = absent
        self._ahead: dict[tuple[str, str, bytes], Floats | None] = {}
        self.queries: QueryVectors | None = None

    def retry(self, *, at_once: bool = False) -> None:
        """Take up the embedder, if it was unavailable before and is there now."""
        if self.embedder is not None or self._absent is None:
            return
        embedder = self._absent.look(at_once=at_once)
        if embedder is None:
            return
        self.specification = embedder.specification
        self.notes = (*(note for note in self.notes if not note.startswith(UNAVAILABLE)), *embedder.notes)
        # Last: another thread that sees it finds the rest in place.
        self.embedder = embedder.embedder

    def required(self) -> Embedder:
        """Return the embedder, looking for it at once; raise if there is none."""
        self.retry(at_once=True)
        if self.embedder is None:
            raise EmbedderError(
                self.unavailable
                or "there is no embedder to embed with; open the memory with one, such as embedder='builtin'"
            )
        return self.embedder

    @property
    def unavailable(self) -> str:
        """Why there is no embedder; empty where none was asked for."""
        return "" if self._absent is None else UNAVAILABLE + self._absent.why

    def expect(self, memories: Sequence[Memory]) -> None:
        """Read ahead the vectors that a store may have of memories that are going to be written."""
        if self.embedder is None or not self._store.is_remote:
            return
        by_namespace: dict[str, list[Memory]] = {}
        for memory in memories:
            by_namespace.setdefault(memory.namespace, []).append(memory)
        for namespace, own in by_namespace.items():
            self._store.expect_vectors(namespace, partial(_addresses, own))

    @contextmanager
    def before(self, memories: Sequence[Memory]) -> Iterator[None]:
        """Embed memories that will be written in the block before it begins."""
        meaning, namespaces = self.meaning(), [memory.namespace for memory in memories]
        embedded = meaning.documents([embedded_text(memory) for memory in memories], namespaces)
        name = "" if meaning.embedder is None else meaning.embedder.name
        ahead = {
            (name, namespace, digest): rows
            for namespace, (digest, rows) in zip(namespaces, embedded, strict=True)
        }
        self._ahead.update(ahead)
        try:
            yield
        finally:
            for key in ahead:
                # Of two that wrote the same text at the same time, the first has taken it away.
                self._ahead.pop(key, None)

    def meaning(self) -> Embedding:
        """Return what embeds, as of now."""
        return Embedding(self.embedder, self._store, self.unavailable, self.queries, self._ahead)


DIMENSION: Final = "embedder_dimension"
"""The setting of a store that says how long the vectors are of the service it is opened with."""

_PROBE: Final = "Is all well?"


@runtime_checkable
class Service(Protocol):
    """An embedder whose dimension only its service knows."""

    @property
    def known_dimension(self) -> int | None:
        """How long they are, if that was given; the service is not called."""
        ...

    def of_dimension(self, dimension: int, *, apart: bool = False) -> Embedder:
        """Return the same embedder, known to give vectors of this length; `apart` to say so in its name."""
        ...


def checked_embedder(embedder: Embedder, store: Store, *, recorded: bool, named: bool = True) -> Embedder:
    """Return an embedder of which it is known how long its vectors are."""
    if not isinstance(embedder, Service):
        # Its description says so, which may turn out to be damaged.
        _ = embedder.dimension
        return embedder
    dimension, before = embedder.known_dimension, None
    if recorded:
        setting = store.setting(DIMENSION) if named else None
        before = store.dimension_of(embedder.name) if setting is None else _number(setting)
    if before is None or dimension not in (None, before):
        if recorded and named:
            embedder.embed_query(_PROBE)
        else:
            embedder.embed_documents([_PROBE])
        before = embedder.dimension
    first = store.dimension_of(embedder.name)
    other = store.dimension_of(embedder.of_dimension(before, apart=True).name)
    apart = other is not None if first is None else first != before
    return embedder if dimension == before and not apart else embedder.of_dimension(before, apart=apart)


def _number(setting: str) -> int:
    if not (setting.isascii() and setting.isdigit() and 1 <= len(setting) <= 9 and int(setting)):
        raise InvalidArgument(
            DIMENSION, setting, "a whole number of at least 1, as the store has recorded it"
        )
    return int(setting)
