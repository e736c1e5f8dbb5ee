"""The async façade: the same engine, each verb run on a thread.

There is one engine, and it is synchronous; these classes add ``await`` and nothing else. A test compares the
two signature by signature.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from memorata.engine.access import Idempotency
from memorata.engine.admin import Admin
from memorata.engine.duplicates import DuplicateGroups
from memorata.engine.engine import Engine
from memorata.engine.factory import open as open_engine
from memorata.engine.feedback import FeedbackLog
from memorata.engine.lifecycle import Lifecycle
from memorata.engine.namespaces import Namespaces
from memorata.engine.saved_recipes import Recipes
from memorata.engine.transfer import Imports, Transfer

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Object = TypeVar("_Object", covariant=True)


class _Facet(Generic[_Object]):
    """Holds the object whose methods are awaited."""

    def __init__(self, plain: _Object) -> None:
        self._plain = plain


def _threaded(
    method: Callable[Concatenate[_Object, _Arguments], _Result],
) -> Callable[Concatenate[_Facet[_Object], _Arguments], Coroutine[Any, Any, _Result]]:
    """Return a method that runs that of the plain object on a thread."""

    @wraps(method)
    async def awaited(
        self: _Facet[_Object], /, *args: _Arguments.args, **kwargs: _Arguments.kwargs
    ) -> _Result:
        return await asyncio.to_thread(method, self._plain, *args, **kwargs)

    return awaited


class AsyncDuplicateGroups(_Facet[DuplicateGroups]):
    """The facet `duplicates`, awaited."""

    repeats = _threaded(DuplicateGroups.repeats)
    find = _threaded(DuplicateGroups.find)
    supersede = _threaded(DuplicateGroups.supersede)
    runs = _threaded(DuplicateGroups.runs)
    undo = _threaded(DuplicateGroups.undo)
    reinstate = _threaded(DuplicateGroups.reinstate)
    contradictions = _threaded(DuplicateGroups.contradictions)
    resolve_contradiction = _threaded(DuplicateGroups.resolve_contradiction)
    resolve_contradictions = _threaded(DuplicateGroups.resolve_contradictions)


class AsyncLifecycle(_Facet[Lifecycle]):
    """The facet `lifecycle`, awaited."""

    maintain = _threaded(Lifecycle.maintain)
    consolidate = _threaded(Lifecycle.consolidate)
    summaries = _threaded(Lifecycle.summaries)
    accept_summary = _threaded(Lifecycle.accept_summary)
    reject_summary = _threaded(Lifecycle.reject_summary)
    pin = _threaded(Lifecycle.pin)
    unpin = _threaded(Lifecycle.unpin)
    mark_used = _threaded(Lifecycle.mark_used)
    confirm = _threaded(Lifecycle.confirm)
    confidence_of = _threaded(Lifecycle.confidence_of)


class AsyncRecipes(_Facet[Recipes]):
    """The facet `recipes`, awaited."""

    forget = _threaded(Recipes.forget)
    get = _threaded(Recipes.get)
    save = _threaded(Recipes.save)
    list = _threaded(Recipes.list)
    use = _threaded(Recipes.use)
    rollback = _threaded(Recipes.rollback)


class AsyncFeedbackLog(_Facet[FeedbackLog]):
    """The facet `feedback`, awaited."""

    record = _threaded(FeedbackLog.record)
    recalls = _threaded(FeedbackLog.recalls)
    list = _threaded(FeedbackLog.list)


class AsyncNamespaces(_Facet[Namespaces]):
    """The facet `namespaces`, awaited."""

    recall = _threaded(Namespaces.recall)
    link = _threaded(Namespaces.link)
    unlink = _threaded(Namespaces.unlink)
    links = _threaded(Namespaces.links)
    move = _threaded(Namespaces.move)
    split = _threaded(Namespaces.split)
    list = _threaded(Namespaces.list)
    purge = _threaded(Namespaces.purge)


class AsyncImports(_Facet[Imports]):
    """The imports of the facet `transfer`, awaited."""

    begin = _threaded(Imports.begin)
    note = _threaded(Imports.note)
    note_relation = _threaded(Imports.note_relation)
    list = _threaded(Imports.list)
    undo = _threaded(Imports.undo)


class AsyncTransfer(_Facet[Transfer]):
    """The facet `transfer`, awaited."""

    def __init__(self, plain: Transfer) -> None:
        super().__init__(plain)
        self.imports = AsyncImports(plain.imports)

    import_records = _threaded(Transfer.import_records)
    export = _threaded(Transfer.export)
    copy = _threaded(Transfer.copy)


class AsyncIdempotency(_Facet[Idempotency]):
    """The facet `idempotency`, awaited."""

    once = _threaded(Idempotency.once)


class AsyncAdmin(_Facet[Admin]):
    """The facet `admin`, awaited."""

    def __init__(self, plain: Admin) -> None:
        super().__init__(plain)
        self.duplicates = AsyncDuplicateGroups(plain.duplicates)
        self.feedback = AsyncFeedbackLog(plain.feedback)
        self.idempotency = AsyncIdempotency(plain.idempotency)
        self.lifecycle = AsyncLifecycle(plain.lifecycle)
        self.namespaces = AsyncNamespaces(plain.namespaces)
        self.recipes = AsyncRecipes(plain.recipes)
        self.transfer = AsyncTransfer(plain.transfer)

    check = _threaded(Admin.check)
    set_trust = _threaded(Admin.set_trust)
    stats = _threaded(Admin.stats)
    changes = _threaded(Admin.changes)
    backup = _threaded(Admin.backup)
    vacuum = _threaded(Admin.vacuum)
    embed_pending = _threaded(Admin.embed_pending)
    reembed = _threaded(Admin.reembed)
    use_prompts = _threaded(Admin.use_prompts)


class AsyncEngine(_Facet[Engine]):
    """An :class:`~memorata.engine.Engine` whose verbs are awaited.

    >>> async def main() -> str:
    ...     async with await open(":memory:", embedder="lexical") as memory:
    ...         await memory.remember("Anna prefers green tea.")
    ...         answer = await memory.recall("what tea does Anna like?")
    ...         return answer.hits[0].memory.content
    >>> asyncio.run(main())
    'Anna prefers green tea.'
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.engine = engine
        self.admin = AsyncAdmin(engine.admin)

    async def __aenter__(self) -> AsyncEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def scope(
        self, namespace: str | None = None, *, via: str | None = None, logged: bool = True
    ) -> AsyncEngine:
        """Return this memory bound to a namespace; see :meth:`memorata.Engine.scope`."""
        return AsyncEngine(self.engine.scope(namespace, via=via, logged=logged))

    close = _threaded(Engine.close)
    remember = _threaded(Engine.remember)
    remember_many = _threaded(Engine.remember_many)
    draft = _threaded(Engine.draft)
    correct = _threaded(Engine.correct)
    update = _threaded(Engine.update)
    get = _threaded(Engine.get)
    put = _threaded(Engine.put)
    delete = _threaded(Engine.delete)
    list = _threaded(Engine.list)
    history = _threaded(Engine.history)
    briefing = _threaded(Engine.briefing)
    recall = _threaded(Engine.recall)
    forget = _threaded(Engine.forget)
    restore = _threaded(Engine.restore)
    purge = _threaded(Engine.purge)


async def open(*args: Any, **kwargs: Any) -> AsyncEngine:  # noqa: ANN401 - the arguments of memorata.open
    """Open a memory as :func:`memorata.open` does, on a thread; the arguments are the same.

    If the awaiting task is cancelled, what is opened is closed again.
    """
    lock = threading.Lock()
    opened: Engine | None = None
    left = False

    def work() -> None:
        nonlocal opened
        engine = open_engine(*args, **kwargs)
        with lock:
            if not left:
                opened = engine
                return
        engine.close()

    try:
        await asyncio.to_thread(work)
    except asyncio.CancelledError:
        with lock:
            left, unwanted = True, opened
        if unwanted is not None:
            unwanted.close()
        raise
    assert opened is not None
    return AsyncEngine(opened)
