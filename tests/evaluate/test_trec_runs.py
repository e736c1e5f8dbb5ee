"""Anybody's ranking file: TREC's format or ours, with labels in TREC's."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorata.evaluate.run_file import Answered, RunHeader, RunWriter
from memorata.evaluate.scored import scored, sections
from memorata.evaluate.trec_runs import is_trec, judged_by, read_anybodys
from memorata.model.errors import DatasetError


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "judged.qrels"
    path.write_text("q1 0 d2 1\nq2 0 d1 1\n")
    return path


def test_a_trec_run_is_scored_by_its_own_questions(tmp_path: Path, qrels: Path) -> None:
    path = tmp_path / "theirs.run"
    path.write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n")
    assert is_trec(path)
    found = scored(path, ["mrr"], judged_by(qrels), read_anybodys(qrels))
    # q1 has its document second, and q2 is not in the run at all.
    assert found.scores.measures["mrr"].micro.mean == 0.25
    assert (found.name, found.scores.header.dataset) == ("theirs", "judged.qrels")
    # Nobody knows what code made it.
    (section,) = sections([found])
    assert [fact.split()[0] for fact in section.facts] == ["2", "data", "theirs"]


def test_a_run_of_ours_keeps_its_kinds(tmp_path: Path, qrels: Path) -> None:
    header = RunHeader("tea", "01", {"name": "mine"}, "", "session", "1", 0, datetime(2026, 5, 7, tzinfo=UTC))
    path = tmp_path / "mine.jsonl"
    with RunWriter(path, header) as writer:
        writer.append(Answered("q1", "food", (("d2", 1.0),)))
        writer.append(Answered("q2", "names", (("d1", 1.0),)))
    assert not is_trec(path)
    found = scored(path, ["mrr"], judged_by(qrels), read_anybodys(qrels))
    assert found.scores.kinds == {"food": 1, "names": 1}
    assert found.scores.measures["mrr"].macro.mean == 1.0


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        is_trec(tmp_path)
