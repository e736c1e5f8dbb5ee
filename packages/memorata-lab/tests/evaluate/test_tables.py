"""The tables of a report, with numbers that can be checked by hand."""

from datetime import UTC, datetime
from pathlib import Path

from memorata_lab.evaluate.dataset import Question
from memorata_lab.evaluate.run_file import Answer, Machine, Run, RunHeader
from memorata_lab.evaluate.scores import score
from memorata_lab.evaluate.tables import (
    ScoredRun,
    Section,
    abstention,
    by_kind,
    cost,
    differences,
    quality,
    tables,
)

ASKED = (
    Question("q1", "", "food", relevant={"d1": 1.0}),
    Question("q2", "", "names", relevant={"d2": 1.0}),
    Question("q3", "", "names", answerable=False),
)


def run(name: str, first: str, *, embedder: str = "", machine: Machine | None = None) -> ScoredRun:
    """A run that puts the same document first for every question, and keeps silent on the last."""
    header = RunHeader(
        "tea", "01", {"name": name}, embedder, "turn", "1", 0, datetime(2026, 5, 7, tzinfo=UTC)
    )
    answers = {
        each.id: Answer(
            each.id,
            each.kind,
            ((first, 2.0),),
            milliseconds=4.0,
            top=2.0 if each.answerable else 1.0,
            abstained=not each.answerable,
        )
        for each in ASKED
    }
    scores = score(Run(header, answers), ASKED, ["any@1", "mrr"], "turn")
    return ScoredRun(name, Path(f"{name}.jsonl"), scores, ((1, 0.5),), machine)


HERE = Machine("3.11", "Linux", 2, 512.0, 10.0, 20.0)
PLAIN, GOOD, BAD = run("bm25", "d1"), run("good", "d1", embedder="e", machine=HERE), run("bad", "x")
ALL = Section("tea", "turn", (GOOD, BAD, PLAIN))


def cells(table: object) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]  # type: ignore[attr-defined]


def test_quality_marks_the_best_of_each_column() -> None:
    table = quality(ALL)
    assert table.heads == ("recipe", "any@1", "mrr")
    assert cells(table) == [["good", "50.0", "50.0"], ["bad", "0.0", "0.0"], ["bm25", "50.0", "50.0"]]
    assert [row[1].best for row in table.rows] == [True, False, True]
    assert table.rows[1][1].detail == "[0.0, 0.0]"


def test_a_run_alone_is_not_the_best() -> None:
    assert not quality(Section("tea", "turn", (GOOD,))).rows[0][1].best


def test_kinds_are_columns_with_their_numbers() -> None:
    table = by_kind(ALL)
    assert table is not None
    assert table.heads == ("recipe", "food (1)", "names (1)", "mean of kinds")
    assert cells(table)[0] == ["good", "100.0", "0.0", "50.0"]


def test_differences_are_from_plain_words() -> None:
    table = differences(ALL)
    assert table is not None
    assert [row[0] for row in cells(table)] == ["good", "bad"]
    assert [row[1] for row in cells(table)] == ["0.0", "-50.0"]
    assert differences(Section("tea", "turn", (GOOD, BAD))) is None


def test_cost_adds_the_embedding_only_where_there_is_one() -> None:
    table = cost(ALL)
    assert table is not None
    assert cells(table) == [
        ["good", "4.00", "4.00", "4.00", "14.00", "512"],
        ["bad", "4.00", "4.00", "4.00", "4.00", "–"],
        ["bm25", "4.00", "4.00", "4.00", "4.00", "–"],
    ]
    unknown = cost(Section("tea", "turn", (run("x", "d1", embedder="e"),)))
    assert unknown is not None
    assert cells(unknown)[0][4] == "–"


def test_abstention_counts_both_kinds_of_silence() -> None:
    table = abstention(ALL)
    assert table is not None
    assert cells(table)[0] == ["good", "100.0", "1 of 1", "0 of 2"]


def test_tables_without_anything_to_say_are_left_out() -> None:
    titles = [table.title for table in tables(Section("tea", "turn", (GOOD,)))]
    assert titles == ["Quality", "any@1 by kind of question", "Time and memory", "Abstention"]
