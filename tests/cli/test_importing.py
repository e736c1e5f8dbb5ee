"""Import: what comes in, what does not and why, and that a second time adds nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
        "problems": [],
        "files": 3,
        "dry_run": False,
    }
    (home / "a.txt").write_text("zero\n\none\n\ntwo")
    assert cli("import", "a.txt").out == "imported 1 memory, 2 known already\n"


def test_what_cannot_be_read_is_reported_with_its_line_and_the_rest_comes_in(cli: Run, home: Path) -> None:
    (home / "c.jsonl").write_text(
        '{"content": "fine"}\n{"content": \n'
        '{"content": "x", "confidence": 2}\n{"content": "y", "colour": 1}\n'
        '{"content": "twin", "id": "m1"}\n{"content": "twin", "id": "m1"}\n{"content": "\\ud800"}\n'
        '{"content": "z", "supersedes": ["nobody"]}\n{"content": "q", "forgotten_at": 1}\n{"content": "last"}'
    )
    done = cli("import", "c.jsonl")
    assert (done.code, done.out) == (2, "imported 3 memories, 7 could not be read\n")
    assert contents(cli) == ["fine", "twin", "last"]
    lines = [line for line in done.err.splitlines() if line.startswith("recollect: ")]
    assert [line.partition(":")[2].partition(":")[0] for line in lines] == [
        f" c.jsonl, line {number}" for number in (2, 3, 4, 6, 7, 8, 9)
    ]
    problems = cli("import", "c.jsonl", "--json").json["problems"]
    assert problems[1] == {
        "file": "c.jsonl",
        "line": 3,
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
    assert cli("namespaces", "--json").json == {"namespaces": {"ada": 1, "bob": 1}}


def test_more_than_one_transaction(cli: Run, home: Path) -> None:
    (home / "many.jsonl").write_text("\n".join(json.dumps(f"memory {number}") for number in range(450)))
    assert cli("import", "many.jsonl").out == "imported 450 memories\n"


def test_an_interrupted_import_goes_on_where_it_was(
    cli: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.engine import Engine

    (home / "many.jsonl").write_text("\n".join(json.dumps(f"memory {number}") for number in range(450)))
    real, calls = Engine.remember_many, []

    def interrupted(self: Engine, items: Any, **options: Any) -> Any:
        calls.append(len(items))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, items, **options)

    monkeypatch.setattr(Engine, "remember_many", interrupted)
    stopped = cli("import", "many.jsonl")
    assert stopped.code == 130
    assert "200 imported so far; run the same again to go on." in stopped.err
    assert cli("import", "many.jsonl").out == "imported 250 memories, 200 known already\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.md",), "FILE must be a file that exists, got 'nothing.md'"),
        (("folder.md",), "it is a folder; name the files, such as folder.md/*.md"),
        (("picture.png",), "one whose suffix is known (.txt, "),
        (("a.txt", "--format", "mardown"), "(did you mean markdown?)"),
        (("a.txt", "--split", "words"), "--split must be one of paragraphs, lines"),
    ],
)
def test_mistakes_are_found_before_anything_is_written(
    cli: Run, home: Path, arguments: tuple[str, ...], words: str
) -> None:
    (home / "a.txt").write_text("one")
    (home / "picture.png").write_bytes(b"\x89PNG")
    (home / "folder.md").mkdir()
    wrong = cli("import", "a.txt", *arguments)
    assert (wrong.code, wrong.out) == (2, "")
    assert words in wrong.err
    assert not (home / "memories.db").exists()


def test_an_empty_file_says_nothing(cli: Run, home: Path) -> None:
    (home / "a.txt").write_text("")
    assert cli("import", "a.txt").out == "imported 0 memories\n"
