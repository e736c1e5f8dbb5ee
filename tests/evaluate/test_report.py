"""The report in Markdown: tables that render, and text that is never markup."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorata.evaluate.collection import Question
from memorata.evaluate.report import markdown, write_report
from memorata.evaluate.report_html import page
from memorata.evaluate.run_file import Answered, Run, RunHeader
from memorata.evaluate.scored import Scored, Section
from memorata.evaluate.scoring import score

EVIL = "<script>alert(1)</script>|*x*"
ASKED = tuple(Question(f"q{n}", "", ("food", EVIL)[n % 2], relevant={f"d{n}": 1.0}) for n in range(6))


def run(name: str, right: int) -> Scored:
    """A run that answers the first `right` questions."""
    header = RunHeader(
        "tea " + EVIL, "01", {"name": name}, "", "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC)
    )
    answers = {
        each.id: Answered(each.id, each.kind, ((f"d{n}" if n < right else "x", 1.0),), 1.0 + n, 1.0)
        for n, each in enumerate(ASKED)
    }
    scores = score(Run(header, answers), ASKED, ["any@5", "mrr"], "turn")
    return Scored(name, Path(f"{name}.jsonl"), scores, ((1, right / 6), (5, right / 6)))


SECTION = Section("tea " + EVIL, "turn", (run("bm25", 2), run("vector", 3), run("mine", 5), run("other", 1)))


@pytest.mark.parametrize("sections", [[], [SECTION], [SECTION, Section("x", "turn", SECTION.runs[:1])]])
def test_markdown_tables_have_as_many_cells_in_every_row(sections: list[Section]) -> None:
    text = markdown(sections)
    assert "<script" not in text.replace("\\<script", "")
    for block in text.split("\n\n"):
        if block.startswith("|"):
            counts = {line.replace("\\|", "").count("|") for line in block.splitlines()}
            assert len(counts) == 1


def test_markdown_says_the_numbers() -> None:
    text = markdown([SECTION])
    # Five of six questions are answered at once, and nobody does better.
    assert "| mine | **83.3** [" in text
    assert "| bm25 | 33.3 [" in text


def test_both_files_are_written(tmp_path: Path) -> None:
    written = write_report(tmp_path / "new" / "folder", [SECTION])
    assert [path.name for path in written] == ["report.md", "report.html"]
    assert written[0].read_text("utf-8") == markdown([SECTION])
    assert written[1].read_text("utf-8") == page([SECTION])


def test_drawings_of_what_cannot_be_answered_are_files_too(tmp_path: Path) -> None:
    asked = (*ASKED, Question("q9", "", "food", answerable=False))
    header = RunHeader("tea", "01", {"name": "x"}, "", "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC))
    answers = {each.id: Answered(each.id, each.kind, (("d1", 1.0),), 1.0, 1.0) for each in asked}
    scored = Scored("x", Path("x.jsonl"), score(Run(header, answers), asked, ["mrr"], "turn"), ((1, 1.0),))
    sections = [Section("tea", "turn", (scored,)), SECTION, Section("more", "turn", (scored,))]
    written = write_report(tmp_path, sections)
    assert [path.name for path in written[2:]] == [
        "risk-coverage.svg",
        "roc.svg",
        "risk-coverage-2.svg",
        "roc-2.svg",
    ]
    assert all(path.read_text("utf-8").startswith("<svg") for path in written[2:])
