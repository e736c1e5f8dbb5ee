"""Control characters are made visible; results and remarks go to their own streams."""

import io
from datetime import UTC, datetime

import pytest

from memorata.cli.output import (
    PROGRESS_SECONDS,
    Output,
    byline,
    counted,
    details,
    dumps,
    embedder_name,
    may_be_drawn_on,
    one_line,
    plain_line,
    progress,
    short_id,
    size,
    visible,
)
from memorata.model.entity import Entity, Place
from memorata.model.memory import Memory, Source


def test_control_characters_are_dumps_out_and_lines_and_tabs_stay() -> None:
    assert visible("a\x1b[31mb\x07\tc\nd\x9be") == "a\\x1b[31mb\\x07\tc\nd\\x9be"
    assert visible("שלום 🍵 naïve") == "שלום 🍵 naïve"
    # An override could show a text backwards; it is named instead.
    assert visible("\u202etxet") == "\\u202etxet"
    assert visible("lone \ud800") == "lone \\ud800"


def test_one_line_is_cut_with_an_ellipsis() -> None:
    assert one_line(" a\n\n b\tc ") == "a b c"
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"


def test_numbers_with_nouns() -> None:
    assert [counted(n, "memory", "memories") for n in (0, 1, 2)] == ["0 memories", "1 memory", "2 memories"]


def test_results_and_remarks_are_kept_apart(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    output.line("result")
    output.say("remark")
    output.fail("several\nlines")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("result\n", "remark\nmemorata: several lines\n")
    Output(quiet=True).say("remark")
    Output(quiet=True).warn("remark")
    assert capsys.readouterr().err == ""


def test_json_is_one_line_in_a_pipe_and_indented_for_a_person(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    Output(json=True).data({"content": "naïve 🍵"})
    assert capsys.readouterr().out == '{"content": "naïve 🍵"}\n'
    monkeypatch.setenv("FORCE_COLOR", "1")
    Output(json=True).data({"a": 1})
    assert capsys.readouterr().out == '{\n  "a": 1\n}\n'
    monkeypatch.delenv("FORCE_COLOR")
    Output(json=True).data({"of": Entity("Anna"), "score": float("nan")})
    anna = '{"name": "Anna", "type": "thing", "aliases": [], "description": "", "place": null}'
    assert capsys.readouterr().out == f'{{"of": {anna}, "score": null}}\n'


@pytest.mark.parametrize(("encoding", "text"), [("UTF8", '"Zoë"'), ("cp1252", '"Zo\\u00eb"')])
def test_json_can_be_read_whatever_the_encoding(encoding: str, text: str) -> None:
    assert dumps("Zoë", io.TextIOWrapper(io.BytesIO(), encoding)) == text


@pytest.mark.parametrize(
    ("output", "shown"), [(Output(), True), (Output(quiet=True), False), (Output(json=True), False)]
)
def test_it_is_drawn_for_a_person_who_wants_to_know(
    output: Output, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress(output) as advance:
        advance("reading", 3, 8)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ("reading" in printed.err and "3/8" in printed.err) == shown


def test_in_a_pipe_a_line_now_and_then_tells_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 0.0
    with progress(Output(), lambda: seconds) as advance:
        for done in range(1, 8):
            seconds += PROGRESS_SECONDS / 3
            advance("reading", 1_000 * done, 8_000 if done < 6 else None)
    assert capsys.readouterr().err == "reading: 3,000 of 8,000\nreading: 6,000\n"
    with progress(Output(quiet=True), lambda: seconds) as advance:
        seconds += PROGRESS_SECONDS
        advance("reading", 3, 8)
    assert capsys.readouterr().err == ""


DAY = datetime(2026, 5, 7, 18, 30, tzinfo=UTC)


def test_the_byline_says_who_what_when_and_which() -> None:
    memory = Memory(id="m1", content="x", created_at=DAY, tags=("tea",), source=Source(speaker="A\x1bnna"))
    assert byline(memory) == "A\\x1bnna · fact · 7 May 2026 · #tea · id m1"
    assert byline(memory, dated=False) == "A\\x1bnna · fact · #tea · id m1"


def test_a_line_for_a_pipe_never_breaks() -> None:
    memory = Memory(id="m1", content="one\ntwo\tthree\r\x85four", created_at=DAY)
    assert plain_line(memory) == "m1\t2026-05-07\tone two three four"


def test_only_a_uuid_is_shortened() -> None:
    assert short_id("01a1e116-a535-77da-93a8-87dda5a72137") == "87dda5a72137"
    assert short_id("chat-2026-05-07-0001") == "chat-2026-05-07-0001"


def test_details_leave_out_what_is_not_set() -> None:
    fields = dict(details(Memory(id="m1", content="x", created_at=DAY), ""))
    assert fields["learnt"] == "2026-05-07 18:30 UTC"
    assert not {"tags", "place", "replaces", "position"} & set(fields)
    placed = Memory(
        id="m1", content="x", created_at=DAY, place=Place(1, 2, "Here"), source=Source(position=0)
    )
    shown = dict(details(placed, "forgotten"))
    assert (shown["place"], shown["position"], shown["state"]) == ("1, 2 Here", "0", "forgotten")


def test_without_an_embedder_it_says_so() -> None:
    assert embedder_name("") == "none, words only"


def test_a_pipe_gets_tabs(capsys: object) -> None:
    Output().table(("one", "two"), [("a", "b\nc")])
    assert capsys.readouterr().out == "a\tb c\n"  # type: ignore[attr-defined]


def test_short_things_are_not_broken_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    rows = [("562761b3fc13", "balanced", "where is Mira living by now?")]
    Output().table(("recall", "recipe", "question"), rows, unbroken=1)
    assert "562761b3fc13" in capsys.readouterr().out
    Output().table(("recall", "recipe", "question"), rows)
    assert "562761b3fc13" not in capsys.readouterr().out


def test_numbers_and_texts_in_few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert visible("red \x1b[31malert") == "red \\x1b[31malert"
    assert one_line("first line\n  second line", max_length=16) == "first line seco…"
    assert (counted(1, "memory", "memories"), counted(1200, "hit")) == ("1 memory", "1,200 hits")
    assert (size(999), size(1_500_000)) == ("999 bytes", "1.5 MB")
    assert short_id("m-1") == "m-1"
    assert embedder_name("snowflake-arctic-embed-s-int8@f5e56449:cls") == "snowflake-arctic-embed-s-int8"
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    assert not may_be_drawn_on(io.StringIO())
