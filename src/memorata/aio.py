"""The async façade: the same engine, each verb run on a thread.

There is one engine, and it is synchronous; this class adds ``await`` and nothing else. A test compares the
two signature by signature.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from memorata.engine import Engine
from memorata.engine import open as open_engine

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _threaded(
    verb: Callable[Concatenate[Engine, _Arguments], _Result],
) -> Callable[Concatenate[AsyncEngine, _Arguments], Coroutine[Any, Any, _Result]]:
    @wraps(verb)
    async def awaited(self: AsyncEngine, /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return await asyncio.to_thread(verb, self.engine, *args, **kwargs)

    return awaited


class AsyncEngine:
    """An :class:`~memorata.engine.Engine` whose verbs are awaited.

    Examples
    --------
    >>> async def main() -> str:
    ...     async with await open(":memory:", embedder="lexical") as memory:
    ...         await memory.remember("Anna prefers green tea.")
    ...         answer = await memory.recall("what tea does Anna like?")
    ...         return answer.hits[0].memory.content
    >>> asyncio.run(main())
    'Anna prefers green tea.'
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def __aenter__(self) -> AsyncEngine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    remember = _threaded(Engine.remember)
    remember_many = _threaded(Engine.remember_many)
    draft = _threaded(Engine.draft)
    correct = _threaded(Engine.correct)
    change = _threaded(Engine.change)
    pin = _threaded(Engine.pin)
    unpin = _threaded(Engine.unpin)
    used = _threaded(Engine.used)
    confirm = _threaded(Engine.confirm)
    confidence_of = _threaded(Engine.confidence_of)
    maintain = _threaded(Engine.maintain)
    consolidate = _threaded(Engine.consolidate)
    summaries = _threaded(Engine.summaries)
    accept_summary = _threaded(Engine.accept_summary)
    reject_summary = _threaded(Engine.reject_summary)
    about = _threaded(Engine.about)
    purge_subject = _threaded(Engine.purge_subject)
    purge_namespace = _threaded(Engine.purge_namespace)
    get = _threaded(Engine.get)
    list = _threaded(Engine.list)
    history = _threaded(Engine.history)
    recall = _threaded(Engine.recall)
    feedback = _threaded(Engine.feedback)
    recalls = _threaded(Engine.recalls)
    reactions = _threaded(Engine.reactions)
    recipe_named = _threaded(Engine.recipe_named)
    save_recipe = _threaded(Engine.save_recipe)
    saved_recipes = _threaded(Engine.saved_recipes)
    use_recipe = _threaded(Engine.use_recipe)
    rollback_recipe = _threaded(Engine.rollback_recipe)
    forget = _threaded(Engine.forget)
    restore = _threaded(Engine.restore)
    purge = _threaded(Engine.purge)
    relate = _threaded(Engine.relate)
    unrelate = _threaded(Engine.unrelate)
    describe_entity = _threaded(Engine.describe_entity)
    merge_entities = _threaded(Engine.merge_entities)
    undo_merge = _threaded(Engine.undo_merge)
    entities = _threaded(Engine.entities)
    entity = _threaded(Engine.entity)
    relations = _threaded(Engine.relations)
    paths = _threaded(Engine.paths)
    communities = _threaded(Engine.communities)
    near = _threaded(Engine.near)
    timeline = _threaded(Engine.timeline)
    once = _threaded(Engine.once)
    take_over = _threaded(Engine.take_over)
    repeats = _threaded(Engine.repeats)
    find_duplicates = _threaded(Engine.find_duplicates)
    supersede_duplicates = _threaded(Engine.supersede_duplicates)
    duplicate_runs = _threaded(Engine.duplicate_runs)
    undo_duplicates = _threaded(Engine.undo_duplicates)
    contradictions = _threaded(Engine.contradictions)
    settle_contradiction = _threaded(Engine.settle_contradiction)
    settle_contradictions = _threaded(Engine.settle_contradictions)
    embed_pending = _threaded(Engine.embed_pending)
    reembed = _threaded(Engine.reembed)
    index = _threaded(Engine.index)
    check = _threaded(Engine.check)
    close = _threaded(Engine.close)


async def open(*args: Any, **kwargs: Any) -> AsyncEngine:  # noqa: ANN401 - the arguments of memorata.open
    """Open a memory as :func:`memorata.open` does, on a thread; the arguments are the same.

    If whoever waits for it is cancelled, what is opened is closed again.
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
