"""Communities: what hangs together, and what each group is about."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine.graph.communities import Group
from memorata.model.memory import Memory
from memorata.web.visit import Room, Visit

_LEVELS: Final = (("0", "fine"), ("1", "middle"), ("2", "coarse"))
_SHOWN: Final = 4
_NAMES: Final = 10


@frozen
class Card:
    """A group, and those of its memories that speak for it, the one in its middle first."""

    group: Group
    speakers: tuple[Memory, ...]
    names: tuple[str, ...]


def communities(visit: Visit) -> Response:
    """Show the communities of the namespace."""
    level = visit.values.whole("level", 0, 0, 2)
    limit = visit.values.whole("limit", 12, 1, 100)
    found = visit.engine.graph.communities(level=level, limit=limit, namespace=visit.namespace)
    cards = tuple(_card(visit, group) for group in found.groups)
    return visit.page("communities.html", found=found, cards=cards, level=level, levels=_LEVELS, limit=limit)


def _card(visit: Visit, group: Group) -> Card:
    middle = group.summary.representative
    ids = [] if not middle else [middle]
    ids += [id_ for id_ in group.memories if id_ != middle][: _SHOWN - len(ids)]
    speakers = visit.engine.store.get(visit.namespace, ids) if ids else []
    return Card(group, tuple(speakers), group.entities[:_NAMES])


ROOMS: Final = (Room("/communities", communities),)
