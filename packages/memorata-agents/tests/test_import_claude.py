"""Claude.ai's conversations: who said what when, and what is left out."""

import json
from typing import Any

from memorata.extend.transfer import Record, format_of
from memorata_agents.importers.chats import claude as records

TRIP: dict[str, Any] = {
    "uuid": "c1",
    "name": "A trip",
    "created_at": "2026-05-07T09:00:00Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Where to?", "created_at": "2026-05-07T10:00:00Z"},
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "Thinking… To Lisbon.",
            "content": [
                {"type": "thinking", "thinking": "Somewhere warm."},
                {"type": "text", "text": "To Lisbon."},
                {"type": "tool_use", "name": "search", "input": {}},
            ],
        },
        {"uuid": "m3", "sender": "human", "text": " ", "attachments": [{"file_name": "map.pdf"}]},
        {"uuid": "m4", "sender": "system", "text": "x"},
    ],
}


def read(value: object) -> list[Record]:
    return list(records(json.dumps(value).encode()).records)


def test_messages_come_in_with_who_said_them_and_when() -> None:
    question, answer = (record.fields for record in read([TRIP]) if record.fields)
    assert question == {
        "id": question["id"],
        "content": "Where to?",
        "category": "message",
        "tier": "episodic",
        "source": {"speaker": "user", "session": "c1", "position": 0, "link": "https://claude.ai/chat/c1"},
        "metadata": {"title": "A trip"},
        "created_at": "2026-05-07T10:00:00Z",
    }
    assert answer["content"] == "To Lisbon."
    assert answer["created_at"] == "2026-05-07T09:00:00Z"


def test_what_is_no_text_of_either_side_is_left_out_with_the_reason() -> None:
    assert [record.skipped for record in read([TRIP]) if record.skipped] == [
        "an empty message, or one of attachments or tools alone", "a message of neither side",
    ]  # fmt: skip


def test_files_that_are_no_export_are_told() -> None:
    assert read(7)[0].problem == "not a list of conversations"
    assert read([{"uuid": "c1"}])[0].problem == "not a conversation: it has no chat_messages"
    assert next(records(b"[").records).problem.startswith("not JSON")


def test_an_export_is_told_by_its_content() -> None:
    assert format_of(json.dumps([TRIP]).encode(), ".json") == "claude"


def test_an_example_of_records() -> None:
    file = b"""[{"uuid": "c1", "name": "Tea", "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "I like tea."}]}]"""
    assert (
        [(record.fields["content"], record.fields["source"]["speaker"]) for record in records(file).records]
    ) == [("I like tea.", "user")]
