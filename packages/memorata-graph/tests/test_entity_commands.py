"""Relate, entities, paths and communities on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def fleet(cli: Run) -> str:
    """Two drones of one fleet, and a memory about one of them; its id."""
    said = cli("remember", "UAV-002 was repaired by Anna", "--id", "repair").out.strip()
    cli("graph", "relate", "UAV-001", "belongs_to", "fleet-rescue", "--memory", "repair")
    cli("graph", "relate", "fleet-rescue", "stationed_at", "base-west", "--weight", "2")
    cli("graph", "relate", "UAV-002", "belongs_to", "fleet-rescue")
    return str(said)


def test_a_relation_is_said_shown_and_taken_back(cli: Run, fleet: str) -> None:
    said = cli(
        "graph", "relate", "Anna", "works_at", "Bank", "--valid-from", "2026-05-07", "--memory", "repa"
    )
    assert (said.code, said.out) == (0, "Anna —works_at→ Bank\n")
    again = cli(
        "graph", "relate", "anna", "works_at", "bank", "--valid-from", "2026-05-07", "--weight", "3", "--json"
    ).json
    assert (again["subject"], again["weight"], again["valid_from"]) == (
        "anna",
        3.0,
        "2026-05-07T00:00:00+00:00",
    )
    assert cli("graph", "relate", "Anna", "works_at", "Bank", "--remove").out == "removed 2 relations\n"
    assert cli("graph", "relate", "Anna", "works_at", "Bank", "--remove").code == 2
    assert cli("graph", "relate", "UAV-002", "belongs_to", "fleet-rescue", "--remove", "--json").json == {
        "removed": 1
    }


def test_entities_are_listed_with_their_counts(cli: Run, fleet: str) -> None:
    listed = cli("graph", "entities").lines
    assert listed[:2] == ["1\tthing\tAnna", "1\tthing\tUAV-002"]
    assert sorted(listed[2:]) == ["0\tthing\tUAV-001", "0\tthing\tbase-west", "0\tthing\tfleet-rescue"]
    assert cli("graph", "entities", "--prefix", "uav", "--limit", "1").lines == ["1\tthing\tUAV-002"]
    assert "fleet-rescue" in cli("graph", "entities", terminal=True).out
    nobody = cli("graph", "entities", "-n", "nobody")
    assert (nobody.code, nobody.out) == (0, "")
    assert "No entity is known here" in nobody.err


def test_one_entity_is_described_merged_and_shown(cli: Run, fleet: str) -> None:
    shown = cli(
        "graph",
        "entities",
        "Anna",
        "-t",
        "person",
        "--alias",
        "AK",
        "--alias",
        "Annie",
        "--description",
        "x y",
    )
    assert shown.lines == ["1\tperson\tAnna", "aliases\tAK, Annie", "description\tx y"]
    merged = cli("graph", "entities", "Anna", "--merge", "UAV-002", "--json").json
    assert merged["entities"] == [
        {
            "name": "Anna",
            "type": "person",
            "aliases": ["AK", "Annie"],
            "description": "x y",
            "place": None,
            "memories": 1,
            "relations": 1,
            "merged": ["UAV-002"],
        }
    ]
    assert [row["subject"] for row in merged["relations"]] == ["Anna"]
    assert "merged\tUAV-002" in cli("graph", "entities", "uav-002").lines
    undone = cli("graph", "entities", "UAV-002", "--undo-merge").lines
    assert undone == ["1\tthing\tUAV-002", "UAV-002 —belongs_to→ fleet-rescue"]
    assert cli("graph", "entities", "UAV-002", "--as-of", "2020-01-01").lines == ["1\tthing\tUAV-002"]


def test_an_entity_is_put_in_a_place_and_found_there(cli: Run, fleet: str) -> None:
    assert (
        cli("graph", "entities", "base-west", "--place", "59.91,10.75,Oslo").lines[1]
        == "place\t59.91,10.75 Oslo"
    )
    cli("graph", "entities", "fleet-rescue", "--place", "60.39,5.32")
    assert cli("graph", "near", "59.91,10.75", "--entities").lines[0] == "0.0\tbase-west"
    found = cli("graph", "near", "59.91,10.75", "--entities", "--radius", "1000", "--json").json["entities"]
    place = {"lat": 59.91, "lon": 10.75, "name": "Oslo"}
    assert [(near["entity"]["name"], near["entity"]["place"]) for near in found] == [("base-west", place)]
    assert "place" not in cli("graph", "entities", "base-west", "--place", "none").out
    assert cli("graph", "near", "59.91,10.75", "--entities", "--radius", "1000").code == 1


def test_a_nickname_is_listed_undone_and_restored(cli: Run, fleet: str) -> None:
    assert cli("graph", "entities", "--nicknames").lines == []
    cli("remember", "I fix drones", "--speaker", "Melanie")
    cli("remember", "Ask Mel", "--speaker", "Otto")
    assert cli("graph", "entities", "--nicknames").lines == ["1\tMel\tMelanie"]
    assert cli("graph", "entities", "mel", "--undo-alias").lines == ["1\tMel\titself (undone)"]
    data = cli("graph", "entities", "Mel", "--restore-alias", "--json").json
    assert data == {"aliases": [{"word": "Mel", "name": "Melanie", "memories": 1, "undone": False}]}


def test_paths_show_memories_by_what_they_say(cli: Run, fleet: str) -> None:
    found = cli("graph", "paths", "UAV-001", "--to", "Anna", "--depth", "4")
    assert found.lines == [
        "0.5220\tUAV-001 —belongs_to→ fleet-rescue ←belongs_to— UAV-002 "
        "←mentions— “UAV-002 was repaired by Anna” —mentions→ Anna"
    ]
    data = cli("graph", "paths", "UAV-001", "-t", "belongs_to", "-t", "stationed_at", "--json").json
    assert [[step["entity"] for step in path["steps"]] for path in data["paths"]] == [
        ["fleet-rescue", "base-west"],
        ["fleet-rescue", "UAV-002"],
    ]
    assert data["truncated"] is None
    cut = cli("graph", "paths", "UAV-001", "--limit", "1", terminal=True)
    assert "its limit of paths" in cut.err
    nothing = cli("graph", "paths", "base-west", "--to", "Anna", "--direction", "out")
    assert (nothing.code, nothing.out) == (1, "")
    cli("forget", fleet)
    assert cli("graph", "paths", "UAV-001", "-t", "belongs_to").code == 1


def test_communities_are_told_in_words(cli: Run, fleet: str) -> None:
    told = cli("graph", "communities", "--level", "2")
    assert told.code == 0
    assert "Around: " in told.out
    assert "modularity" in told.err
    data = cli("graph", "communities", "--json").json
    assert data["count"] == len(data["communities"])
    assert cli("graph", "communities", "-n", "nobody").code == 1


def test_what_hung_together_then(cli: Run, fleet: str) -> None:
    assert (
        cli("graph", "paths", "UAV-001", "--as-of", "2100-01-01").lines
        == cli("graph", "paths", "UAV-001").lines
    )
    before = cli("graph", "paths", "UAV-001", "--as-of", "2020-01-01")
    assert (before.code, before.out) == (1, "")
    assert cli("graph", "communities", "--as-of", "2020-01-01", "--json").json["count"] == 0
    assert cli("graph", "communities", "--as-of", "2100-01-01", "--json").json["count"] > 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("entities", "UAV-003"), 1, "no entity 'UAV-003' in namespace 'default'; did you mean 'UAV-00"),
        (("paths", "fleet-rescu"), 1, "did you mean 'fleet-rescue'?"),
        (("paths", "UAV-001", "--depth", "1000000000"), 2, "depth must be a whole number from 1 to 100"),
        (("paths", "UAV-001", "-t", "likes"), 2, "must be one of"),
        (("paths", "UAV-001", "--as-of", "then"), 2, "--as-of must be a time such as"),
        (("communities", "--as-of", "then"), 2, "--as-of must be a time such as"),
        (("paths", "UAV-001", "--direction", "up"), 2, "--direction must be one of both, out, in"),
        (("relate", "a", "b"), 2, "Missing argument"),
        (("relate", "a", "next", "b"), 2, "type must be a word of your own"),
        (("relate", "a", "b", "c", "--weight", "0"), 2, "weight must be"),
        (("relate", "a", "b", "c", "--memory", "nobody"), 1, "no memory 'nobody'"),
        (
            ("relate", "a", "b", "c", "--valid-from", "2026-05-07", "--valid-to", "2026-05-06"),
            2,
            "valid_to must",
        ),
        (("entities", "--type", "person"), 2, "ENTITY must be given"),
        (("entities", "Anna", "--merge", "anna"), 2, "other must be another entity than 'Anna'"),
        (("entities", "Anna", "--undo-merge"), 2, "name must be a name that was merged"),
        (("entities", "--undo-alias"), 2, "ENTITY must be given"),
        (("entities", "Ann", "--restore-alias"), 2, "word must be one that was undone"),
        (("communities", "--level", "3"), 2, "level must be a whole number from 0 to 2"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_written(
    cli: Run, fleet: str, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = cli("admin", "stats", "--json").json["changes"]
    failed = cli("graph", *arguments)
    assert failed.code == code
    assert words in failed.err
    assert cli("admin", "stats", "--json").json["changes"] == before


def test_about_is_written_as_import_reads_it(cli: Run, tea: str, home: Path) -> None:
    cli("graph", "relate", "Anna", "knows", "Bob")
    cli("forget", tea)
    assert cli("graph", "about", "anna", "anna.jsonl", "--json").json == {
        "memories": 1, "entities": 1, "relations": 1, "file": "anna.jsonl",
    }  # fmt: skip
    assert cli("graph", "about", "Anna", "anna.jsonl").code == 2
    assert cli("graph", "about", "Anna", "anna.jsonl", "--force").code == 0
    assert "1 memory, 1 entity, 1 relation" in cli("graph", "about", "Anna").err
    assert len(cli("graph", "about", "Anna").lines) == 3
    assert cli("--db", "other.db", "import", "anna.jsonl").code == 0
    assert cli("--db", "other.db", "graph", "about", "Anna").out == (home / "anna.jsonl").read_text("utf-8")
    assert cli("graph", "about", "Nobody").code == 1


def test_a_subject_is_exported_and_gone(cli: Run, tea: str, home: Path) -> None:
    refused = cli("graph", "purge", "Anna")
    assert (refused.code, "--yes must be given" in refused.err) == (2, True)
    gone = cli("graph", "purge", "Anna", "--export", "anna.jsonl", "--yes", "--json").json
    assert gone == {"memories": 1, "entities": 0, "relations": 0, "file": "anna.jsonl"}
    assert tea in (home / "anna.jsonl").read_text("utf-8")
    assert cli("show", tea).code == 1
    assert b"green tea" not in (home / "memories.db").read_bytes()
    assert cli("graph", "purge", "Anna", "--yes").code == 1
    assert cli("graph", "purge", "Bob", "--yes").out == "Removed 2 memories, 0 entities, 0 relations.\n"


def test_what_corrected_something_about_others_comes_back(cli: Run, tea: str, home: Path) -> None:
    zoe = cli("correct", tea, "Zoe prefers black tea").out.strip()
    before = cli("show", zoe, "--json").json
    cli("graph", "purge", "Zoe", "--export", "zoe.jsonl", "--yes")
    assert cli("--db", "other.db", "import", "zoe.jsonl").out == "imported 1 memory\n"
    # Where what it corrected still is, it corrects that again.
    assert cli("import", "zoe.jsonl").code == 0
    assert cli("show", zoe, "--json").json == before
    assert cli("show", tea, "--json").json[0]["superseded_by"] == zoe


def test_a_file_that_is_there_stops_the_purge(cli: Run, tea: str, home: Path) -> None:
    (home / "anna.jsonl").write_text("precious")
    assert cli("graph", "purge", "Anna", "--export", "anna.jsonl", "--yes").code == 2
    assert cli("show", tea).code == 0
    assert (home / "anna.jsonl").read_text("utf-8") == "precious"


def test_a_namespace_is_removed_with_its_name(cli: Run, tea: str, home: Path) -> None:
    cli("-n", "acme/quokka", "remember", "Quokkas smile.")
    assert cli("namespace", "purge", "acme/quokka").code == 2
    assert cli("namespace", "purge", "acme/quokka", "--yes").out == "Removed acme/quokka and its 1 memory.\n"
    assert cli("namespace", "list", "--json").json == {"namespaces": {"default": 3}}
    assert b"uokka" not in (home / "memories.db").read_bytes()
    assert cli("namespace", "purge", "acme/quokka", "--yes").code == 2
    assert cli("namespace", "purge", "default", "--yes", "--json").json == {
        "namespace": "default",
        "memories": 3,
    }
