"""Files of other tools: which format one has, and that no file stops a reader."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.extend.transfer import format_of, read

FORMATS = ("chatgpt", "claude", "claude-code", "codex", "mcp-memory", "mem0")


@pytest.mark.parametrize(
    ("data", "suffix", "format"),
    [
        ('\ufeff{"type": "entity", "name": "Anna", "observations": []}', ".json", "mcp-memory"),
        ('{"type": "relation", "from": "a", "to": "b", "relationType": "c"}\n', ".jsonl", "mcp-memory"),
        ('[{"title": "Tea", "mapping": {"a": {}}}]', ".json", "chatgpt"),
        ('[\n  {\n    "title": "Tea",\n    "mapping": {', ".json", "chatgpt"),
        ('{"results": [{"id": "1", "memory": "Tea."}]}', ".json", "mem0"),
        ('[{"id": "1", "memory": "Tea."', "", "mem0"),
        ('{"results": []}', ".json", "mem0"),
        ('{"uuid": "1", "name": "Tea", "chat_messages": [{"text": "Tea."}]}', ".json", "claude"),
        ('{"parentUuid": null, "sessionId": "s", "content": "Tea."}\n', ".jsonl", "claude-code"),
        ('{"parentUuid": null, "sessionId": "s", "mapping": {"a": 1}}\n', ".jsonl", "claude-code"),
        ('{"type": "session_meta", "parentUuid": null, "sessionId": "s"}\n', ".jsonl", "codex"),
        ('{"id": "1", "timestamp": "2024-05-07", "instructions": null}\n', ".jsonl", "codex"),
        ('{"content": "Tea.", "metadata": {"mapping": {"a": 1}}}\n', ".jsonl", "jsonl"),
        ('{"kind": "entity", "type": "entity", "name": "Anna"}\n', ".jsonl", "jsonl"),
        ('{"temperature": [1, 2]}', ".json", None),
    ],
)
def test_a_format_is_detected_by_content(data: str, suffix: str, format: str | None) -> None:
    assert format_of(data.encode(), suffix) == format


def left_over(data: bytes, format: str) -> bool:
    """Return whether a record is none of a problem, a reason and fields, or several of them."""
    records = read(data, format, name="x").records
    return any(bool(record.problem) + bool(record.skipped) + bool(record.fields) != 1 for record in records)


@pytest.mark.parametrize("format", FORMATS)
def test_no_format_falls_over_anything(format: str) -> None:
    for data in (b"", b"\xff\xfe", b"{", b"[" * 100_000, b"null", b"[null]", b'{"a": 1}', b"\0"):
        assert not left_over(data, format), data[:10]


@given(st.binary(max_size=200), st.sampled_from(FORMATS))
def test_bytes_of_any_kind_are_read_or_refused(data: bytes, format: str) -> None:
    assert not left_over(data, format)


KEYS = (
    "mapping", "current_node", "parent", "message", "author", "role", "content", "content_type", "parts",
    "id", "create_time", "title", "type", "name", "entityType", "observations", "from", "to", "relationType",
    "results", "relations", "memory", "metadata", "created_at", "categories", "source", "target",
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)


@given(_JSON, st.sampled_from(("chatgpt", "claude", "mcp-memory", "mem0")))
def test_json_of_any_shape_is_read_or_refused(value: object, format: str) -> None:
    assert not left_over(json.dumps(value).encode(), format)
