"""The port of a search: what the engine asks of the index of one namespace, and what a leg finds.

:meth:`Store.view <memorata.store.store.Store.view>` opens it at one moment; the one implementation is
:class:`~memorata.index.search.NamespaceIndex`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from memorata._frozen import frozen
from memorata.index.codes import Floats
from memorata.model.checks import FloatArray, IntArray
from memorata.model.memory import Memory

# A port names them all and makes none of them: who only recalls loads those of a recall.
if TYPE_CHECKING:
    from memorata.index.lexical import LexicalQuery
    from memorata.index.record import Records
    from memorata.index.token_rows import Marks, Tokens
    from memorata.rank.context import ContextWindow
    from memorata.rank.scores import Combination


@frozen(eq=False)
class Found:
    """What a leg found.

    Attributes
    ----------
    slots, scores
        The memories, best first, and their scores.
    detail
        Given slots, tells what each term in each field added to their scores; None for a leg without terms.
        It can be asked after the index is closed.
    ceiling
        The score of an average text that has every known term of the query once; 0 for a leg without.
    exact
        Whether every memory that could have been found was compared, so that no other has a higher score.
    """

    slots: IntArray
    scores: FloatArray
    detail: Callable[[IntArray], Combination] | None = None
    ceiling: float = 0.0
    exact: bool = False


NOTHING: Final = Found(np.zeros(0, np.intp), np.zeros(0))
"""What a leg finds that has nothing to look for, or nowhere to start from."""


_ALMOST_ALL: Final = 0.9


class Speakers:
    """Who speaks in a namespace, and in which of its sessions; grows with what is remembered."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self._by_session: dict[str, frozenset[str]] = {}
        self._crowded = 0

    def add(self, spoken: Iterable[tuple[str, str]]) -> None:
        """Add who speaks in a session; the session of what is said in none is empty."""
        names = set()
        for session, speaker in spoken:
            before = self._by_session.get(session, frozenset())
            names.add(speaker)
            if session and speaker not in before:
                self._by_session[session] = before | {speaker}
                self._crowded += len(before) == 2
        if not names <= self.names:
            self.names |= names

    @property
    def in_pairs(self) -> bool:
        """Whether no more than two speak: in the namespace, or in nine of ten of its sessions."""
        sessions = len(self._by_session)
        return len(self.names) <= 2 or 0 < sessions >= _ALMOST_ALL * sessions + self._crowded

    def of(self, session: str) -> frozenset[str]:
        """Return who speaks in a session."""
        return self._by_session.get(session, frozenset())


@frozen
class Status:
    """What a person may want to know of an index: how much there is in it, and how it is searched."""

    count: int
    """How many memories may be returned."""
    pending: int
    """How many memories have no vector of the store's embedder yet."""
    change: int
    """The last change of the namespace that can be seen; 0 for one that there is not."""
    methods: Mapping[str, str]
    """How it was searched so far, by ``"vector"`` and by ``"lexical"``, as far as it was."""


class Index(Protocol):
    """One consistent look at the memories of one namespace that may be seen and pass a filter.

    Memories are known by slot, a number that never changes.
    """

    @property
    def status(self) -> Status:
        """How much there is to be found, and how it was searched so far."""
        ...

    def search(
        self,
        query: Floats | LexicalQuery,
        limit: int,
        excluded: Sequence[str] = (),
        *,
        rough: bool = False,
    ) -> Found:
        """Return the best memories, best first: by the cosine of a unit vector, or by BM25 of terms.

        For a vector, those whose best passage is closest to it and that have none of the `excluded` terms in
        their content. A `rough` result is for those who ask for :meth:`score` next: it may be as inexact as
        that is. For terms, only those that share one; the query says what is excluded.
        """
        ...

    def score(
        self, query: Floats | LexicalQuery, slots: IntArray, window: ContextWindow | None = None
    ) -> Found:
        """Return the scores of the given memories, in the order given.

        For a unit vector, the cosine of each memory's best passage, within two thousandths; 0 for one without
        vectors. For terms, BM25 of each memory read with its neighbours in the session, as far as `window`
        says; the terms of a neighbour that may not be seen are not read.
        """
        ...

    def neighbours(self, slots: IntArray, reach: int) -> IntArray:
        """Return who was said up to `reach` before and after each of the given memories; -1 for nobody.

        A row for each step back, then one for each step ahead. Only those that may be seen, whether or not
        they pass the filter.
        """
        ...

    def speakers(self) -> Speakers:
        """Return who speaks in the namespace."""
        ...

    def restricted(self, slots: IntArray) -> Index:
        """Return the same look, in which only these memories may be returned."""
        ...

    def without(self, slots: IntArray | None, terms: Sequence[str]) -> IntArray:
        """Return which memories, of the given or of all, may be returned and have none of the terms."""
        ...

    def document_frequencies(
        self, terms: Sequence[str], field: str = "content"
    ) -> tuple[int, dict[str, int]]:
        """Return how many memories may be seen and how many of those have each term in a field."""
        ...

    def records(self, slots: IntArray | None = None) -> Records:
        """Return the records of the given memories, or of all; of a purged one, the record that says so."""
        ...

    def vectors(self, slots: IntArray) -> Floats:
        """Return the first passage's vector of each memory; zeros for one without."""
        ...

    def names(self, slots: IntArray) -> list[tuple[str, ...]]:
        """Return the names that the given memories mention, in the same order."""
        ...

    def tokens(
        self, table: str, slots: IntArray, read: Callable[[list[Memory]], Sequence[tuple[Tokens, int]]]
    ) -> tuple[IntArray, IntArray, Marks]:
        """Return the tokens of memories one after the other, how many each has, and a few bits of each.

        `read` gives the tokens that a table has for memories; what it gave is kept under the table's name.
        """
        ...

    def memories(self, slots: IntArray) -> list[Memory]:
        """Return the given memories, in the same order."""
        ...
