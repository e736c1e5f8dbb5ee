"""Memories in pages, the import of records, and formats of files (`memorata.importers`)."""

from memorata.service.formats import format_of, read
from memorata.service.formats.record import (
    FileFormat,
    FileHead,
    Notes,
    Reading,
    Record,
    chat_fields,
    json_lines,
    parse_json,
    stable_id,
    text_of,
)
from memorata.service.transfer import PAGE_SIZE, Importer, listed, sources

__all__ = [
    "PAGE_SIZE",
    "FileFormat",
    "FileHead",
    "Importer",
    "Notes",
    "Reading",
    "Record",
    "chat_fields",
    "format_of",
    "json_lines",
    "listed",
    "parse_json",
    "read",
    "sources",
    "stable_id",
    "text_of",
]
