"""Remember and correct on the command line."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Vectors

Run = Callable[..., Any]


def test_in_a_pipe_it_prints_the_id_and_at_a_terminal_its_end(cli: Run) -> None:
    said = cli("remember", "Anna", "prefers", "green", "tea")
    assert said.code == 0
    assert cli("show", said.out.strip()).lines[0] == "Anna prefers green tea"
    assert "embedded by lexical-512" in said.err
    assert cli("remember", "milk", terminal=True).out.startswith("Remembered · id ")


def test_every_field_can_be_given(cli: Run) -> None:
    memory = cli(
        *("remember", "Anna moved to Paris", "--json", "-c", "event", "-t", "move", "-t", "home"),
        *("--entity", "Anna", "--tier", "episodic", "--confidence", "0.9", "--importance", "1"),
        *("--speaker", "Bob", "--role", "user", "--session", "chat-1", "--link", "https://example.org/1"),
        *("--place", "48.857,2.352,Paris", "--metadata", '{"room": 12}', "--id", "m1"),
        *("--valid-from", "2026-05-07", "--valid-to", "2026-06-01T12:00Z", "--expires", "2030-01-01"),
    ).json
    assert (memory["id"], memory["content"], memory["category"]) == ("m1", "Anna moved to Paris", "event")
    assert (memory["tags"], memory["entities"], memory["tier"]) == (
        ["move", "home"],
        ["Anna", "Paris"],
        "episodic",
    )
    assert (memory["confidence"], memory["importance"]) == (0.9, 1.0)
    source = {"speaker": "Bob", "session": "chat-1", "position": None, "link": "https://example.org/1"}
    source |= {"via": "cli", "role": "user"}
    assert memory["source"] == source
    assert memory["place"] == {"lat": 48.857, "lon": 2.352, "name": "Paris"}
    assert memory["metadata"] == {"room": 12}
    assert memory["valid_from"] == "2026-05-07T00:00:00+00:00"
    assert memory["valid_to"] == "2026-06-01T12:00:00+00:00"
    assert memory["expires_at"] == "2030-01-01T00:00:00+00:00"


def test_the_text_may_come_from_a_pipe_and_stays_as_it_is(cli: Run) -> None:
    said = cli("remember", "-", "--json", input="first line\n  second 🍵\n")
    assert said.json["content"] == "first line\n  second 🍵\n"
    assert cli("remember", "-", "--json", input="\ufeffWith a mark").json["content"] == "With a mark"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((" ",), "content must be text that is not blank"),
        (("caf\udce9",), "the text must be UTF-8"),
        (("x", "--confidence", "2"), "confidence must be a number from 0 to 1, got 2.0"),
        (("x", "--confidence", "high"), "Invalid value for '--confidence'"),
        (("x", "--tier", "semantik"), "(did you mean semantic?)"),
        (("x", "--place", "Paris"), "--place must be degrees such as"),
        (("x", "--place", "95,0"), "lat must be a number from -90 to 90"),
        (("x", "--metadata", "{"), "--metadata must be JSON"),
        (("x", "--id", "has space"), "id must be 1 to 128 characters without white space"),
        (("x", "--valid-from", "2026-02-01", "--valid-to", "2026-01-01"), "valid_to must be at or after"),
        ((), "Missing argument 'TEXT'. Use - to read it from stdin."),
        (("-5 degrees",), "No such option: -5. Put -- before a text that begins with a dash."),
        (("x", "--tga", "y"), "No such option: --tga (Possible options: --tag)"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_written(
    cli: Run, tea: str, arguments: tuple[str, ...], words: str
) -> None:
    wrong = cli("remember", *arguments)
    assert (wrong.code, wrong.out) == (2, "")
    assert words in wrong.err
    assert cli("admin", "stats", "--json").json["memories"] == 3


def test_a_text_that_is_long_for_one_memory_is_said_to_be(cli: Run) -> None:
    assert "a lot for one memory" not in cli("remember", "x" * 19_999).err
    said = cli("remember", "y" * 20_000)
    assert said.code == 0
    assert said.err.splitlines()[0].startswith("20,000 characters are a lot for one memory")
    assert said.err.count("memorata import") == 1


def test_a_long_text_that_is_interrupted_leaves_nothing_behind(
    cli: Run, tea: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: LexicalEmbedder, texts: Sequence[str]) -> list[Vectors]:
        raise KeyboardInterrupt

    before = cli("export").out
    with monkeypatch.context() as patched:
        patched.setattr(LexicalEmbedder, "embed_passages", interrupted)
        for command in (("remember", "y" * 20_000), ("correct", tea, "y" * 20_000)):
            said = cli(*command)
            assert said.code == 130
            assert "Ctrl-C stops it, and nothing is written then" in said.err
            assert "interrupted" in said.err
    assert cli("export").out == before
    assert cli("admin", "check").out.strip() == "sound"


def test_an_id_that_is_taken_is_refused(cli: Run) -> None:
    cli("remember", "one", "--id", "m1")
    again = cli("remember", "two", "--id", "m1")
    assert again.code == 2
    assert "id must be an id that is not taken yet, got 'm1'" in again.err


def test_a_correction_may_lie_elsewhere(cli: Run) -> None:
    old = cli("remember", "Anna lives in Berlin", "--place", "52.5,13.4,Berlin", "--json").json
    new = cli("correct", old["id"], "Anna lives in Porto", "--place", "41.1,-8.6,Porto", "--json").json
    assert new["place"] == {"lat": 41.1, "lon": -8.6, "name": "Porto"}
    assert cli("correct", new["id"], "Anna lives in Rome", "--json").json["place"] is None
    assert cli("correct", new["id"], "Anna lives in Rome", "--place", "Rome").code == 2


def test_a_correction_takes_the_place_of_the_old(cli: Run, tea: str) -> None:
    new = cli("correct", tea[-12:], "Anna prefers black tea", "--confidence", "0.8", "--json").json
    assert (new["supersedes"], new["tags"], new["confidence"]) == ([tea], ["drinks"], 0.8)
    assert [line.split("\t")[2] for line in cli("recall", "Anna tea").lines] == ["Anna prefers black tea"]
    again = cli("correct", tea, "Anna drinks coffee")
    assert again.code == 2
    assert "has taken its place" in again.err
    assert cli("correct", "nobody", "x").code == 1


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
    assert plain.lines[0].split("\t")[::2] == [tea, "Anna: Anna prefers green tea"]
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
    assert cli("namespace", "list").lines == ["acme/alice\t1", "default\t3"]
    assert cli("namespace", "list", terminal=True).lines == ["        1  acme/alice", "        3  default"]


def test_what_is_known_is_changed_and_told(cli: Run, tea: str) -> None:
    said = {
        "-c": "habit",
        "--tier": "procedural",
        "--confidence": "0.5",
        "--importance": "0.9",
        "--entity": "Anna",
    }
    said |= {"--metadata": '{"cup": 2}', "--place": "1,2,Bath", "--valid-from": "2026-01-01"}
    said |= {"--valid-to": "2026-12-31", "--expires": "2030-01-01"}
    options = [part for option in said.items() for part in option]
    changed = cli("update", tea[-12:], "-t", "breakfast", "-t", "morning", *options, "--json").json
    assert (changed["category"], changed["tier"], changed["version"]) == ("habit", "procedural", 2)
    assert (changed["tags"], changed["metadata"]) == (["breakfast", "morning"], {"cup": 2})
    assert changed["place"] == {"lat": 1.0, "lon": 2.0, "name": "Bath"}
    assert cli("recall", "breakfast").code == 0
    assert cli("update", tea, "--expires", "never", "--json").json["expires_at"] is None
    assert cli("update", tea, "-c", "fact").out == f"{tea}\n"
    assert cli("update", tea, "-c", "x", terminal=True).out == "Updated; it is at version 5 now.\n"


def test_a_stale_version_and_nothing_to_change_are_refused(cli: Run, tea: str) -> None:
    assert cli("update", tea, "-c", "habit", "--expected-version", "1").code == 0
    stale = cli("update", tea, "-c", "other", "--expected-version", "1")
    assert (stale.code, "version" in stale.err) == (3, True)
    assert cli("update", tea).code == 2
    assert cli("update", tea, "--confidence", "2").code == 2
    assert cli("update", "0123456789", "-c", "x").code == 1


def test_pins_uses_and_confirmations_are_counted(cli: Run, tea: str) -> None:
    assert cli("update", tea, "--pin", "--json").json["pinned"] is True
    assert cli("feedback", "used", tea).out == f"{tea}\n"
    assert cli("feedback", "confirm", tea, terminal=True).out == "Confirmed 1 memory.\n"
    shown = dict(line.split("\t", 1) for line in cli("show", tea).lines[1:])
    assert (shown["pinned"], shown["used"], shown["said"]) == ("yes", "1 times", "2 times")
    assert cli("list", "-f", '{"pinned": true}').lines[0].startswith(tea)
    assert cli("update", tea, "--unpin", "--json").json["pinned"] is False
    assert cli("update", "0123456789", "--pin").code == 1


def test_show_tells_both_confidences_where_they_differ(
    cli: Run, home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORATA_CONFIG", str(home / "memorata.toml"))
    (home / "memorata.toml").write_text("[life]\nconfidence_loss = 0.05\nepisodic_uses = 3.0\n")
    cli("import", "-", input='{"content": "Anna likes tea", "id": "old", "confidence": 0.9, '
        '"created_at": "2020-01-01T00:00:00Z"}')  # fmt: skip
    old = cli("list", "--json").json["memories"][0]
    assert (old["confidence"], old["confidence_now"]) == (0.9, 0.05)
    shown = cli("show", old["id"])
    assert "confidence\t0.05 by now, 0.9 as written" in shown.out
    (home / "memorata.toml").write_text("[life]\ncolour = 1\n")
    assert cli("list").code == 2


def test_what_is_forgotten_is_not_recalled_until_it_is_restored(cli: Run, tea: str) -> None:
    assert cli("forget", tea[-12:], "--json").json == {"forgotten": [tea]}
    assert cli("recall", "green tea").code == 1
    assert cli("restore", tea).out == f"{tea}\n"
    assert cli("recall", "green tea").code == 0
    assert cli("forget", tea, terminal=True).out == "Forgot 1 memory.\n"


def test_a_filter_removes_what_meets_it(cli: Run, tea: str) -> None:
    rain = cli("remember", "It rains.", "--category", "weather").out.strip()
    weather = ("--filter", '{"category": "weather"}')
    assert cli("list", "--oldest-first", "--json").json["memories"][0]["id"] == tea
    assert cli("forget", *weather, "--dry-run", "--json").json == {"would_forget": [rain]}
    assert cli("forget", *weather, "--json").json == {"forgotten": [rain]}
    assert cli("purge", *weather, "--dry-run", "--json").json == {"would_purge": [rain]}
    assert cli("purge", *weather, "--yes", "--json").json == {"purged": [rain]}
    assert cli("show", tea).code == 0
    for wrong in ((), (tea, *weather), ("--filter", "{}")):
        assert cli("purge", *wrong, "--yes").code == 2
        assert cli("forget", *wrong).code == 2
    assert "ID or --filter must be given (one of the two, not both)" in cli("forget").err


def test_an_unknown_id_forgets_nothing(cli: Run, tea: str) -> None:
    assert cli("forget", tea, "0123456789").code == 1
    assert cli("recall", "green tea").code == 0


def test_without_a_terminal_purge_refuses_unless_told(cli: Run, tea: str) -> None:
    refused = cli("purge", tea)
    assert refused.code == 2
    assert refused.err == "memorata: --yes must be given where there is no terminal to ask at\n"
    assert cli("show", tea).code == 0


def test_with_yes_purge_wants_whole_ids_and_leaves_no_trace(cli: Run, tea: str, home: Path) -> None:
    piece = cli("purge", tea[-12:], "--yes")
    assert piece.code == 2
    assert f"ID must be the whole id, {tea}, without a confirmation" in piece.err
    assert cli("purge", tea, "--yes", "--json").json == {"purged": [tea]}
    assert cli("show", tea).code == 1
    assert b"green tea" not in (home / "memories.db").read_bytes()
