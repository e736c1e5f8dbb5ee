"""Recall for a prompt and capture of messages, for the hooks, the proxy and the adapters of agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from memorata.service.data_rows import recalled_block
from memorata.service.formats.record import chat_fields, stable_id
from memorata.service.formats.transcripts import category_of, message_text

if TYPE_CHECKING:
    from memorata.engine import Engine

BUDGET: Final = 800
"""Tokens of memories that a prompt is given."""
_MAX_QUERY: Final = 4_000


class Conversation:
    """The memory of a conversation in a namespace, or None for the engine's.

    Messages of the `session` itself are not recalled into it.
    """

    def __init__(self, engine: Engine, namespace: str | None = None, session: str = "") -> None:
        self.engine = engine
        self.namespace = namespace
        self.session = session

    def recalled(self, prompt: str, *, limit: int = 8, budget: int = BUDGET, standing: int = 0) -> str:
        """Return the memories that concern a prompt as delimited data; empty if none does.

        Those that hold for every query come first, up to `standing` tokens.
        """
        elsewhere = {"session": {"!=": self.session}} if self.session else None
        result = self.engine.recall(
            prompt[:_MAX_QUERY],
            limit=limit,
            budget=budget,
            filter=elsewhere,
            namespace=self.namespace,
            standing=standing,
        )
        heading = "What is remembered and may concern this."
        memories = {memory.id: memory for memory in (*result.standing, *(hit.memory for hit in result.hits))}
        return recalled_block(heading, memories.values())

    def remember(self, role: str, text: str, *identity: object) -> None:
        """Remember a message once per identity, without the block that was recalled into it."""
        content = message_text(text)
        if not content:
            return
        id_ = stable_id("conversation", self.session, *identity, role, content)
        item = message_fields(id_, role, content, self.session)
        self.engine.remember_many([item], namespace=self.namespace)


def recalled_text(engine: Engine, query: str, *, namespace: str | None = None, limit: int = 8) -> str:
    """Return the hits of a query as delimited data, or that there are none: the result of a tool."""
    hits = engine.recall(query[:_MAX_QUERY], limit=limit, namespace=namespace).hits
    return recalled_block("What is remembered.", [hit.memory for hit in hits]) or "Nothing is known."


def namespace_segment(name: str) -> str:
    """Return any name as a segment of a namespace; different names give different segments.

    >>> namespace_segment("anna@example.org"), namespace_segment("a/b c"), namespace_segment("..")
    ('anna@example.org', 'a~2Fb~20c', '~2E~2E')
    """
    escaped = quote(name, safe="@+").replace("~", "%7E").replace("%", "~")
    return escaped.replace(".", "~2E") if escaped.startswith(".") else escaped


def message_fields(id_: str, role: str, content: str, session: str) -> dict[str, Any]:
    """Return the fields of a message as a memory."""
    source = {"speaker": role, "session": session}
    return chat_fields(id_, content, source, category=category_of(role, content))
