"""Whether memories that took each other's places agree about it.

A memory that was superseded names what took its place and says since when; what took its place names it in
turn, if it came later, for only then was it a correction and not the first of several that say the same.
Nobody is superseded by what itself was superseded by that one. What is written this way is what was said, so
a link that is broken is told and left as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from memorata.store.database import Session


def broken_links(session: Session, number: int) -> Iterator[str]:
    """Yield what is wrong with the links between the memories of a namespace, in words."""
    rows = session.execute(
        "SELECT id, slot, supersedes, superseded_by, superseded_at FROM memories WHERE namespace = ?1 "
        "AND (supersedes <> '[]' OR superseded_by IS NOT NULL OR superseded_at IS NOT NULL OR id IN "
        "(SELECT superseded_by FROM memories WHERE namespace = ?1 AND superseded_by IS NOT NULL))",
        (number,),
    ).fetchall()
    slots = {id_: slot for id_, slot, _, _, _ in rows}
    replaced = {id_: set(json.loads(older)) for id_, _, older, _, _ in rows}
    by = {id_: newer for id_, _, _, newer, _ in rows if newer is not None}
    for id_, _, _, newer, since in rows:
        if (newer is None) != (since is None):
            yield f"memory {id_} says what took its place but not since when, or the other way round"
        if newer is not None and newer not in slots:
            yield f"memory {id_} was superseded by {newer}, which is not there"
        elif newer is not None and slots[newer] > slots[id_] and id_ not in replaced[newer]:
            yield f"memory {newer} does not know that it superseded {id_}"
        for older in sorted(replaced[id_]):
            if by.get(older) != id_:
                yield f"memory {id_} superseded {older}, which does not know of it or is not there"
    yield from (f"memory {id_} was superseded by itself, over others" for id_ in sorted(_circular(by)))


def _circular(by: dict[str, str]) -> set[str]:
    """Return those from which the way from each to what took its place leads back to where it began."""
    found: set[str] = set()
    done: set[str] = set()
    for start in by:
        way: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in done and at not in way:
            way[at] = None
            at = by.get(at)
        if at in way:
            names = list(way)
            found.update(names[names.index(str(at)) :])
        done |= way.keys()
    return found
