"""Remember and correct on the command line."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Vectors
from memorata.embed.vectors import with_progress

Run = Callable[..., Any]


def test_in_a_pipe_it_prints_the_id_and_at_a_terminal_its_end(cli: Run) -> None:
    said = cli("remember", "Anna", "prefers", "green", "tea")
    assert said.code == 0
    assert cli("show", said.out.strip()).lines[0] == "Anna prefers green tea"
    assert "meaning by lexical-512" in said.err
    assert cli("remember", "milk", terminal=True).out.startswith("Remembered · id ")


def test_every_field_can_be_given(cli: Run) -> None:
    memory = cli(
        *("remember", "Anna moved to Paris", "--json", "-c", "event", "-t", "move", "-t", "home"),
        *("--entity", "Anna", "--tier", "episodic", "--confidence", "0.9", "--importance", "1"),
        *("--speaker", "Bob", "--session", "chat-1", "--link", "https://example.org/1"),
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
        ((), "Missing argument"),
    ],
)
def test_mistakes_are_explained_and_nothing_is_written(
    cli: Run, tea: str, arguments: tuple[str, ...], words: str
) -> None:
    wrong = cli("remember", *arguments)
    assert (wrong.code, wrong.out) == (2, "")
    assert words in wrong.err
    assert cli("stats", "--json").json["memories"] == 3


def test_a_text_that_is_long_for_one_memory_is_said_to_be(cli: Run) -> None:
    assert "a lot for one memory" not in cli("remember", "x" * 19_999).err
    said = cli("remember", "y" * 20_000)
    assert said.code == 0
    assert said.err.splitlines()[0].startswith("20,000 characters are a lot for one memory")
    assert said.err.count("memorata import") == 1


def test_who_waits_for_a_long_text_sees_how_far_it_is(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    embed = LexicalEmbedder.embed_passages

    def slowly(self: LexicalEmbedder, texts: Sequence[str]) -> list[Vectors]:
        list(with_progress([["passage"]] * 7, 7))
        return embed(self, texts)

    monkeypatch.setattr(LexicalEmbedder, "embed_passages", slowly)
    assert "7/7" in cli("remember", "y" * 20_000, terminal=True).err
    assert "7/7" not in cli("remember", "z" * 20_000).err
    assert "7/7" not in cli("remember", "short", terminal=True).err


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
    assert cli("check").out.strip() == "sound"


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
