"""What an evaluation found, as lines for a pipe and as plain data."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorata.cli.output import Output
from memorata_lab.commands.evaluation import section_json, show_comparison, show_runs, times
from memorata_lab.evaluate.dataset import Question
from memorata_lab.evaluate.run_file import Answer, Machine, Run, RunHeader
from memorata_lab.evaluate.scores import compare, score
from memorata_lab.evaluate.tables import ScoredRun, Section

ASKED = (
    Question("q1", "", "food", relevant={"d1": 1.0}),
    Question("q2", "", "food", relevant={"d1": 1.0}),
    Question("q3", "", "names", relevant={"d2": 1.0}),
    Question("q4", "", "names", answerable=False),
)


def run(name: str, first: str, milliseconds: float | None = 4.0, embedder: str = "") -> ScoredRun:
    header = RunHeader(
        "tea", "01", {"name": name}, embedder, "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC)
    )
    answers = {each.id: Answer(each.id, each.kind, ((first, 2.0),), milliseconds) for each in ASKED}
    scores = score(Run(header, answers), ASKED, ["any@1"], "turn")
    machine = Machine("3.11", "Linux", 2, 512.0, 10.0, 20.0) if embedder else None
    return ScoredRun(name, Path(f"{name}.jsonl"), scores, ((1, 0.5),), machine)


MINE, POOR = run("mine", "d1"), run("poor\x1b[31m", "x")


def test_means_are_over_questions_or_over_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    section = Section("tea", "turn", (MINE, POOR))
    # Two of three questions are right: all of one kind and none of the other.
    for macro, mean in ((False, "66.7"), (True, "50.0")):
        show_runs(Output(), section, macro=macro)
        head, mine, poor = capsys.readouterr().out.splitlines()
        assert head.split("\t") == ["recipe", "any@1", "ms p50", "ms p95", "embedded"]
        assert mine.startswith(f"mine\t{mean} ±")
        assert poor.startswith("poor\\x1b[31m\t0.0 ±0.0")


def test_times_are_with_the_embedding_where_there_is_one() -> None:
    assert times(run("x", "d1")) == ["4.00", "4.00", "4.0"]
    assert times(run("x", "d1", embedder="e")) == ["4.00", "4.00", "14.0"]
    assert times(run("x", "d1", milliseconds=None)) == ["–", "–", "–"]


def test_a_comparison_is_by_kind_too(capsys: pytest.CaptureFixture[str]) -> None:
    show_comparison(Output(), compare(MINE.scores, POOR.scores))
    head, row = capsys.readouterr().out.splitlines()
    assert head.split("\t") == ["measure", "questions", "mean of kinds", "food", "names"]
    assert [cell.split(" ")[0] for cell in row.split("\t")] == ["any@1", "+66.7", "+50.0", "+100.0", "0.0"]


def test_json_has_the_area_instead_of_the_curve() -> None:
    (found,) = section_json(Section("tea", "turn", (MINE,)))["runs"]
    assert isinstance(found["abstention"]["risk_coverage"], float)
    assert (found["recipe"], found["file"], found["machine"]) == ("mine", "mine.jsonl", None)
