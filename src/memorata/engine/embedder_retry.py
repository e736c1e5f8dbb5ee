"""The embedder that a store is opened with, while it cannot be had: who looks for it again, and when.

A service is away, or a model is not installed yet. The memory answers by words, and says so; a recall looks
for the embedder again now and then, less and less often (:mod:`memorata.embed.circuit_breaker`), and so it
comes back by itself. Nothing runs in the background, and no recall waits for longer than a question may.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from memorata._frozen import frozen
from memorata.embed.circuit_breaker import CircuitBreaker
from memorata.embed.port import Embedder
from memorata.engine.meaning import Meaning
from memorata.model.errors import EmbedderError, MemorataError, ServiceUnreachable
from memorata.store.port import Store

AWAY: Final = "the store's embedder cannot be used, words only: "
"""What is said while it is away, before the reason."""


@frozen
class Measure:
    """An embedder, what opens it another day, and what a person should know of it."""

    embedder: Embedder
    specification: str | None = None
    notes: tuple[str, ...] = ()


class Absent:
    """Looks for an embedder that could not be had when the memory was opened.

    Parameters
    ----------
    find
        Takes it into use and returns it, or raises.
    why
        Why it could not be had.
    breaker
        When to look again; None for the usual pauses.
    """

    def __init__(self, find: Callable[[], Measure], why: str, breaker: CircuitBreaker | None = None) -> None:
        self._find = find
        self._breaker = CircuitBreaker() if breaker is None else breaker
        self._breaker.failed(why)
        self.why = why

    def look(self, *, at_once: bool = False) -> Measure | None:
        """Return the embedder if it is there now; otherwise `why` says why not.

        Parameters
        ----------
        at_once
            Whether to look even if somebody did a moment ago.
        """
        try:
            return self._breaker.ask(self._found, anyway=at_once)
        except EmbedderError as error:
            self.why = str(error)
            return None

    def _found(self) -> Measure:
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
        absent: Absent | None,
        notes: Sequence[str],
    ) -> None:
        self._store = store
        self.embedder = embedder
        self.specification = specification
        self.notes = tuple(notes)
        self._absent = absent

    def retry(self, *, at_once: bool = False) -> None:
        """Take up the embedder, if it was unavailable before and is there now."""
        if self.embedder is not None or self._absent is None:
            return
        found = self._absent.look(at_once=at_once)
        if found is None:
            return
        self.specification = found.specification
        self.notes = (*(note for note in self.notes if not note.startswith(AWAY)), *found.notes)
        # Last: whoever sees it finds the rest in its place.
        self.embedder = found.embedder

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
        return "" if self._absent is None else AWAY + self._absent.why

    def meaning(self) -> Meaning:
        """Return what embeds, as of now."""
        return Meaning(self.embedder, self._store, self.unavailable)
