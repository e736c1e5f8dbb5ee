"""Memories as resources: one by its address, and the newest ones.

======================================  =============================================
``memory://NAMESPACE/ID``               one memory, whole
``memories://NAMESPACE/recent``         the newest, as many as a token budget allows
======================================  =============================================

The namespace is the server's own; any other is answered like an id that nobody has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

import mcp_types as types

from memorata.mcp.answers import DEFAULT_BUDGET, memory_row, told, whole

if TYPE_CHECKING:
    from memorata.engine import Engine

MIME: Final = "text/plain"
_RECENT: Final = 50
_UNQUOTED: Final = "/@+~"


class UnknownResource(Exception):  # noqa: N818 - named after what went wrong
    """An address that leads nowhere."""


def memory_address(namespace: str, id: str) -> str:
    """Return the address of a memory.

    Examples
    --------
    >>> memory_address("acme/alice", "chat/7 é".replace(" ", "-"))
    'memory://acme/alice/chat%2F7-%C3%A9'
    """
    return f"memory://{quote(namespace, _UNQUOTED)}/{quote(id, '')}"


def recent_address(namespace: str) -> str:
    """Return the address of the newest memories."""
    return f"memories://{quote(namespace, _UNQUOTED)}/recent"


def listed(engine: Engine) -> list[types.Resource]:
    """Return the resources that have a fixed address."""
    return [
        types.Resource(
            uri=recent_address(engine.namespace),
            name="recent",
            title="Recent memories",
            description="The newest memories, as data.",
            mime_type=MIME,
        )
    ]


def templates(engine: Engine) -> list[types.ResourceTemplate]:
    """Return the form of a memory's address."""
    return [
        types.ResourceTemplate(
            uri_template=memory_address(engine.namespace, "") + "{id}",
            name="memory",
            title="One memory",
            description="A memory by its id, whole, as data.",
            mime_type=MIME,
        )
    ]


def read(engine: Engine, address: str) -> str:
    """Return what is at an address.

    Raises
    ------
    UnknownResource
        Nothing is.
    """
    from memorata.model.errors import InvalidArgument, MemoryNotFound

    if address == recent_address(engine.namespace):
        newest = engine.list(limit=_RECENT).memories
        rows = [memory_row(memory) for memory in newest]
        return told(
            "The newest memories first." if rows else "Nothing is remembered yet.", rows, DEFAULT_BUDGET
        ).text
    stem = memory_address(engine.namespace, "")
    try:
        if not address.startswith(stem):
            raise UnknownResource(address)
        memory = engine.get(unquote(address.removeprefix(stem), errors="strict"))
    except (InvalidArgument, MemoryNotFound, UnicodeDecodeError) as error:
        raise UnknownResource(address) from error
    corrected = "" if memory.superseded_by is None else " It was corrected, and answers no more."
    # Whoever asks for one memory by its address wants it whole, whatever it costs.
    return whole(f"One memory.{corrected}", [memory_row(memory)]).text
