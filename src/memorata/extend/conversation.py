"""Prompts that get memories, and turns that are captured."""

from memorata.service.conversation import (
    BUDGET,
    Conversation,
    category_of,
    message_fields,
    message_text,
    namespace_segment,
    recalled_text,
)
from memorata.service.data_rows import recalled_block

__all__ = [
    "BUDGET",
    "Conversation",
    "category_of",
    "message_fields",
    "message_text",
    "namespace_segment",
    "recalled_block",
    "recalled_text",
]
