"""Import: what comes in, what does not and why, and that a second time adds nothing."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorata.model.errors import StoreUnavailable

Run = Callable[..., Any]


def contents(cli: Run, *arguments: str) -> list[str]:
    rows = cli("list", "--limit", "1000", "--hidden", "--json", *arguments).json["memories"]
    return [row["content"] for row in reversed(rows)]


def test_files_of_every_format_come_in_once(cli: Run, home: Path) -> None:
    (home / "a.txt").write_text("one\n\ntwo")
    (home / "b.md").write_text("# Title\n- three\n- four")
    (home / "c.jsonl").write_text('{"content": "five", "tags": ["x"]}\n"six"')
    first = cli("import", "a.txt", "b.md", "c.jsonl")
    assert (first.code, first.out) == (0, "imported 6 memories\n")
    assert contents(cli) == ["one", "two", "three", "four", "five", "six"]
    again = cli("import", "a.txt", "b.md", "c.jsonl", "--json").json
    assert again == {
        "imported": 0,
        "entities": 0,
        "relations": 0,
        "known": 6,
        "known_entities": 0,
        "known_relations": 0,
        "skipped": [],
        "problems": [],
        "files": 3,
        "dry_run": False,
        "import_id": "",
    }
    (home / "a.txt").write_text("zero\n\none\n\ntwo")
    assert cli("import", "a.txt").out == "imported 1 memory, 2 known already\n"


def test_an_import_is_listed_and_undone(cli: Run, home: Path) -> None:
    (home / "a.txt").write_text("one\n\ntwo")
    cli("remember", "zero")
    done = cli("import", "a.txt", "--json").json["import_id"]
    (listed,) = cli("import", "list", "--json").json["imports"]
    assert (listed["id"], listed["source"], listed["memories"]) == (done, "a.txt", 2)
    assert cli("import", "list").out.endswith("\t2\ta.txt\n")
    assert len(cli("import", "undo", done, "--dry-run", "--json").json["would_forget"]) == 2
    assert contents(cli) == ["zero", "one", "two"]
    assert len(cli("import", "undo", done, "--purge", "--json").json["purged"]) == 2
    assert contents(cli) == ["zero"]
    for wrong in (("undo",), ("undo", done), ("list", "x"), ("a.txt", "--purge")):
        assert cli("import", *wrong).code == 2
    assert cli("import", "a.txt").out == "imported 2 memories\n"


def test_what_cannot_be_read_is_reported_with_its_line_and_the_rest_comes_in(cli: Run, home: Path) -> None:
    (home / "c.jsonl").write_text(
        '{"content": "fine"}\n{"content": \n'
        '{"content": "x", "confidence": 2}\n{"content": "y", "colour": 1}\n'
        '{"content": "twin", "id": "m1"}\n{"content": "other", "id": "m1"}\n{"content": "\\ud800"}\n'
        '{"content": "z", "supersedes": ["nobody"]}\n{"content": "q", "forgotten_at": 1}\n{"content": "last"}'
    )
    done = cli("import", "c.jsonl")
    assert (done.code, done.out) == (2, "imported 3 memories, 7 could not be read\n")
    assert contents(cli) == ["fine", "twin", "last"]
    lines = [line for line in done.err.splitlines() if line.startswith("memorata: ")]
    assert [line.partition(":")[2].partition(":")[0] for line in lines] == [
        f" c.jsonl, line {number}" for number in (2, 3, 4, 6, 7, 8, 9)
    ]
    problems = cli("import", "c.jsonl", "--json").json["problems"]
    assert problems[1] == {
        "file": "c.jsonl",
        "line": 3,
        "where": "line 3",
        "problem": "confidence must be a number from 0 to 1, got 2",
    }


def test_many_problems_are_counted_rather_than_listed(cli: Run, home: Path) -> None:
    (home / "c.jsonl").write_text("{\n" * 50)
    done = cli("import", "c.jsonl")
    assert done.err.count("not JSON") == 20
    assert "… and 30 more; --json lists them all" in done.err


def test_a_dry_run_writes_nothing(cli: Run, home: Path) -> None:
    (home / "a.txt").write_text("one\n\ntwo")
    assert cli("import", "a.txt", "--dry-run").out == "would import 2 memories\n"
    assert not (home / "memories.db").exists()
    cli("import", "a.txt")
    (home / "a.txt").write_text("one\n\ntwo\n\nthree")
    assert cli("import", "a.txt", "--dry-run").out == "would import 1 memory, 2 known already\n"
    assert contents(cli) == ["one", "two"]


def test_standard_input_and_a_format_that_is_named(cli: Run, home: Path) -> None:
    assert cli("import", "-", input="one\n\ntwo").out == "imported 2 memories\n"
    assert cli("import", "-", "--format", "jsonl", input='"three"\n').out == "imported 1 memory\n"
    (home / "log").write_text("four\nfive")
    assert cli("import", "log", "--format", "text", "--split", "lines").out == "imported 2 memories\n"


def test_the_namespace_given_wins_over_the_record_s(cli: Run, home: Path) -> None:
    (home / "c.jsonl").write_text('{"content": "one", "namespace": "ada"}')
    cli("import", "c.jsonl")
    cli("import", "c.jsonl", "-n", "bob")
    assert cli("namespace", "list", "--json").json == {"namespaces": {"ada": 1, "bob": 1}}


def test_more_than_one_transaction(cli: Run, home: Path) -> None:
    (home / "many.jsonl").write_text("\n".join(json.dumps(f"memory {number}") for number in range(450)))
    assert cli("import", "many.jsonl").out == "imported 450 memories\n"


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (StoreUnavailable("full"), 3)])
def test_an_interrupted_import_goes_on_where_it_was(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    from memorata.engine import Engine

    (home / "many.jsonl").write_text("\n".join(json.dumps(f"memory {number}") for number in range(450)))
    real, calls = Engine.remember_many, []

    def interrupted(self: Engine, items: Any, **options: Any) -> Any:
        calls.append(len(items))
        if len(calls) == 2:
            raise error
        return real(self, items, **options)

    monkeypatch.setattr(Engine, "remember_many", interrupted)
    stopped = cli("import", "many.jsonl")
    assert stopped.code == code
    assert "200 imported so far; run the same again to continue." in stopped.err
    assert cli("import", "many.jsonl").out == "imported 250 memories, 200 known already\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.md",), "FILE must be a file or folder that exists, got 'nothing.md'"),
        (("picture.png",), "one whose suffix (.txt, .text, "),
        (("data.json",), "or content is known, or --format given, got 'data.json'"),
        (("a.txt", "--format", "mardown"), "(did you mean markdown?)"),
        (("a.txt", "--split", "words"), "--split must be one of paragraphs, lines"),
    ],
)
def test_mistakes_are_found_before_anything_is_written(
    cli: Run, home: Path, arguments: tuple[str, ...], words: str
) -> None:
    (home / "a.txt").write_text("one")
    (home / "picture.png").write_bytes(b"\x89PNG")
    (home / "data.json").write_text('{"temperature": [1, 2]}')
    wrong = cli("import", "a.txt", *arguments)
    assert (wrong.code, wrong.out) == (2, "")
    assert words in wrong.err
    assert not (home / "memories.db").exists()


def test_an_empty_file_says_nothing(cli: Run, home: Path) -> None:
    (home / "a.txt").write_text("")
    (home / "b.txt").write_text(" \n")
    empty = cli("import", "a.txt")
    assert empty.out == "imported 0 memories\n"
    assert "There was nothing to remember in it." in empty.err
    assert "There was nothing to remember." in cli("import", "a.txt", "b.txt").err
    (home / "b.txt").write_text("Bees.")
    assert "nothing to remember" not in cli("import", "a.txt", "b.txt").err


CHAT = [
    {
        "id": "c1",
        "title": "Tea",
        "current_node": "b",
        "mapping": {
            "r": {"parent": None, "message": {"author": {"role": "system"}, "content": {}}},
            "a": {
                "parent": "r",
                "message": {
                    "author": {"role": "user"},
                    "create_time": 1_700_000_000,
                    "content": {"content_type": "text", "parts": ["Which tea is green?"]},
                },
            },
            "b": {
                "parent": "a",
                "message": {
                    "author": {"role": "assistant"},
                    "content": {"content_type": "text", "parts": ["Sencha is."]},
                },
            },
        },
    }
]
GRAPH = (
    '{"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes tea"]}\n'
    '{"type": "relation", "from": "Anna", "to": "Acme", "relationType": "works_at"}\n'
)
MEM0 = {"results": [{"id": "1", "memory": "Bob likes milk", "created_at": "2026-05-07T10:00:00Z"}]}


def test_files_of_other_programs_are_known_by_what_is_in_them(cli: Run, home: Path) -> None:
    (home / "conversations.json").write_text(json.dumps(CHAT))
    (home / "memory.json").write_text(GRAPH)
    (home / "all.json").write_text(json.dumps(MEM0))
    files = ("conversations.json", "memory.json", "all.json")
    planned = cli("import", *files, "--dry-run")
    assert planned.out == "would import 4 memories, 1 entity, 1 relation, 1 skipped\n"
    assert not (home / "memories.db").exists()
    done = cli("import", *files)
    assert (done.code, done.out) == (0, "imported 4 memories, 1 entity, 1 relation, 1 skipped\n")
    assert "skipped 1: a message of the system" in done.err
    assert contents(cli) == ["Which tea is green?", "Sencha is.", "Anna: likes tea", "Bob likes milk"]
    again = cli("import", *files, "--json").json
    assert (again["imported"], again["entities"], again["relations"], again["known"]) == (0, 0, 0, 4)
    assert (again["known_entities"], again["known_relations"]) == (1, 1)
    assert again["skipped"] == [
        {
            "file": "conversations.json",
            "line": 1,
            "where": 'conversation 1 "Tea", message r',
            "reason": "a message of the system",
        }
    ]
    assert cli("admin", "check").out == "sound\n"
    rows = cli("list", "--json", "--limit", "10").json["memories"]
    assert rows[-1]["created_at"] == "2023-11-14T22:13:20+00:00"
    assert rows[-2]["source"]["speaker"] == "assistant"


def test_a_folder_is_read_with_what_is_in_it_and_no_file_is_another(cli: Run, home: Path) -> None:
    for name, text in {
        "notes/a.md": "# Tea\n\nGreen.",
        "notes/b/a.md": "# Tea\n\nGreen.",
        "notes/photo.png": "\x89PNG",
        "notes/.obsidian/app.md": "settings",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    done = cli("import", "notes", "--json").json
    assert (done["imported"], done["files"], done["problems"]) == (2, 2, [])
    assert [(each["file"], each["reason"]) for each in done["skipped"]] == [
        (str(Path("notes/photo.png")), "a file of no known format")
    ]
    rows = cli("list", "--json").json["memories"]
    assert {row["source"]["session"] for row in rows} == {"a.md", "b/a.md"}
    assert cli("import", str(home / "notes")).out == "imported 0 memories, 2 known already, 1 skipped\n"


def test_what_cannot_be_read_in_a_folder_does_not_keep_the_rest_out(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("notes/good.md", "notes/locked.md", "notes/mine/x.md"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("Green tea.")
    (home / "notes/gone.md").symlink_to(home / "nowhere.md")
    os.mkfifo(home / "notes/pipe.md")
    read, listed = Path.read_bytes, os.scandir

    def read_bytes(path: Path) -> bytes:
        if path.name == "locked.md":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    def scandir(path: Any) -> Any:
        if Path(path).name == "mine":
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    monkeypatch.setattr(os, "scandir", scandir)
    done = cli("import", "notes", "--json")
    assert (done.code, done.json["imported"], done.json["files"]) == (2, 1, 1)
    assert [(each["file"], each["problem"]) for each in done.json["problems"]] == [
        (str(Path("notes/mine")), "Permission denied"),
        (str(Path("notes/locked.md")), "Permission denied"),
    ]
    assert [each["file"] for each in done.json["skipped"]] == [
        str(Path("notes/gone.md")),
        str(Path("notes/pipe.md")),
    ]
    assert "memorata: notes/locked.md, all of it: Permission denied" in cli("import", "notes").err


def test_files_of_one_name_that_say_the_same_are_one(cli: Run, home: Path) -> None:
    for folder in ("one", "two"):
        (home / folder).mkdir()
        (home / folder / "a.md").write_text("Green tea.")
    done = cli("import", "one", "two")
    assert (done.code, done.out) == (0, "imported 1 memory, 1 known already\n")


def test_a_note_in_two_files_is_found_as_one(cli: Run, home: Path) -> None:
    (home / "a.md").write_text("# Garden\n\nWater the figs on Sunday.\n\nRake the leaves.")
    (home / "b.txt").write_text("Buy a rake.\n\nWater the figs on Sunday.")
    assert cli("import", "a.md", "b.txt").out == "imported 4 memories\n"
    (group,) = cli("duplicates", "--json").json["groups"]
    assert (group["kind"], group["content"]) == ("exact", "Water the figs on Sunday.")
    said = cli("remember", "Water the figs on Sunday.", "--json").json
    assert said["id"] in {group["keep"], *group["repeats"]}
    assert said["mentions"] == 2
    assert cli("admin", "check").out == "sound\n"


def test_a_format_can_be_forced(cli: Run, home: Path) -> None:
    (home / "all.json").write_text(json.dumps(MEM0))
    wrong = cli("import", "all.json", "--format", "chatgpt")
    assert (wrong.code, wrong.out) == (2, "imported 0 memories, 1 could not be read\n")
    assert "all.json, conversation 1: not a conversation" in wrong.err
    assert cli("import", "-", input=json.dumps(MEM0)).out == "imported 1 memory\n"


def test_a_file_is_copied_into_another(cli: Run, tea: str) -> None:
    first = cli("admin", "copy", "memories.db", "copy.db")
    assert (first.code, first.out) == (0, "3 memories, 3 new, 0 changed: the same on both sides\n")
    again = cli("admin", "copy", "memories.db", "copy.db", "--json").json
    assert (again["new"], again["memories"], again["differing"]) == (0, 3, [])
    assert len(again["checksum"]) == 64
    assert cli("recall", "green tea", "--db", "copy.db").code == 0


def test_what_is_not_there_cannot_be_copied(cli: Run) -> None:
    assert cli("admin", "copy", "nothing.db", "copy.db").code == 3
    assert cli("admin", "copy", "postgresql://u:hunter2@127.0.0.1:1/x", "copy.db").code == 3
    assert "hunter2" not in cli("admin", "copy", "postgresql://u:hunter2@127.0.0.1:1/x", "copy.db").err


DOCS = Path(__file__).parents[2] / "docs" / "moving.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)


@pytest.mark.untraced
def test_every_command_does_what_the_page_says(cli: Run, home: Path) -> None:
    ran = 0
    for kind, name, text in BLOCK.findall(DOCS.read_text("utf-8")):
        if name:
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
        if kind != "console":
            continue
        for command in re.split(r"^\$ memorata ", text, flags=re.M)[1:]:
            line, _, expected = command.partition("\n")
            done = cli(*line.split())
            assert done.code == 0, (line, done.err)
            assert re.fullmatch(re.escape(expected).replace("…", ".*"), done.out), (line, done.out)
            ran += 1
    assert ran > 10
