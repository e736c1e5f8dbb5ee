"""Memories in pages, the import of records, and formats of files (`memorata.importers`)."""

from memorata.engine.transfer import Imported, Undone
from memorata.service.formats import format_of, read
from memorata.service.formats.record import (
    FileFormat,
    FileHead,
    Notes,
    Reading,
    Record,
    chat_fields,
    json_lines,
    jsonl_record,
    parse_json,
    stable_id,
    text_of,
)
from memorata.service.record_writer import ImportCounts
from memorata.service.transfer import (
    PAGE_SIZE,
    Importer,
    conversation,
    entity_row,
    export_rows,
    hidden_json,
    listed,
    relation_row,
    sources,
)

__all__ = [
    "PAGE_SIZE",
    "FileFormat",
    "FileHead",
    "ImportCounts",
    "Imported",
    "Importer",
    "Notes",
    "Reading",
    "Record",
    "Undone",
    "chat_fields",
    "conversation",
    "entity_row",
    "export_rows",
    "format_of",
    "hidden_json",
    "json_lines",
    "jsonl_record",
    "listed",
    "parse_json",
    "read",
    "relation_row",
    "sources",
    "stable_id",
    "text_of",
]
