"""Session logs of coding agents: who said what when, and what of the agent's own work is left out."""

import json
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.extend.transfer import Importer, Notes, Record, format_of, read, sources
from memorata_agents.importers.agent_logs import claude_code, codex


def turn(uuid: str, content: object, type: str = "user", **more: object) -> dict[str, Any]:
    """Return a line of Claude Code."""
    message = {"role": type, "content": content}
    return {"type": type, "uuid": uuid, "parentUuid": None, "sessionId": "s1", "message": message, **more}


def item(role: str, text: str, **more: object) -> dict[str, Any]:
    """Return a line of Codex."""
    block = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    payload = {"type": "message", "role": role, "content": [block]}
    return {"timestamp": "2026-05-07T10:00:02Z", "type": "response_item", "payload": payload, **more}


CLAUDE_CODE: list[dict[str, Any]] = [
    {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}},
    turn(
        "u1",
        "We deploy on Fridays.<system-reminder>Be brief.</system-reminder>",
        cwd="/src/api",
        gitBranch="main",
        timestamp="2026-05-07T10:00:00.000Z",
    ),
    turn("a1", [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Noted."}], "assistant"),
    turn("a2", [{"type": "tool_use", "name": "Bash", "input": {}}], "assistant"),
    turn("u2", [{"type": "tool_result", "content": "ok"}]),
    turn("u3", "Look for deploys.", isSidechain=True),
    turn("u4", "<memorata-recall>We deploy on Fridays.</memorata-recall>\nWhen do we?"),
    turn("u5", "<command-name>/clear</command-name>"),
]
CODEX: list[dict[str, Any]] = [
    {"type": "session_meta", "payload": {"id": "r1", "cwd": "/src/web", "git": {"branch": "dark"}}},
    item("developer", "Rules."),
    item("user", "<environment_context>x</environment_context>"),
    item("user", "Use tabs."),
    {"type": "event_msg", "payload": {"type": "user_message", "message": "Use tabs."}},
    {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{}"}},
    item("assistant", "Done."),
]
CODEX_2024: list[dict[str, Any]] = [
    {"id": "r0", "timestamp": "2025-05-07T10:00:00Z", "instructions": None},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Use tabs."}]},
]


def log(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def contents(records: list[Record]) -> list[tuple[str, str]]:
    return [
        (record.fields["source"]["speaker"], record.fields["content"]) for record in records if record.fields
    ]


def test_claude_code_gives_what_was_said_with_time_session_and_folder() -> None:
    records = list(claude_code(log(CLAUDE_CODE)).records)
    assert contents(records) == [
        ("user", "We deploy on Fridays."), ("assistant", "Noted."), ("user", "When do we?"),
    ]  # fmt: skip
    first = next(record for record in records if record.fields)
    assert first.fields == {
        "id": first.fields["id"],
        "content": "We deploy on Fridays.",
        "category": "message",
        "tier": "episodic",
        "source": {"speaker": "user", "session": "s1", "position": 0},
        "created_at": "2026-05-07T10:00:00.000Z",
        "metadata": {"folder": "/src/api", "branch": "main"},
    }


def test_the_work_of_the_agent_is_left_out_with_the_reason() -> None:
    reasons = [record.skipped for record in claude_code(log(CLAUDE_CODE)).records if record.skipped]
    assert reasons == [
        "a call of a tool, or its result", "a call of a tool, or its result",
        "a message to or from a sub-agent", "a message of the program",
    ]  # fmt: skip


def test_codex_gives_what_was_said_once() -> None:
    records = list(codex(log(CODEX)).records)
    assert contents(records) == [("user", "Use tabs."), ("assistant", "Done.")]
    first = next(record for record in records if record.fields)
    assert first.fields["metadata"] == {"folder": "/src/web", "branch": "dark"}
    assert first.fields["source"]["session"] == "r1"


def test_codex_as_it_was_written_before_payloads() -> None:
    assert contents(list(codex(log(CODEX_2024)).records)) == [("user", "Use tabs.")]


def test_a_log_that_grew_keeps_the_ids_of_what_was_there() -> None:
    for reader, lines in ((claude_code, CLAUDE_CODE), (codex, CODEX)):
        ids = [record.fields["id"] for record in reader(log(lines)).records if record.fields]
        earlier = [record.fields["id"] for record in reader(log(lines[:4])).records if record.fields]
        assert len(set(ids)) == len(ids)
        assert earlier == ids[: len(earlier)]


@pytest.mark.parametrize(("line", "problem"), [(b"{", "not JSON"), (b"[1]", "not an object")])
def test_a_line_that_cannot_be_read_is_named_and_the_others_are_read(line: bytes, problem: str) -> None:
    records = list(claude_code(line + b"\n" + log(CLAUDE_CODE)).records)
    assert records[0].problem.startswith(problem)
    assert records[0].line == 1
    assert len(contents(records)) == 3


@pytest.mark.parametrize(
    ("lines", "format"), [(CLAUDE_CODE, "claude-code"), (CODEX, "codex"), (CODEX_2024, "codex")]
)
def test_logs_are_told_by_their_content(lines: list[dict[str, Any]], format: str) -> None:
    assert format_of(log(lines), ".jsonl") == format


def test_a_folder_of_logs_is_recalled_from(tmp_path: Path) -> None:
    (tmp_path / "projects").mkdir()
    (tmp_path / "projects" / "s1.jsonl").write_bytes(log(CLAUDE_CODE))
    (tmp_path / "projects" / "r1.jsonl").write_bytes(log(CODEX))
    with memorata.open(tmp_path / "m.db", embedder="lexical") as memory:
        importer = Importer(memory)
        for source in sources(str(tmp_path / "projects"), None, Notes()):
            reading = read(source.data, source.format, name=source.label)
            list(importer.add_file(source.name, reading.records))
        hit = memory.recall("when do we deploy?").hits[0].memory
        assert hit.content == "We deploy on Fridays."
        assert hit.created_at.isoformat() == "2026-05-07T10:00:00+00:00"
        assert hit.source is not None
        assert (hit.source.session, hit.source.speaker) == ("s1", "user")


@pytest.mark.parametrize(
    ("line", "format"),
    [
        (turn("u9", "My password is hunter2zebra."), "claude-code"),
        (item("user", "My password is hunter2zebra."), "codex"),
    ],
)
def test_secrets_are_taken_out_of_logs_unless_they_are_wanted(line: dict[str, Any], format: str) -> None:
    (clean,) = read(log([line]), format, name="x.jsonl").records
    (raw,) = read(log([line]), format, name="x.jsonl", redact=False).records
    assert clean.fields["content"] == "My password is [redacted: password]."
    assert raw.fields["content"] == "My password is hunter2zebra."


def test_an_example_of_claude_code() -> None:
    line = b'{"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"content": "Hi."}}'
    assert [record.fields["content"] for record in claude_code(line).records] == ["Hi."]


def test_an_example_of_codex() -> None:
    line = b'{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}'
    assert [record.fields["content"] for record in codex(line).records] == ["Hi."]
