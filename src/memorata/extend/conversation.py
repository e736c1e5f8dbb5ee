"""Prompts that get memories, and turns that are captured."""

from memorata.service.conversation import (
    BUDGET,
    Conversation,
    message_fields,
    namespace_segment,
    recalled_text,
)

__all__ = [
    "BUDGET",
    "Conversation",
    "message_fields",
    "namespace_segment",
    "recalled_text",
]
