"""The port of a search: the index of one namespace as the engine uses it, and the candidates of a leg.

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

# Types only: a process that only recalls does not import what it does not use.
if TYPE_CHECKING:
    from memorata.index.lexical import LexicalQuery
    from memorata.index.record import Records
    from memorata.index.token_rows import Marks, Tokens
    from memorata.rank.bm25 import ContextWindow
    from memorata.rank.scores import Combination


@frozen(eq=False)
class LegCandidates:
    """The candidates of one leg.

    Attributes
    ----------
    slots, scores
        The memories, best first, and their scores.
    detail
        Returns what each term in each field added to the scores of slots; None for a leg without terms. It
        can be called after the index is closed.
    ceiling
        The score of an average text that has every term of the query once; 0 for a leg without terms.
    exact
        Whether every allowed memory was compared, so that no other has a higher score.
    """

    slots: IntArray
    scores: FloatArray
    detail: Callable[[IntArray], Combination] | None = None
    ceiling: float = 0.0
    exact: bool = False


NO_CANDIDATES: Final = LegCandidates(np.zeros(0, np.intp), np.zeros(0))
"""The candidates of a leg without a query, or without seeds."""


_PAIR_SHARE: Final = 0.9
"""Least share of sessions with at most two speakers in a namespace of pairs."""


class Speakers:
    """The speakers of a namespace, also by session; grows with the memories."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self._by_session: dict[str, frozenset[str]] = {}
        self._crowded = 0

    def add(self, spoken: Iterable[tuple[str, str]]) -> None:
        """Add pairs of session and speaker; the session is empty for a memory in none."""
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
        """Whether there are at most two speakers: in the namespace, or in nine of ten of its sessions."""
        sessions = len(self._by_session)
        return len(self.names) <= 2 or 0 < sessions >= _PAIR_SHARE * sessions + self._crowded

    def of(self, session: str) -> frozenset[str]:
        """Return the speakers of a session."""
        return self._by_session.get(session, frozenset())


@frozen
class Status:
    """The size of an index, and how it is searched."""

    count: int
    """The number of memories that may be returned."""
    pending: int
    """The number of memories without a vector of the store's embedder."""
    change: int
    """The last visible change of the namespace; 0 for one that does not exist."""
    methods: Mapping[str, str]
    """The search methods used so far, by leg: ``"vector"`` and ``"lexical"``."""


class Index(Protocol):
    """A consistent view of the visible memories of one namespace that pass a filter.

    Memories are identified by slot, a number that never changes.
    """

    @property
    def status(self) -> Status:
        """The size of the view, and how it was searched so far."""
        ...

    def search(
        self,
        query: Floats | LexicalQuery,
        limit: int,
        excluded: Sequence[str] = (),
        *,
        rough: bool = False,
    ) -> LegCandidates:
        """Return the best memories, best first: by the cosine of a unit vector, or by BM25 of terms.

        For a vector, the memories whose best passage is closest to it, without the `excluded` terms in their
        content. A `rough` result is for callers of :meth:`score`: it may be as inexact as that is. For terms,
        only memories that share one; the query has the excluded terms.
        """
        ...

    def score(
        self, query: Floats | LexicalQuery, slots: IntArray, window: ContextWindow | None = None
    ) -> LegCandidates:
        """Return the scores of the memories in `slots`, in the same order.

        For a unit vector, the cosine of each memory's best passage, within two thousandths; 0 for one without
        vectors. For terms, BM25 of each memory read with its neighbours in the session, as far as `window`
        says; the terms of a neighbour that is not visible are not read.
        """
        ...

    def neighbours(self, slots: IntArray, reach: int) -> IntArray:
        """Return the slots up to `reach` before and after each memory in its session; -1 for none.

        A row for each step back, then one for each step ahead. All neighbours are visible, whether or not
        they pass the filter.
        """
        ...

    def speakers(self) -> Speakers:
        """Return the speakers of the namespace."""
        ...

    def restricted(self, slots: IntArray) -> Index:
        """Return the same view, in which only these memories may be returned."""
        ...

    def without(self, slots: IntArray | None, terms: Sequence[str]) -> IntArray:
        """Return the slots, of these or of all, that may be returned and have none of the terms."""
        ...

    def document_frequencies(
        self, terms: Sequence[str], field: str = "content"
    ) -> tuple[int, dict[str, int]]:
        """Return the number of visible memories, and of those with each term in a field."""
        ...

    def records(self, slots: IntArray | None = None) -> Records:
        """Return the records of memories, or of all; a purged one has the state `GONE`."""
        ...

    def vectors(self, slots: IntArray) -> Floats:
        """Return the first passage's vector of each memory; zeros for one without."""
        ...

    def names(self, slots: IntArray) -> list[tuple[str, ...]]:
        """Return the names that memories mention, in the same order."""
        ...

    def tokens(
        self, table: str, slots: IntArray, read: Callable[[list[Memory]], Sequence[tuple[Tokens, int]]]
    ) -> tuple[IntArray, IntArray, Marks]:
        """Return the concatenated tokens of memories, the number of each, and a few bits of each.

        `read` returns the tokens of memories in a table; they are cached under the table's name.
        """
        ...

    def memories(self, slots: IntArray) -> list[Memory]:
        """Return the memories of slots, in the same order."""
        ...
