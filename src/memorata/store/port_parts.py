"""The parts of a store's contract that one idea each has, put together in :mod:`memorata.store.port`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

# As the whole port does, they name their types and make none of them.
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from memorata.model.memory import Memory
    from memorata.store.access import KeyStore, ReplyStore
    from memorata.store.embedding import Embedded
    from memorata.store.entities import EntityStore
    from memorata.store.exposures import ExposureStore
    from memorata.store.feedback import FeedbackStore
    from memorata.store.graph import GraphStore
    from memorata.store.leases import LeaseStore
    from memorata.store.port import Floats, Page, Progress, Terms
    from memorata.store.recall_log import RecallLogStore
    from memorata.store.relations import RelationStore
    from memorata.store.repeats import Contradiction, Linked, Repeat, Run, Undone
    from memorata.store.saved_settings import SavedSettingStore

_Result = TypeVar("_Result")


class VectorStore(Protocol):
    """What a store promises about vectors: whose they are, and what still waits for its own."""

    def dimension_of(self, embedder: str) -> int | None:
        """Return how long the vectors of an embedder are, as recorded; None for one that was never used."""
        ...

    def cached_vectors(self, namespace: str, digests: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the vectors that texts of a namespace with these addresses have from the current embedder.

        Of that namespace alone: otherwise who may write in one could tell by the time it takes what others
        hold.
        """
        ...

    def waiting(self, limit: int, cursor: str | None = None) -> Page:
        """Return memories without a vector of the current embedder, of every namespace, a page at a time.

        Hidden ones too. What gets its vector meanwhile does not come up again, and moves no other.
        """
        ...

    def count_waiting(self) -> int:
        """Return how many memories have no vector of the current embedder."""
        ...

    def other_vectors(self) -> Mapping[str, int]:
        """Return how many memories have vectors of each other embedder; nothing for those without any."""
        ...

    def put_vectors(self, given: Sequence[Embedded]) -> int:
        """Give memories their vectors, all in one transaction; return how many still waited for them.

        One that was purged or embedded in the meantime is left out. The others are at their next version.
        """
        ...

    def renew_codes(self, progress: Progress = lambda what, done, total: None) -> bool:
        """Bring what is derived from vectors up to date for the current embedder, one step of it.

        Return whether there was anything to do. Searches are right before and after; they are only faster.
        `progress` is told what is done, how far it is and of how much; 0 where nobody knows. It may raise,
        and what was begun is undone.
        """
        ...

    def drop_vectors(self, limit: int) -> int:
        """Remove up to `limit` vectors of other embedders than the current one; return how many."""
        ...


class NamedStore(Protocol):
    """What a store keeps about entities, relations and the graph."""

    @property
    def entities(self) -> EntityStore:
        """The declared entities."""
        ...

    @property
    def relations(self) -> RelationStore:
        """The relations between entities."""
        ...

    @property
    def graph(self) -> GraphStore:
        """What connects memories."""
        ...


class ServedStore(Protocol):
    """What a store promises to those who serve it: keys, answers, work that is tried again, leases."""

    @property
    def keys(self) -> KeyStore:
        """The API keys."""
        ...

    @property
    def replies(self) -> ReplyStore:
        """The replies to requests with an idempotency key."""
        ...

    @property
    def leases(self) -> LeaseStore:
        """The leases on long work."""
        ...

    def tried(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, which is done again where the database gave way in the middle of it.

        That is if the connection was lost, or others were in the way, and nothing of it was written. `work`
        may read as often as it likes, and write in one transaction (:meth:`Store.together`).
        """
        ...


class LearningStore(Protocol):
    """What a store keeps for learning: logged recalls, feedback on them, experiments, saved settings."""

    @property
    def recalls(self) -> RecallLogStore:
        """The log of recalls."""
        ...

    @property
    def feedback(self) -> FeedbackStore:
        """The feedback on hits of logged recalls."""
        ...

    @property
    def exposures(self) -> ExposureStore:
        """Who was shown which variant of an experiment."""
        ...

    @property
    def saved_settings(self) -> SavedSettingStore:
        """Recipes, calibrations and decisions, in versions."""
        ...


class RepeatStore(Protocol):
    """What a store promises about what was said again, and what may not both be true."""

    def same(self, namespace: str, fingerprints: Sequence[str], now: datetime) -> dict[str, list[Memory]]:
        """Return the memories that may be seen at `now` with each of the fingerprints, oldest first.

        Turns of a transcript (a speaker, a session, and a position in it) are left out.
        """
        ...

    def unheard(self, namespace: str, content: str) -> bool:
        """Tell whether it is certain that no memory of a namespace is repeated or contradicted by a text.

        False where that is not known, or takes longer to find out than a search.
        """
        ...

    def replaced(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that any of the given ones superseded, in the order they were added."""
        ...

    def repeat(
        self, namespace: str, given: Sequence[Repeat], terms_of: Callable[[Memory], Terms] | None = None
    ) -> None:
        """Supersede memories that repeat others, and note it; all or none.

        Both ends must be current. One that repeats a younger memory held until that began, and is listed in
        its `supersedes`; one that repeats an older memory is linked by its own `superseded_by` alone. The one
        that stays gains mentions and confidence as the note says. Where `terms_of` tells the words of a
        memory, it also takes over what is known only of the other (:mod:`memorata.store.inheritance`).
        """
        ...

    def relink(self, namespace: str, links: Sequence[Linked]) -> None:
        """Say which memories took the place of which, as another store has it; all or none.

        Until when each of them held stays as it is. Nobody may lead back to where they began.
        """
        ...

    def repeats(
        self, namespace: str, *, of: Sequence[str] | None = None, run: int | None = None
    ) -> list[Repeat]:
        """Return notes of repeats, in the order in which they were made."""
        ...

    def start_run(self, namespace: str, strategy: str, now: datetime) -> Run:
        """Begin a run that supersedes duplicates, or go on with the last one if it was interrupted."""
        ...

    def finish_run(self, namespace: str, number: int, now: datetime) -> None:
        """Say that a run is done."""
        ...

    def runs(self, namespace: str) -> list[Run]:
        """Return the runs over a namespace, the latest first."""
        ...

    def undo_run(
        self,
        namespace: str,
        number: int,
        now: datetime,
        terms_of: Callable[[Memory], Terms] | None = None,
    ) -> Undone:
        """Take back what a run did, in one transaction.

        A confidence that has changed since stays; so does what repeats a memory that was superseded in the
        meantime. What was taken over is given back where `terms_of` tells the words of a memory.
        """
        ...

    def note_contradictions(self, namespace: str, given: Sequence[Contradiction]) -> None:
        """Note that memories may contradict others; what is noted already stays as it is."""
        ...

    def contradictions(
        self, namespace: str, *, id: str | None = None, settled: bool = False
    ) -> list[Contradiction]:
        """Return what was noted about one memory or about all, in the order in which it was.

        Without `settled` only what nobody decided, between memories that are neither forgotten nor
        superseded.
        """
        ...

    def settle_contradiction(self, namespace: str, given: Contradiction) -> None:
        """Write a decision down; with ``"contradicts"`` the newer memory supersedes the older one.

        Both must be current for that, and the newer must have been added after the older.
        """
        ...
