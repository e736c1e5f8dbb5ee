"""Browse: every memory, newest first, narrowed down by a form; what is ticked is changed together.

Whatever is done to many at once is done to those it changes, and can be taken back with one click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.web import filtering
from memorata.web.visit import Room, Visit

_PAGE: Final = 50
_MOST_TICKED: Final = 1_000


@frozen
class Action:
    """Something that is done to memories.

    Attributes
    ----------
    name, done, undo
        What it is called, what is said afterwards, and the action that takes it back.
    applies
        Whether it would change a memory, given whether that is hidden.
    run
        Does it, to ids of a namespace.
    """

    name: str
    done: str
    undo: str
    applies: Callable[[Memory, str], bool]
    run: Callable[[Engine, str, Sequence[str]], None]


ACTIONS: Final[Mapping[str, Action]] = {
    action.name: action
    for action in (
        Action(
            "forget",
            "forgotten",
            "restore",
            lambda memory, state: state != "forgotten",
            lambda engine, namespace, ids: engine.forget(*ids, namespace=namespace),
        ),
        Action(
            "restore",
            "restored",
            "forget",
            lambda memory, state: state == "forgotten",
            lambda engine, namespace, ids: engine.restore(*ids, namespace=namespace),
        ),
        Action(
            "pin",
            "pinned",
            "unpin",
            lambda memory, state: not memory.pinned,
            lambda engine, namespace, ids: engine.lifecycle.pin(*ids, namespace=namespace),
        ),
        Action(
            "unpin",
            "unpinned",
            "pin",
            lambda memory, state: memory.pinned,
            lambda engine, namespace, ids: engine.lifecycle.unpin(*ids, namespace=namespace),
        ),
    )
}


def browse(visit: Visit) -> Response:
    """Show a page of memories."""
    return _listing(visit)


def act(visit: Visit) -> Response:
    """Do something to the memories that are ticked, and show the listing again with a way back."""
    ids = list(dict.fromkeys(visit.values.texts("memory")))
    if not ids:
        raise InvalidArgument("memory", ids, "at least one ticked memory")
    if len(ids) > _MOST_TICKED:
        raise InvalidArgument("memory", f"{len(ids)} memories", f"at most {_MOST_TICKED} memories")
    action = ACTIONS[checks.one_of("do", visit.values.text("do"), tuple(ACTIONS))]
    changed = apply(visit, action, ids)
    return _listing(visit, action, changed)


def remember(visit: Visit) -> Response:
    """Write a new memory down, and go to it."""
    values = visit.values
    details: dict[str, Any] = {}
    if values.text("category"):
        details["category"] = values.text("category")
    if values.listed("tags"):
        details["tags"] = values.listed("tags")
    memory = visit.engine.remember(values.text("content"), namespace=visit.namespace, **details)
    done = "known" if memory.mentions > 1 else "remembered"
    return visit.go(visit.url(f"/memories/{memory.id}", done=done))


def apply(visit: Visit, action: Action, ids: Sequence[str]) -> list[str]:
    """Do something to memories; return the ids of those it changed."""
    memories = visit.engine.store.get(visit.namespace, ids)
    states = hidden_states(visit, memories)
    changed = [memory.id for memory in memories if action.applies(memory, states.get(memory.id, ""))]
    if changed:
        action.run(visit.engine, visit.namespace, changed)
    return changed


def hidden_states(visit: Visit, memories: Sequence[Memory]) -> dict[str, str]:
    """Return, for those of the memories that recall does not show, why: forgotten, superseded or expired."""
    ids = [memory.id for memory in memories]
    if not ids:
        return {}
    page = visit.engine.list(namespace=visit.namespace, filter={"id": {"in": ids}}, limit=len(ids))
    seen = {memory.id for memory in page.memories}
    forgotten: set[str] = set()
    if len(seen) < len(set(ids)):
        everything = visit.engine.store.hidden(visit.namespace)
        forgotten = {each.memory_id for each in everything if each.forgotten_at is not None}
    states = {}
    for memory in memories:
        if memory.id in forgotten:
            states[memory.id] = "forgotten"
        elif memory.superseded_by is not None:
            states[memory.id] = "superseded"
        elif memory.expires_at is not None and memory.expires_at <= visit.now:
            states[memory.id] = "expired"
    return states


def _listing(visit: Visit, action: Action | None = None, changed: Sequence[str] = ()) -> Response:
    values = visit.values
    hidden = values.flag("hidden")
    page = visit.engine.list(
        namespace=visit.namespace,
        filter=filtering.filter_of(values, filtering.spellings(visit.engine, visit.namespace)),
        limit=_PAGE,
        cursor=values.text("cursor") or None,
        hidden=hidden,
    )
    kept = {**filtering.kept(values), "hidden": "true" if hidden else ""}
    context: dict[str, Any] = {
        "memories": page.memories,
        "states": hidden_states(visit, page.memories),
        "cursor": page.cursor,
        "here": values.text("cursor"),
        "kept": kept,
        "narrowed": filtering.filled(values),
        "hidden": hidden,
        "tiers": filtering.TIERS,
        "action": action,
        "changed": changed,
        "remembered": visit.engine.store.namespaces().get(visit.namespace, 0),
    }
    if visit.fragment and visit.target == "listing":
        response = visit.page("browse_listing.html", **context)
        if action is None:
            response.headers["HX-Replace-Url"] = visit.url("/memories", kept)
        return response
    return visit.page("browse.html", **context)


ROOMS: Final = (
    Room("/memories", browse),
    Room("/memories", remember, "POST"),
    Room("/memories/act", act, "POST"),
)
