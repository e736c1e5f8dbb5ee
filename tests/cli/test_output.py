"""Control characters are made visible; results and remarks go to their own streams."""

import io

import pytest

from memorata.cli.output import Output, counted, one_line, visible, written


def test_control_characters_are_written_out_and_lines_and_tabs_stay() -> None:
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
    with pytest.raises(ValueError, match="not JSON compliant"):
        Output(json=True).data({"a": float("nan")})


@pytest.mark.parametrize(("encoding", "text"), [("UTF8", '"Zoë"'), ("cp1252", '"Zo\\u00eb"')])
def test_json_can_be_read_whatever_the_encoding(encoding: str, text: str) -> None:
    assert written("Zoë", io.TextIOWrapper(io.BytesIO(), encoding)) == text
