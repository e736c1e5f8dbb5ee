"""One memory: its content, source, history, neighbours and duplicates, and the forms that change it.

A field of a page holds less than a memory: no line break, no microseconds, no space around a name. What comes
back as it was shown is therefore left as it is, and not read again from what the field could hold of it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

from starlette.responses import Response

from memorata import Memory, Place
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_server.web.browse import ACTIONS, apply, hidden_states
from memorata_server.web.context import PageContext, PageRoute
from memorata_server.web.forms import TIERS, Values, joined
from memorata_server.web.search import Row, rows, signal

_MAX_NEIGHBOURS: Final = 3
_MAX_SIMILAR: Final = 5
_MAX_QUERY_LENGTH: Final = 2_000
_MAX_SESSION_MEMORIES: Final = 500
_NOTICES: Final = {
    "remembered": "Remembered.",
    "known": "That was known already: this is the memory, and it counts as said once more.",
    "corrected": "Corrected: this is the new memory.",
    "changed": "Changed.",
}
# In a question quotes ask for a phrase and a minus for an absence; a memory's own words mean neither.
_SYNTAX: Final = re.compile(r'["“”„«»「」『』\-]')


def show(context: PageContext) -> Response:
    """Show one memory; without an id, go to where all are."""
    if not context.parts["id"]:
        return context.go(context.url("/memories"))
    memory = context.engine.get(context.parts["id"])
    history = context.engine.history(memory.id)
    neighbours = _neighbours(context, memory)
    states = hidden_states(
        context, list({version.id: version for version in (*history, *neighbours, memory)}.values())
    )
    return context.page(
        "memory.html",
        memory=memory,
        history=history,
        neighbours=neighbours,
        states=states,
        state=states.get(memory.id, ""),
        repeats=context.engine.admin.duplicates.repeats(memory.id),
        contradictions=context.engine.admin.duplicates.contradictions(memory.id, resolved=True),
        form=written(memory),
        times=TIMES,
        tiers=TIERS,
        done=ACTIONS.get(context.values.text("done")),
        news=_NOTICES.get(context.values.text("done"), ""),
    )


def similar(context: PageContext) -> Response:
    """Show the memories that are most like one, by its own words and meaning."""
    memory = context.engine.get(context.parts["id"])
    words = _SYNTAX.sub(" ", memory.content)[:_MAX_QUERY_LENGTH].strip()
    similar_rows: tuple[Row, ...] = ()
    if words:
        # With the memory itself among the hits: scores are relative to the best, which it is.
        answer = context.engine.scope(logged=False).recall(words, limit=_MAX_SIMILAR + 1)
        similar_rows = tuple(row for row in rows(answer) if row.hit.id != memory.id)[:_MAX_SIMILAR]
    return context.page("similar.html", rows=similar_rows, signal=signal)


def act(context: PageContext) -> Response:
    """Do one of the actions to a memory, and come back to it."""
    id_ = context.parts["id"]
    action = ACTIONS[checks.one_of("do", context.values.text("do"), tuple(ACTIONS))]
    apply(context, action, [id_])
    return context.go(context.url(f"/memories/{id_}", done=action.name))


def correct(context: PageContext) -> Response:
    """Say something new in place of a memory, and go to the new one."""
    new = context.engine.correct(context.parts["id"], context.values.text("content"))
    return context.go(context.url(f"/memories/{new.id}", done="corrected"))


def change(context: PageContext) -> Response:
    """Change the fields of a memory, unless its version has changed since the form was shown."""
    values, id_ = context.values, context.parts["id"]
    memory = context.engine.get(id_)
    context.engine.update(id_, expected_version=values.whole("version", 0, 1), **changes(values, memory))
    return context.go(context.url(f"/memories/{id_}", done="changed"))


def _neighbours(context: PageContext, memory: Memory) -> tuple[Memory, ...]:
    """Return the neighbours of a memory in its session, in order, with the memory itself."""
    session, position = memory.source.session, memory.source.position
    if not session:
        return ()
    condition: dict[str, Any] = {"session": session}
    if position is not None:
        condition["position"] = {">=": position - _MAX_NEIGHBOURS, "<=": position + _MAX_NEIGHBOURS}
    page = context.engine.list(filter=condition, limit=_MAX_SESSION_MEMORIES, hidden=True)

    def order(turn: Memory) -> tuple[float, str]:
        position = turn.source.position
        return (turn.created_at.timestamp() if position is None else float(position), turn.id)

    ordered = sorted(page.memories, key=order)
    index = next((place for place, version in enumerate(ordered) if version.id == memory.id), None)
    if index is None or len(ordered) < 2:
        return ()
    return tuple(ordered[max(0, index - _MAX_NEIGHBOURS) : index + _MAX_NEIGHBOURS + 1])


# An id may have slashes, so the addresses with more behind it come first.
ROUTES: Final = (
    PageRoute("/memories/{id:path}/similar", similar),
    PageRoute("/memories/{id:path}/act", act, "POST"),
    PageRoute("/memories/{id:path}/correct", correct, "POST"),
    PageRoute("/memories/{id:path}/change", change, "POST"),
    PageRoute("/memories/{id:path}", show),
)


TIMES: Final = (
    ("valid_from", "True from (UTC)"),
    ("valid_to", "True until (UTC)"),
    ("expires_at", "Expires (UTC)"),
)
"""The moments of a memory that can be edited, and what they are called."""


def written(memory: Memory) -> dict[str, str]:
    """Return what the fields of the form say of a memory, as a browser sends them back."""
    place = memory.place
    return {
        "category": _line(memory.category),
        "tier": memory.tier.value,
        "confidence": str(memory.confidence),
        "importance": str(memory.importance),
        "tags": _line(joined(memory.tags)),
        "entities": _line(joined(memory.entities)),
        "lat": "" if place is None else str(place.lat),
        "lon": "" if place is None else str(place.lon),
        "place": "" if place is None else _line(place.name),
        **{name: _local(getattr(memory, name)) for name, _ in TIMES},
    }


def changes(values: Values, memory: Memory) -> dict[str, Any]:
    """Return the fields that were changed on the form of a memory, as the engine takes them."""
    shown = written(memory)
    readers: dict[str, Any] = {
        "category": lambda: values.text("category"),
        "tier": lambda: values.text("tier"),
        "confidence": lambda: values.number("confidence"),
        "importance": lambda: values.number("importance"),
        "tags": lambda: values.listed("tags"),
        "entities": lambda: values.listed("entities"),
    }
    changed = {name: read() for name, read in readers.items() if values.text(name) != shown[name]}
    for name, _ in TIMES:
        # A browser writes a time as short as it can, so that moments are compared, and not texts.
        moment = values.instant(name)
        if moment != Values({name: [shown[name]]}).instant(name):
            changed[name] = moment
    if any(values.text(name) != shown[name] for name in ("lat", "lon", "place")):
        changed["place"] = _place(values)
    return changed


def _place(values: Values) -> Place | None:
    lat, lon = values.number("lat"), values.number("lon")
    if lat is None and lon is None:
        return None
    if lat is None or lon is None:
        raise InvalidArgument("place", values.text("lat") or values.text("lon"), "both of lat and lon")
    return Place(lat, lon, values.text("place"))


def _line(text: str) -> str:
    """Return what a field of one line makes of a text."""
    return text.replace("\r", "").replace("\n", "").strip()


def _local(moment: datetime | None) -> str:
    """Return a moment as a field for times reads it, which knows milliseconds."""
    if moment is None:
        return ""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
