"""How far something is, shown to people and to nobody else."""

import pytest

from memorata.cli.output import Output
from memorata.cli.progress import progress


@pytest.mark.parametrize(
    ("output", "shown"), [(Output(), True), (Output(quiet=True), False), (Output(json=True), False)]
)
def test_it_is_drawn_for_a_person_who_wants_to_know(
    output: Output, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress(output, "reading") as advance:
        advance(3, 8)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ("reading" in printed.err and "3/8" in printed.err) == shown


def test_in_a_pipe_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(Output()) as advance:
        advance(3, 8)
    assert capsys.readouterr().err.strip() == ""
