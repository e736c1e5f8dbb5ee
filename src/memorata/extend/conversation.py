"""Prompts that get memories, and turns that are captured."""

from memorata.service.conversation import (
    BUDGET,
    ChatFormat,
    Conversation,
    category_of,
    chat_format,
    message_fields,
    message_text,
    namespace_segment,
    recalled_text,
    user_of,
)

__all__ = [
    "BUDGET",
    "ChatFormat",
    "Conversation",
    "category_of",
    "chat_format",
    "message_fields",
    "message_text",
    "namespace_segment",
    "recalled_text",
    "user_of",
]
