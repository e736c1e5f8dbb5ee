"""Browse: every memory, newest first, narrowed down by a form.

What is ticked is changed together. Whatever is done to many at once is done to those it changes, and can be
taken back with one click.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response

from memorata import Engine, Memory
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_server.web import forms
from memorata_server.web.context import PageContext, PageRoute

_PAGE_SIZE: Final = 50
_MAX_TICKED: Final = 1_000


@frozen
class Action:
    """An action on memories: whether it would change one, given its state, and how it is undone, if it is."""

    name: str
    done: str
    undo: str
    applies: Callable[[Memory, str], bool]
    verb: Callable[[Engine], Callable[..., object]]


def _reinstate(engine: Engine) -> Callable[..., object]:
    return lambda *ids: [engine.admin.duplicates.reinstate(id_) for id_ in ids]


ACTIONS: Final[Mapping[str, Action]] = {
    action.name: action
    for action in (
        Action("forget", "forgotten", "restore", lambda _, state: state != "forgotten", lambda e: e.forget),
        Action("restore", "restored", "forget", lambda _, state: state == "forgotten", lambda e: e.restore),
        Action(
            "pin", "pinned", "unpin", lambda memory, _: not memory.pinned, lambda e: e.admin.lifecycle.pin
        ),
        Action(
            "unpin", "unpinned", "pin", lambda memory, _: memory.pinned, lambda e: e.admin.lifecycle.unpin
        ),
        Action(
            "reinstate", "current again", "", lambda memory, _: memory.superseded_by is not None, _reinstate
        ),
    )
}


def browse(context: PageContext) -> Response:
    """Show a page of memories."""
    return _listing(context)


def act(context: PageContext) -> Response:
    """Do something to the memories that are ticked, and show the listing again with a way back."""
    ids = list(dict.fromkeys(context.values.texts("memory")))
    if not ids:
        raise InvalidArgument("memory", ids, "at least one ticked memory")
    if len(ids) > _MAX_TICKED:
        raise InvalidArgument("memory", f"{len(ids)} memories", f"at most {_MAX_TICKED} memories")
    action = ACTIONS[checks.one_of("do", context.values.text("do"), tuple(ACTIONS))]
    changed = apply(context, action, ids)
    return _listing(context, action, changed)


def remember(context: PageContext) -> Response:
    """Write a new memory down, and go to it."""
    values = context.values
    details: dict[str, Any] = {}
    if values.text("category"):
        details["category"] = values.text("category")
    if values.listed("tags"):
        details["tags"] = values.listed("tags")
    memory = context.engine.remember(values.text("content"), **details)
    notice = "known" if memory.mentions > 1 else "remembered"
    return context.go(context.url(f"/memories/{memory.id}", done=notice))


def apply(context: PageContext, action: Action, ids: Sequence[str]) -> list[str]:
    """Do something to memories; return the ids of those it changed."""
    memories = context.engine.store.get(context.namespace, ids)
    states = hidden_states(context, memories)
    changed = [memory.id for memory in memories if action.applies(memory, states.get(memory.id, ""))]
    if changed:
        action.verb(context.engine)(*changed)
    return changed


def hidden_states(context: PageContext, memories: Sequence[Memory]) -> dict[str, str]:
    """Return, for those of the memories that recall does not show, why: forgotten, superseded or expired."""
    ids = [memory.id for memory in memories]
    if not ids:
        return {}
    page = context.engine.list(filter={"id": {"in": ids}}, limit=len(ids))
    visible = {memory.id for memory in page.memories}
    forgotten: set[str] = set()
    if len(visible) < len(set(ids)):
        everything = context.engine.store.hidden(context.namespace)
        forgotten = {memory.memory_id for memory in everything if memory.forgotten_at is not None}
    states = {}
    for memory in memories:
        if memory.id in forgotten:
            states[memory.id] = "forgotten"
        elif memory.superseded_by is not None:
            states[memory.id] = "superseded"
        elif memory.expires_at is not None and memory.expires_at <= context.now:
            states[memory.id] = "expired"
    return states


def _listing(context: PageContext, action: Action | None = None, changed: Sequence[str] = ()) -> Response:
    values = context.values
    hidden = values.flag("hidden")
    page = context.engine.list(
        filter=forms.filter_of(values, forms.spellings(context.engine)),
        limit=_PAGE_SIZE,
        cursor=values.text("cursor") or None,
        hidden=hidden,
    )
    filter_fields = {**forms.filter_fields(values), "hidden": "true" if hidden else ""}
    variables: dict[str, Any] = {
        "memories": page.memories,
        "states": hidden_states(context, page.memories),
        "cursor": page.cursor,
        "current_cursor": values.text("cursor"),
        "fields": filter_fields,
        "narrowed": forms.filled(values),
        "hidden": hidden,
        "filters": len(forms.filter_fields(values).keys() - {"text"}) + hidden,
        "tiers": forms.TIERS,
        "action": action,
        "changed": changed,
        "remembered": context.remembered,
        "imported": values.whole("imported", 0),
        "failed": values.whole("failed", 0),
    }
    if context.fragment and context.target == "listing":
        response = context.page("browse_listing.html", **variables)
        if action is None:
            response.headers["HX-Replace-Url"] = context.url("/memories", filter_fields)
        return response
    choices = forms.choices(context.engine)
    return context.page("browse.html", choices=choices, **variables)


ROUTES: Final = (
    PageRoute("/memories", browse),
    PageRoute("/memories", remember, "POST"),
    PageRoute("/memories/act", act, "POST"),
)
