"""Memories in pages, and the texts and ids of what is imported."""

from memorata.service.formats.readers import message_text
from memorata.service.formats.record import stable_id, text_of
from memorata.service.transfer import PAGE_SIZE, listed

__all__ = [
    "PAGE_SIZE",
    "listed",
    "message_text",
    "stable_id",
    "text_of",
]
