"""What hooks and adapters of agents share: recall for a prompt, and messages remembered once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from memorata.service.data_rows import recalled_block
from memorata.service.formats.record import chat_fields, stable_id
from memorata.service.formats.transcripts import category_of, spoken

if TYPE_CHECKING:
    from memorata.engine import Engine

BUDGET: Final = 800
"""Tokens of memories that a prompt is given."""
_MAX_QUERY: Final = 4_000


class Conversation:
    """The memory of a conversation: what concerns a prompt, and what was said.

    - `namespace`: whose memory; None for the engine's.
    - `session`: the conversation, whose own messages are not recalled into it.
    """

    def __init__(self, engine: Engine, namespace: str | None = None, session: str = "") -> None:
        self.engine = engine
        self.namespace = namespace
        self.session = session

    def recalled(self, prompt: str, *, limit: int = 8, budget: int = BUDGET, standing: int = 0) -> str:
        """Return what is remembered and concerns a prompt, as delimited data; empty if nothing does.

        Before it stands what holds whatever is asked, of so many tokens as `standing` says.
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
        what = "What is remembered and may concern this."
        shown = {memory.id: memory for memory in (*result.standing, *(hit.memory for hit in result.hits))}
        return recalled_block(what, shown.values())

    def remember(self, role: str, text: str, *identity: object) -> None:
        """Remember a message, without what was recalled into it; with the same identity, once."""
        content = spoken(text)
        if not content:
            return
        id_ = stable_id("conversation", self.session, *identity, role, content)
        item = message_fields(id_, role, content, self.session)
        self.engine.remember_many([item], namespace=self.namespace)


def recalled_text(engine: Engine, query: str, *, namespace: str | None = None, limit: int = 8) -> str:
    """Return what answers a query as delimited data, or that nothing does: the answer of a tool."""
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
