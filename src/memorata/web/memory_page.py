"""One memory: what was said, where it comes from, what replaced it, what is like it, and what may be done."""

from __future__ import annotations

import re
from typing import Any, Final

from starlette.responses import Response

from memorata.model import checks
from memorata.model.memory import Memory
from memorata.web import editing
from memorata.web.browsing import ACTIONS, apply, hidden_states
from memorata.web.filtering import TIERS
from memorata.web.searching import Row, rows, signal
from memorata.web.visit import Room, Visit

_REACH: Final = 3
_SIMILAR: Final = 5
_READ: Final = 2_000
_SESSION: Final = 500
_NEWS: Final = {
    "remembered": "Remembered.",
    "known": "That was known already: this is the memory, and it counts as said once more.",
    "corrected": "Corrected: this is the new memory.",
    "changed": "Changed.",
}
# In a question quotes ask for a phrase and a minus for an absence; a memory's own words mean neither.
_SYNTAX: Final = re.compile(r'["“”„«»「」『』\-]')


def show(visit: Visit) -> Response:
    """Show one memory; without an id, go to where all are."""
    if not visit.parts["id"]:
        return visit.go(visit.url("/memories"))
    memory = visit.engine.get(visit.parts["id"], namespace=visit.namespace)
    history = visit.engine.history(memory.id, namespace=visit.namespace)
    neighbours = _neighbours(visit, memory)
    states = hidden_states(visit, list({each.id: each for each in (*history, *neighbours, memory)}.values()))
    return visit.page(
        "memory.html",
        memory=memory,
        history=history,
        neighbours=neighbours,
        states=states,
        state=states.get(memory.id, ""),
        repeats=visit.engine.duplicates.repeats(memory.id, namespace=visit.namespace),
        contradictions=visit.engine.duplicates.contradictions(
            memory.id, resolved=True, namespace=visit.namespace
        ),
        form=editing.written(memory),
        times=editing.TIMES,
        tiers=TIERS,
        done=ACTIONS.get(visit.values.text("done")),
        news=_NEWS.get(visit.values.text("done"), ""),
    )


def similar(visit: Visit) -> Response:
    """Show the memories that are most like one, by its own words and meaning."""
    memory = visit.engine.get(visit.parts["id"], namespace=visit.namespace)
    words = _SYNTAX.sub(" ", memory.content)[:_READ].strip()
    found: tuple[Row, ...] = ()
    if words:
        with visit.engine.recall_log.aside():
            answer = visit.engine.recall(
                words, namespace=visit.namespace, limit=_SIMILAR, filter={"id": {"!=": memory.id}}
            )
        found = rows(answer)
    return visit.page("similar.html", rows=found, signal=signal)


def act(visit: Visit) -> Response:
    """Do one of the actions to a memory, and come back to it."""
    id_ = visit.parts["id"]
    action = ACTIONS[checks.one_of("do", visit.values.text("do"), tuple(ACTIONS))]
    apply(visit, action, [id_])
    return visit.go(visit.url(f"/memories/{id_}", done=action.name))


def correct(visit: Visit) -> Response:
    """Say something new in place of a memory, and go to the new one."""
    new = visit.engine.correct(visit.parts["id"], visit.values.text("content"), namespace=visit.namespace)
    return visit.go(visit.url(f"/memories/{new.id}", done="corrected"))


def change(visit: Visit) -> Response:
    """Change what is known about a memory, unless somebody else has changed it since the form was shown."""
    values, id_ = visit.values, visit.parts["id"]
    memory = visit.engine.get(id_, namespace=visit.namespace)
    visit.engine.update(
        id_,
        expected_version=values.whole("version", 0, 1),
        namespace=visit.namespace,
        **editing.changes(values, memory),
    )
    return visit.go(visit.url(f"/memories/{id_}", done="changed"))


def _neighbours(visit: Visit, memory: Memory) -> tuple[Memory, ...]:
    """Return what was said around a memory in its session, in order, the memory itself among it."""
    session, position = memory.source.session, memory.source.position
    if not session:
        return ()
    condition: dict[str, Any] = {"session": session}
    if position is not None:
        condition["position"] = {">=": position - _REACH, "<=": position + _REACH}
    page = visit.engine.list(namespace=visit.namespace, filter=condition, limit=_SESSION, hidden=True)

    def order(each: Memory) -> tuple[float, str]:
        turn = each.source.position
        return (each.created_at.timestamp() if turn is None else float(turn), each.id)

    ordered = sorted(page.memories, key=order)
    here = next((place for place, each in enumerate(ordered) if each.id == memory.id), None)
    if here is None or len(ordered) < 2:
        return ()
    return tuple(ordered[max(0, here - _REACH) : here + _REACH + 1])


# An id may have slashes, so the addresses with more behind it come first.
ROOMS: Final = (
    Room("/memories/{id:path}/similar", similar),
    Room("/memories/{id:path}/act", act, "POST"),
    Room("/memories/{id:path}/correct", correct, "POST"),
    Room("/memories/{id:path}/change", change, "POST"),
    Room("/memories/{id:path}", show),
)
