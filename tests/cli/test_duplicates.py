"""Duplicates and contradictions on the command line."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def twice(cli: Run, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A database from before anybody looked for duplicates; the ids of the two."""
    monkeypatch.setenv("MEMORATA_DUPLICATES", "off")
    first = cli("remember", "Anna likes tea").out.strip()
    second = cli("remember", "anna likes tea!").out.strip()
    cli("remember", "Bob sails")
    monkeypatch.delenv("MEMORATA_DUPLICATES")
    return first, second


def test_groups_are_shown_first_then_superseded_then_taken_back(cli: Run, twice: tuple[str, str]) -> None:
    first, second = twice
    shown = cli("duplicates")
    assert shown.lines == [
        f"exact\tkeep\t{second}\tanna likes tea!",
        f"exact\trepeats\t{first}\tAnna likes tea",
    ]
    assert "1 repeat in 1 group of 3 memories\n" in shown.err
    assert "--apply" in shown.err
    assert len(cli("list").lines) == 3
    applied = cli("duplicates", "--apply")
    assert applied.lines[-1] == "superseded 1 in run 1"
    assert len(cli("list").lines) == 2
    assert cli("duplicates").lines == []
    assert [line.split("\t")[2:] for line in cli("duplicates", "--runs").lines] == [
        ["done", "1", "keep_highest_confidence"]
    ]
    assert cli("duplicates", "--undo").out == "reinstated 1 memory\n"
    assert len(cli("list").lines) == 3
    none = cli("duplicates", "--undo")
    assert (none.code, none.out) == (1, "")
    assert "There is no run to undo." in none.err
    again = cli("duplicates", "--undo", "--json")
    assert (again.code, again.json) == (1, {"reinstated": [], "left": []})
    assert cli("admin", "check").code == 0


def test_the_same_as_json(cli: Run, twice: tuple[str, str]) -> None:
    first, second = twice
    found = cli("duplicates", "--strategy", "keep_most_recent", "--apply", "--json").json
    assert found["groups"] == [
        {
            "kind": "exact",
            "keep": second,
            "content": "anna likes tea!",
            "repeats": [first],
            "reasons": ["The words are the same."],
        }
    ]
    assert (found["compared"], found["run"]["repeats"]) == (3, 1)
    assert cli("duplicates", "--runs", "--json").json["runs"][0]["strategy"] == "keep_most_recent"
    assert cli("duplicates", "--undo", "--run", "1", "--json").json == {"reinstated": [first], "left": []}


@pytest.mark.parametrize(
    "arguments",
    [("--strategy", "x"), ("--undo", "--apply"), ("--run", "1"), ("--limit", "-1")],
)
def test_bad_options_of_duplicates_are_refused(cli: Run, tea: str, arguments: tuple[str, ...]) -> None:
    assert cli("duplicates", *arguments).code == 2


def test_passages_of_files_are_found_and_turns_of_transcripts_are_left_alone(cli: Run, home: Path) -> None:
    (home / "notes.txt").write_text("Bob sails.\n\nbob sails\n")
    cli("import", "notes.txt")
    turns = [{"speaker": "Bob", "session": "s", "position": position} for position in (0, 1)]
    lines = [json.dumps({"content": "Yes.", "source": source}) for source in turns]
    (home / "talk.jsonl").write_text("\n".join(lines))
    assert cli("import", "talk.jsonl").code == 0
    shown = cli("duplicates")
    assert {line.rsplit("\t")[-1] for line in shown.lines} == {"Bob sails.", "bob sails"}
    assert "of 2 memories" in shown.err
    assert "2 turns of transcripts left alone" in shown.err
    assert cli("duplicates", "--json").json["turns"] == 2


def test_what_may_be_contradicted_is_told_where_it_is_said(cli: Run) -> None:
    cli("remember", "The rent is 900 euros.")
    newer = cli("remember", "The rent is 950 euros.")
    assert "It may contradict “The rent is 900 euros.”: the number differs: 900 and 950\n" in newer.err
    for rent in (1000, 1050, 1100):
        newer = cli("remember", f"The rent is {rent} euros.")
    assert newer.err.count("It may contradict") == 3
    assert f"memorata contradictions {newer.out.strip()[-12:]} shows all" in newer.err
    assert cli("remember", "The sea is cold.", "--quiet").err == ""


def test_what_was_said_before_is_told(cli: Run, tea: str) -> None:
    again = cli("remember", "anna prefers green tea!", "-c", "preference", "--role", "user")
    assert again.out.strip() == tea
    assert "It was said before, 2 times by now" in again.err
    assert (
        "Repeated"
        in cli("remember", "Anna prefers green tea", "-c", "preference", "--role", "user", terminal=True).out
    )


@pytest.fixture
def cities(cli: Run) -> tuple[str, str]:
    old = cli("remember", "Anna lives in Rome").out.strip()
    return old, cli("remember", "Anna lives in Paris").out.strip()


def test_contradictions_are_shown_and_decided(cli: Run, cities: tuple[str, str]) -> None:
    old, new = cities
    shown = cli("contradictions")
    assert shown.lines == [
        "open\tvalue\tanother value of the same attribute: rome and paris",
        f"newer\t{new}\tAnna lives in Paris",
        f"older\t{old}\tAnna lives in Rome",
    ]
    assert cli("contradictions", new, "--accept", old).code == 2
    decided = cli("contradictions", new, "--accept", old, "--because", "she moved", "--json").json
    assert decided["contradictions"][0]["verdict"] == "contradicts"
    assert decided["contradictions"][0]["decided_because"] == "she moved"
    assert "No contradictions" in cli("contradictions").err
    assert cli("contradictions", "--all").lines[0].startswith("contradicts\t")
    assert new in cli("history", old).out
    assert cli("contradictions", "--undo").code == 2
    assert cli("contradictions", old, "--undo").out.strip() == f"reinstated {old}"


def test_both_can_be_true(cli: Run, cities: tuple[str, str]) -> None:
    old, new = cities
    assert cli("contradictions", new, "--reject", old, "--because", "two homes").code == 0
    assert cli("contradictions", new, "--reject", old, "--because", "two homes").code == 2
    assert len(cli("list").lines) == 2


@pytest.fixture
def service() -> Iterator[str]:
    """A chat service that finds every pair contradictory."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            pairs = json.loads(body["messages"][1]["content"])
            said = {"pairs": [{"verdict": "contradicts", "reason": "One lives in one city."}] * len(pairs)}
            data = json.dumps({"choices": [{"message": {"content": json.dumps(said)}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_decides_and_says_why(cli: Run, cities: tuple[str, str], service: str) -> None:
    decided = cli("contradictions", "--model", "wise", "--address", service, "--json").json
    (one,) = decided["contradictions"]
    assert (one["verdict"], one["decided_by"]) == ("contradicts", "chat:wise")
    assert one["decided_because"] == "One lives in one city."
    assert len(cli("list").lines) == 1
    assert cli("contradictions", "x", "--accept", "y", "--because", "z", "--model", "wise").code == 2


def test_an_export_with_repeats_comes_back_as_it_was(cli: Run, home: Path, twice: tuple[str, str]) -> None:
    cli("duplicates", "--apply")
    cli("remember", "Bob sails!")
    cli("remember", "The sea is cold")
    cli("remember", "the sea is cold.")
    cli("export", "one.jsonl")
    assert cli("import", "one.jsonl", "--db", "other.db").code == 0
    cli("export", "two.jsonl", "--db", "other.db")
    assert (home / "two.jsonl").read_text("utf-8") == (home / "one.jsonl").read_text("utf-8")
    assert cli("admin", "check", "--db", "other.db").code == 0
    again = cli("import", "one.jsonl", "--db", "other.db", "--json").json
    assert (again["imported"], again["problems"]) == (0, [])
