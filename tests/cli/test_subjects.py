"""About, purge-subject and purge-namespace, as people type them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_about_is_written_as_import_reads_it(cli: Run, tea: str, home: Path) -> None:
    cli("relate", "Anna", "knows", "Bob")
    cli("forget", tea)
    assert cli("about", "anna", "anna.jsonl", "--json").json == {
        "memories": 1, "entities": 1, "relations": 1, "file": "anna.jsonl",
    }  # fmt: skip
    assert cli("about", "Anna", "anna.jsonl").code == 2
    assert cli("about", "Anna", "anna.jsonl", "--force").code == 0
    assert "1 memory, 1 entity, 1 relation" in cli("about", "Anna").err
    assert len(cli("about", "Anna").lines) == 3
    assert cli("--db", "other.db", "import", "anna.jsonl").code == 0
    assert cli("--db", "other.db", "about", "Anna").out == (home / "anna.jsonl").read_text("utf-8")
    assert cli("about", "Nobody").code == 1


def test_a_subject_is_exported_and_gone(cli: Run, tea: str, home: Path) -> None:
    refused = cli("purge-subject", "Anna")
    assert (refused.code, "--yes must be given" in refused.err) == (2, True)
    gone = cli("purge-subject", "Anna", "--export", "anna.jsonl", "--yes", "--json").json
    assert gone == {"memories": 1, "entities": 0, "relations": 0, "file": "anna.jsonl"}
    assert tea in (home / "anna.jsonl").read_text("utf-8")
    assert cli("show", tea).code == 1
    assert b"green tea" not in (home / "memories.db").read_bytes()
    assert cli("purge-subject", "Anna", "--yes").code == 1
    assert cli("purge-subject", "Bob", "--yes").out == "Removed 2 memories, 0 entities, 0 relations.\n"


def test_what_corrected_something_about_others_comes_back(cli: Run, tea: str, home: Path) -> None:
    zoe = cli("correct", tea, "Zoe prefers black tea").out.strip()
    before = cli("show", zoe, "--json").json
    cli("purge-subject", "Zoe", "--export", "zoe.jsonl", "--yes")
    assert cli("--db", "other.db", "import", "zoe.jsonl").out == "imported 1 memory\n"
    # Where what it corrected still is, it corrects that again.
    assert cli("import", "zoe.jsonl").code == 0
    assert cli("show", zoe, "--json").json == before
    assert cli("show", tea, "--json").json[0]["superseded_by"] == zoe


def test_a_file_that_is_there_stops_the_purge(cli: Run, tea: str, home: Path) -> None:
    (home / "anna.jsonl").write_text("precious")
    assert cli("purge-subject", "Anna", "--export", "anna.jsonl", "--yes").code == 2
    assert cli("show", tea).code == 0
    assert (home / "anna.jsonl").read_text("utf-8") == "precious"


def test_a_namespace_is_removed_with_its_name(cli: Run, tea: str, home: Path) -> None:
    cli("-n", "acme/quokka", "remember", "Quokkas smile.")
    assert cli("purge-namespace", "acme/quokka").code == 2
    assert cli("purge-namespace", "acme/quokka", "--yes").out == "Removed acme/quokka and its 1 memory.\n"
    assert cli("namespaces", "--json").json == {"namespaces": {"default": 3}}
    assert b"uokka" not in (home / "memories.db").read_bytes()
    assert cli("purge-namespace", "acme/quokka", "--yes").code == 2
    assert cli("purge-namespace", "default", "--yes", "--json").json == {
        "namespace": "default",
        "memories": 3,
    }
