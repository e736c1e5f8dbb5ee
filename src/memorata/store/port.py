"""What a store is: the contract between the engine and a database.

A store keeps memories, their words and their vectors; a write is one transaction. Searching goes through a
:class:`View`, one consistent look at one namespace. `tests/store` holds any store to this contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.checks import FloatArray, IntArray
from memorata.model.memory import Memory
from memorata.store.port_parts import LearningStore, NamedStore, RepeatStore, ServedStore, VectorStore

# A port names them all and makes none of them: who only recalls loads those of a recall.
if TYPE_CHECKING:
    from memorata.index.lexical import LexicalQuery
    from memorata.index.record import Records
    from memorata.model.errors import StoreCorrupt
    from memorata.model.period import Period
    from memorata.model.place import Place
    from memorata.rank.combination import Combination
    from memorata.rank.context import ContextWindow
    from memorata.store.filters import Filter

_Result = TypeVar("_Result")

Floats = npt.NDArray[np.float32]
Progress = Callable[[str, int, int], None]
"""Told what is being done, how far it is, and how much there is."""
Terms = Mapping[str, Mapping[str, int]]
"""The words of a memory: by field, each term and how often it occurs."""


@frozen(eq=False)
class Entry:
    """A memory to be added, with everything derived from it.

    Parameters
    ----------
    memory
        The memory; its fingerprint set.
    terms
        Its analysed words.
    vectors
        One row per passage, of the store's embedder; None when they could not be computed yet.
    digest
        The address of the embedded text, so that the same text is embedded once.
    """

    memory: Memory
    terms: Terms
    vectors: Floats | None = None
    digest: bytes = b""


@frozen
class Hidden:
    """Since when a memory has been hidden: forgotten, or superseded, or both.

    Attributes
    ----------
    memory_id
        Which one.
    forgotten_at, superseded_at
        Since when; None if it was not.
    end_given
        Whether its `valid_to` was given by what superseded it, so that nobody knew of it before; False for an
        end of its own, or none. None where it is not superseded, or nobody says.
    repeat
        How it repeats what superseded it, as the note about that says (:attr:`Repeat.kind`); None without
        one.
    """

    memory_id: str
    forgotten_at: datetime | None
    superseded_at: datetime | None
    end_given: bool | None = None
    repeat: str | None = None


@frozen
class Change:
    """One entry of the change feed; `memory_id` is empty for what is about entities."""

    number: int
    namespace: str
    memory_id: str
    kind: str


@frozen
class Page:
    """Some memories of a listing, and where it goes on; `cursor` is None at the end."""

    memories: tuple[Memory, ...]
    cursor: str | None


@frozen(eq=False)
class Found:
    """What a leg found.

    Attributes
    ----------
    slots, scores
        The memories, best first, and their scores.
    detail
        Given slots, tells what each term in each field added to their scores; None for a leg without terms.
        It can be asked after the view is closed.
    ceiling
        The score of an average text that has every known term of the question once; 0 for a leg without.
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


class View(Protocol):
    """One consistent look at the memories of one namespace that may be seen and pass a filter.

    Memories are known by slot, a number that never changes.
    """

    @property
    def count(self) -> int:
        """How many memories may be returned."""
        ...

    @property
    def pending(self) -> int:
        """How many memories have no vector of the store's embedder yet."""
        ...

    @property
    def change(self) -> int:
        """The last change of the namespace that can be seen; 0 for one that there is not."""
        ...

    @property
    def methods(self) -> Mapping[str, str]:
        """How it was searched so far, for people: by ``"vector"`` and by ``"lexical"``, as far as it was."""
        ...

    def nearest(
        self, query: Floats, limit: int, excluded: Sequence[str] = (), *, rough: bool = False
    ) -> Found:
        """Return the memories whose best passage is closest to a unit vector, with their cosines.

        Only those that have none of the `excluded` terms in their content. A `rough` answer is for those who
        ask for :meth:`cosines` next: it may be as inexact as that is.
        """
        ...

    def lexical(self, query: LexicalQuery, limit: int) -> Found:
        """Return the memories with the highest BM25 scores; only those that share a term."""
        ...

    def in_context(self, query: LexicalQuery, slots: IntArray, reading: ContextWindow) -> Found:
        """Return the BM25 scores of the given memories, each read with its neighbours in the session.

        In the order given. The words of a neighbour that may not be seen are not read.
        """
        ...

    def neighbours(self, slots: IntArray, reach: int) -> IntArray:
        """Return the memories said up to `reach` before and after the given ones, each once, ascending.

        Only those that may be returned; some may be among the given ones.
        """
        ...

    def timely(self, period: Period, limit: int) -> Found:
        """Return the memories from about a period, the closest first, with how close each is, above 0."""
        ...

    def nearby(self, here: Place, limit: int, scale: float) -> Found:
        """Return the memories closest to a point, with how near each is: a half at `scale` metres."""
        ...

    def without(self, slots: IntArray, terms: Sequence[str]) -> IntArray:
        """Return the given memories that may be returned and have none of the terms in their content."""
        ...

    def cosines(self, query: Floats, slots: IntArray) -> FloatArray:
        """Return the cosine of each memory's best passage with the query; 0 for one without vectors.

        Within two thousandths.
        """
        ...

    def document_frequencies(
        self, terms: Sequence[str], field: str = "content"
    ) -> tuple[int, dict[str, int]]:
        """Return how many memories may be seen and how many of those have each term in a field."""
        ...

    def records(self, slots: IntArray) -> Records:
        """Return the records of the given memories; of a purged one, the record that says so."""
        ...

    def vectors(self, slots: IntArray) -> Floats:
        """Return the first passage's vector of each memory; zeros for one without."""
        ...

    def memories(self, slots: IntArray) -> list[Memory]:
        """Return the given memories, in the same order."""
        ...


class Store(VectorStore, NamedStore, ServedStore, LearningStore, RepeatStore, Protocol):
    """A database of memories."""

    @property
    def path(self) -> str:
        """Where it is, as people may see it: no password."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written to it, as it is or as it was opened."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about how it was opened: brought up to date, or only read."""
        ...

    @property
    def rollbacks(self) -> int:
        """How often a write made of several was undone after something in it had been written."""
        ...

    def setting(self, name: str) -> str | None:
        """Return a setting that was remembered in the database."""
        ...

    def remember_setting(self, name: str, value: str) -> None:
        """Remember a setting in the database."""
        ...

    def use_embedder(self, name: str, dimension: int) -> None:
        """Say which embedder the vectors of queries come from; remembered in the database."""
        ...

    def add(self, entries: Sequence[Entry]) -> int:
        """Add memories, all or none, and return the number of the last change.

        A memory that supersedes others marks them, in the same transaction; they count as superseded from
        its `created_at` on. It can supersede only what was added before it and is still current. One that
        says it is superseded itself is so if that names a current memory which was added before it; otherwise
        the younger memory has to say so.
        """
        ...

    def update(
        self, memory: Memory, expected_version: int, terms_of: Callable[[Memory], Terms] | None = None
    ) -> Memory:
        """Replace what is known about a memory, if it is at that version; return it at the next one.

        Tags, entities and the time it happened are searched by their words: they can change only where
        `terms_of` tells the words of a memory, as they were read when it was added.
        """
        ...

    def use(self, namespace: str, ids: Sequence[str], now: datetime) -> None:
        """Count that memories were of use at `now`, all or none; each is at its next version then."""
        ...

    def forget(self, namespace: str, ids: Sequence[str], now: datetime) -> None:
        """Hide memories; `restore` brings them back."""
        ...

    def restore(self, namespace: str, ids: Sequence[str]) -> None:
        """Show forgotten memories again."""
        ...

    def hidden(self, namespace: str) -> list[Hidden]:
        """Return since when the hidden memories of a namespace have been so, in the order they were added."""
        ...

    def hide(self, namespace: str, hidden: Sequence[Hidden]) -> None:
        """Hide memories as :meth:`hidden` told it elsewhere; None leaves a part as it is.

        Only what was superseded can be said to have been so since another time than the store noted. A repeat
        of which there is no note yet gets one.
        """
        ...

    def purge(
        self,
        namespace: str,
        ids: Sequence[str],
        names: Sequence[str] = (),
        terms_of: Callable[[Memory], Terms] | None = None,
    ) -> None:
        """Remove memories and everything derived from them, for good.

        And the entities with any of `names`, what was merged into them, their relations, and the text of
        logged questions that have such a name or a word that tells of it
        (:mod:`memorata.text.gazetteer`); and what somebody saw in experiments whose name has. The feed
        tells of that purge, too, whether or not memories went. Where `terms_of` tells the words of a memory,
        those that stay give back what they took over from what goes because it repeats them.
        """
        ...

    def purge_namespace(self, namespace: str) -> int:
        """Remove a namespace for good, with its name and all that belongs to it; return how many memories.

        Names, relations, logs and whatever else carries the namespace go with them. One of the same name
        that is made later is a new one.
        """
        ...

    def get(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Return memories by id, hidden ones too; raise for an id nobody has."""
        ...

    def known(self, memories: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return which of the given (namespace, id) pairs there are."""
        ...

    def page(
        self, namespace: str, filter: Filter | None, limit: int, cursor: str | None, *, hidden: bool
    ) -> Page:
        """Return memories newest first, a page at a time."""
        ...

    def view(
        self,
        namespace: str,
        now: datetime,
        *,
        as_of: datetime | None = None,
        filter: Filter | None = None,
        true_at: datetime | None = None,
    ) -> AbstractContextManager[View]:
        """Open a consistent look at a namespace: at `now`, as believed at `as_of`, what passes the filter.

        With `true_at`, what held in the world at that instant, as far as it is known (at `as_of`, if given:
        the end that a memory was given by what superseded it later was not known then).
        """
        ...

    def together(self) -> AbstractContextManager[None]:
        """Make everything that this thread writes in the block one transaction: all of it, or nothing."""
        ...

    def relaxed(self, work: Callable[[], _Result], *, fresh: bool = False) -> tuple[_Result, str]:
        """Return what `work` reads, which may be from a replica, and why it was not if it should have been.

        With `fresh` it is not older than what anybody was told to be written, before this was called. `work`
        may be run twice. What it writes is written to the store itself.
        """
        ...

    def written(self) -> int:
        """Return a number that moves when another process has written since it was last asked for."""
        ...

    def changes(self, since: int, limit: int) -> list[Change]:
        """Return the changes after `since`, oldest first."""
        ...

    def namespaces(self) -> Mapping[str, int]:
        """Return every namespace and how many memories it holds, hidden ones included."""
        ...

    def methods(self) -> Mapping[str, str]:
        """Return how searches are done, by ``"vector"`` and by ``"lexical"``, for people."""
        ...

    def statistics(self) -> Mapping[str, Any]:
        """Return sizes and counts, for people."""
        ...

    def export(
        self, namespace: str | None, unreadable: Callable[[StoreCorrupt], None] | None = None
    ) -> Iterator[Memory]:
        """Yield every memory, hidden ones too, in the order they were added.

        One whose row is damaged is an error, or is left out where `unreadable` is given and told about it.
        """
        ...

    def check(self, terms_of: Callable[[Memory], Terms], *, repair: bool = False) -> list[str]:
        """Return what is wrong, in words; with `repair`, write derived data that is wrong anew.

        `terms_of` gives the words of a memory, as they were when it was added.
        """
        ...

    def rebuild(self, namespace: str, terms_of: Callable[[Memory], Terms]) -> None:
        """Write everything derived from the memories of a namespace anew."""
        ...

    def backup(self, target: str | Path) -> None:
        """Copy the database to a file while others go on reading and writing.

        Raises
        ------
        NotSupportedHere
            If it is copied by other means, which the message names.
        """
        ...

    def vacuum(self) -> None:
        """Write the database anew: give back the space of what was removed, and erase every trace of it."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...
