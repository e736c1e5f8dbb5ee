"""List, show, history and namespaces."""

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


def test_list_is_newest_first_a_page_at_a_time(cli: Run, tea: str) -> None:
    first = cli("list", "--limit", "2", "--json").json
    assert [memory["content"] for memory in first["memories"]] == [
        "Coffee gives Bob headaches",
        "Bob moved to Lisbon in May",
    ]
    rest = cli("list", "--cursor", first["cursor"], "--json").json
    assert [memory["id"] for memory in rest["memories"]] == [tea]
    assert rest["cursor"] is None
    assert f"--cursor {first['cursor']}" in cli("list", "--limit", "2").err


def test_lines_in_a_pipe_and_a_table_at_a_terminal(cli: Run, tea: str) -> None:
    plain = cli("list", "--filter", '{"tags": "drinks"}')
    assert plain.lines[0].split("\t")[::2] == [tea, "Anna prefers green tea"]
    assert f"Anna · preference · #drinks · id {tea[-12:]}" in cli("list", terminal=True).out


def test_hidden_ones_are_listed_on_request_with_the_reason(cli: Run, tea: str) -> None:
    cli("forget", tea)
    assert tea not in cli("list").out
    rows = cli("list", "--hidden", "--json").json["memories"]
    assert {row["id"]: row["hidden"] for row in rows}[tea] == "forgotten"
    assert "forgotten" in cli("list", "--hidden", terminal=True).out


def test_an_empty_list_is_no_failure(cli: Run, tea: str) -> None:
    nothing = cli("list", "-n", "nobody")
    assert (nothing.code, nothing.out) == (0, "")
    assert "No memories here · namespace nobody" in nothing.err
    assert cli("list", "--limit", "0").err == "--limit 0 shows none.\n"


def test_list_refuses_a_cursor_and_a_filter_that_are_none(cli: Run, tea: str) -> None:
    assert cli("list", "--cursor", "first").code == 2
    assert cli("list", "--filter", '{"colour": 1}').code == 2


def test_show_tells_everything(cli: Run, tea: str) -> None:
    plain = cli("show", tea[-12:])
    assert plain.lines[0] == "Anna prefers green tea"
    rows = dict(line.split("\t") for line in plain.lines[1:])
    assert rows["id"] == tea
    assert (rows["state"], rows["tags"], rows["speaker"]) == ("current", "drinks", "Anna")
    shown = cli("show", tea, terminal=True)
    assert "preference" in shown.out
    both = cli("show", tea, tea, "--json").json
    assert [memory["id"] for memory in both] == [tea, tea]
    assert both[0]["hidden"] is None


def test_history_is_the_chain_oldest_first(cli: Run, tea: str) -> None:
    assert "never been corrected" in cli("history", tea).err
    new = cli("correct", tea, "Anna prefers black tea").out.strip()
    chain = cli("history", new, "--json").json["memories"]
    assert [(memory["id"], memory["hidden"]) for memory in chain] == [(tea, "superseded"), (new, None)]
    assert cli("history", "0123456789").code == 1


def test_namespaces_are_counted(cli: Run, tea: str) -> None:
    cli("remember", "x", "-n", "acme/alice")
    assert cli("namespaces").lines == ["acme/alice\t1", "default\t3"]
    assert cli("namespaces", terminal=True).lines == ["        1  acme/alice", "        3  default"]
