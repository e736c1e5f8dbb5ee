"""The verbs that only look: get, list, history, and recall."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memorata.embed.reranker import Reranker
from memorata.engine.absence import Returning
from memorata.engine.life import Life
from memorata.engine.meaning import Meaning
from memorata.engine.outcome import Recall
from memorata.engine.recall_log import RecallLog
from memorata.engine.recalling import Recaller, Request
from memorata.engine.recipe import Recipe
from memorata.engine.repairing import Repairing
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.former_names import formerly
from memorata.model.identity import memory_id
from memorata.model.memory import Memory
from memorata.model.period import Period
from memorata.model.place import Place
from memorata.store.port import Floats, Page, Store
from memorata.text.dates import AnchorExtractor
from memorata.text.queries import QueryClassifier

if TYPE_CHECKING:
    from memorata.engine.kept_graphs import Graphs
    from memorata.store.filters import Filter

_Item = TypeVar("_Item")


class ReadingVerbs(Returning, ABC):
    """The part of the engine that finds and shows what is remembered."""

    store: Store
    reranker: Reranker | None
    life: Life
    recall_log: RecallLog
    _clock: Callable[[], datetime]
    _repairing: Repairing
    _classifier: QueryClassifier
    _anchors: AnchorExtractor

    @cached_property
    @abstractmethod
    def _graphs(self) -> Graphs:
        """The graphs of the namespaces."""

    @abstractmethod
    def _namespace(self, given: str | None) -> str:
        """Return the namespace that a call means."""

    @abstractmethod
    def _meaning(self) -> Meaning:
        """Return what embeds."""

    @abstractmethod
    def recipe_named(self, name: Recipe | str | None = None, *, namespace: str | None = None) -> Recipe:
        """Return a recipe by name, or the one that a recall would use."""

    def get(self, id: str, *, namespace: str | None = None) -> Memory:
        """Return one memory by its id, hidden ones too."""
        return self.store.get(self._namespace(namespace), [memory_id("id", id)])[0]

    def list(
        self,
        *,
        namespace: str | None = None,
        filter: Mapping[str, Any] | None = None,
        limit: int = 50,
        cursor: str | None = None,
        hidden: bool = False,
        fresh: bool = True,
    ) -> Page:
        """Return memories newest first, a page at a time.

        Parameters
        ----------
        namespace
            Whose memories; None for the engine's.
        filter
            Conditions as plain data: ``{"category": "preference", "confidence": {">=": 0.5}}``.
        limit
            How many at most.
        cursor
            The `cursor` of the page before.
        hidden
            Whether forgotten and superseded memories are shown too.
        fresh
            Whether the page must know all that was written before; without it, it may be read from a replica.
        """
        condition = _parsed(filter)
        checks.whole("limit", limit)
        if cursor is not None:
            checks.text("cursor", cursor)
        path = self._namespace(namespace)

        def read() -> Page:
            return self.store.page(path, condition, limit, cursor, hidden=hidden)

        return read() if checks.flag("fresh", fresh) else self.store.relaxed(read)[0]

    def history(self, id: str, *, namespace: str | None = None) -> tuple[Memory, ...]:
        """Return the whole chain a memory is part of: what was replaced before what replaced it."""
        path = self._namespace(namespace)
        current = self.get(id, namespace=path)
        while current.superseded_by is not None:
            current = self.get(current.superseded_by, namespace=path)
        newest_first = [current]
        for found in newest_first:
            newest_first += reversed(self.store.replaced(path, [found.id]))
        return tuple(reversed(newest_first))

    @formerly("text", "question")
    def recall(
        self,
        question: str,
        *,
        limit: int = 10,
        sessions: bool = False,
        namespace: str | None = None,
        recipe: Recipe | str | None = None,
        changes: Mapping[str, Any] | None = None,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        as_of: datetime | None = None,
        true_at: datetime | None = None,
        period: Period | None = None,
        near: Place | None = None,
        budget: int | None = None,
        vector: Floats | None = None,
        fresh: bool = False,
    ) -> Recall:
        """Find the right few memories for a question, and say why.

        Parameters
        ----------
        question
            What to look for. Quoted phrases count extra; a word or a quoted phrase after a minus must not
            occur. It was called `text` before, and that name is still understood.
        limit
            How many hits at most.
        sessions
            Rank sessions instead of single memories: `limit` counts sessions, and each comes with the up to
            three memories that speak for it.
        namespace
            Whose memory; None for the engine's.
        recipe
            How to search: the name of a shipped or saved recipe, or a recipe; None for what the namespace
            uses, which is the engine's unless somebody said otherwise.
        changes
            Parameters of the recipe to change for this question.
        filter
            Conditions on the memories; see :meth:`list`.
        now
            The moment of asking, whose time zone says when "yesterday" began; None for the clock's.
        as_of
            Answer with what was believed at that moment.
        true_at
            Answer with what held in the world at that moment, as far as it is known.
        period
            The time the question is about, if known; otherwise its words may name one.
        near
            Where to look around: memories from near there count more.
        budget
            How many tokens the hits may take together; whole memories only.
        vector
            The question's vector, if it has been computed already.
        fresh
            Whether the answer must know all that was written before, by anybody; without it, one that is read
            from a replica may not know of the last moments.
        """
        # The instant alone would do for everything but the days that the question names.
        moment = self._clock() if now is None else checks.instant("now", now).astimezone(now.tzinfo)
        request = Request(
            text=checks.writable("question", question),
            limit=checks.whole("limit", limit),
            sessions=checks.flag("sessions", sessions),
            namespace=self._namespace(namespace),
            recipe=self._recipe(recipe, changes, namespace),
            filter=_parsed(filter),
            now=moment,
            as_of=checks.optional_instant("as_of", as_of),
            true_at=checks.optional_instant("true_at", true_at),
            period=_of_type("period", period, Period),
            near=_of_type("near", near, Place),
            budget=None if budget is None else checks.whole("budget", budget),
            vector=vector,
            fresh=checks.flag("fresh", fresh),
            id=self.recall_log.name(moment),
        )
        if request.recipe.vector_pool:
            self._look_again()
        recaller = Recaller(
            self._repairing,
            self._meaning(),
            self._classifier,
            self.reranker,
            self._anchors,
            lambda path, now, as_of: self._graphs.at(path, now, as_of),
            self.life,
        )
        answer = recaller.answer(request)
        self.recall_log.note(request, answer)
        return answer

    def _recipe(
        self, given: Recipe | str | None, changes: Mapping[str, Any] | None, namespace: str | None
    ) -> Recipe:
        chosen = self.recipe_named(given, namespace=namespace)
        return chosen if changes is None or changes == {} else chosen.changed(changes)


def _parsed(given: Mapping[str, Any] | None) -> Filter | None:
    if given is None:
        return None
    from memorata.store.filters import parse

    return parse(given)


_SUCH_AS: Final[Mapping[type, str]] = MappingProxyType(
    {Period: "Period(start, end) of two datetimes", Place: "Place(48.857, 2.352)"}
)


def _of_type(name: str, value: _Item | None, kind: type[_Item]) -> _Item | None:
    if value is not None and not isinstance(value, kind):
        raise InvalidArgument(name, value, f"a {kind.__name__}, such as {_SUCH_AS[kind]}")
    return value
