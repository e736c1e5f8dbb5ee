"""Anybody's ranking file: TREC's format or ours, with labels in TREC's."""

from collections.abc import Mapping
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from memorata.model import checks
from memorata.model.errors import DatasetError
from memorata_lab.evaluate.metrics import measure
from memorata_lab.evaluate.run_file import (
    Answer,
    Run,
    RunHeader,
    RunWriter,
    is_trec,
    judged_by,
    read_qrels,
    read_trec_run,
    run_reader,
)
from memorata_lab.evaluate.tables import score_file, sections

HEADER = RunHeader("tea", "9f", {"name": "bm25"}, "", "turn", "0.1.0", 0, datetime(2026, 5, 7, tzinfo=UTC))
ids = st.text("abcé:-_", min_size=1, max_size=3)


def run(**rankings: list[tuple[str, float]]) -> Run:
    return Run(HEADER, {name: Answer(name, ranking=tuple(pairs)) for name, pairs in rankings.items()})


def write_trec_run(path: str | PathLike[str], run: Run, tag: str = "memorata") -> None:
    """Write the rankings of `run` so that every reader finds them in the same order.

    Scores are kept where they fall strictly even when rounded to single precision, which ``trec_eval``
    computes with; otherwise the question's items get the scores n, n - 1, …, 1. Questions without a ranking
    do not appear.
    """
    lines = []
    for question, answered in run.answers.items():
        count = len(answered.ranking)
        scores = [score for _, score in answered.ranking]
        with np.errstate(over="ignore"):
            single = np.asarray(scores, np.float32)
        if not (np.isfinite(single).all() and (single[1:] < single[:-1]).all()):
            scores = [float(count - place) for place in range(count)]
        for rank, ((item, _), score) in enumerate(zip(answered.ranking, scores, strict=True), 1):
            lines.append(f"{question} Q0 {item} {rank} {score!r} {tag}\n")
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


def write_qrels(path: str | PathLike[str], qrels: Mapping[str, Mapping[str, float]]) -> None:
    """Write gains by question and item; whole ones as whole numbers, for ``trec_eval`` reads no others."""
    lines = []
    for question, gains in qrels.items():
        for item, gain in gains.items():
            value = checks.number(f"qrels[{question!r}][{item!r}]", gain)
            written = int(value) if value.is_integer() else value
            lines.append(f"{question} 0 {item} {written!r}\n")
    Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.txt"


def test_a_run_is_written_in_six_fields(path: Path) -> None:
    write_trec_run(path, run(q1=[("a", 2.5), ("b", 1.0)], q2=[], q3=[("b", -1.0)]), tag="ours")
    assert path.read_text(encoding="utf-8") == (
        "q1 Q0 a 1 2.5 ours\n"  #
        "q1 Q0 b 2 1.0 ours\n"
        "q3 Q0 b 1 -1.0 ours\n"
    )


def test_a_run_is_read_by_its_scores_and_of_equal_ones_the_last_by_name_is_first(path: Path) -> None:
    path.write_text(
        "q1 Q0 low 1 0.5 x\nq1 Q0 a 2 2 x\n\nq2 Q0 z 1 1e-3 x\nq1 Q0 b 3 2.0 x\n", encoding="utf-8"
    )
    found = read_trec_run(path, HEADER)
    assert found.header == HEADER
    assert found.answers == {
        "q1": Answer("q1", ranking=(("b", 2.0), ("a", 2.0), ("low", 0.5)), top=2.0),
        "q2": Answer("q2", ranking=(("z", 0.001),), top=0.001),
    }


@pytest.mark.parametrize(
    "scores",
    [
        [1.0, 1.0, 1.0],
        [0.1, 0.5, 0.9],
        [0.90000000002, 0.90000000001, 0.9],
        [1e300, 1e200, 1e100],
    ],
    ids=["equal", "rising", "equal in single precision", "infinite in single precision"],
)
def test_scores_that_would_not_give_the_order_are_replaced(path: Path, scores: list[float]) -> None:
    write_trec_run(path, run(q1=list(zip("abc", scores, strict=True))))
    assert read_trec_run(path, HEADER).answers["q1"].ranking == (("a", 3.0), ("b", 2.0), ("c", 1.0))


@given(
    st.dictionaries(ids, st.sampled_from([0.0, 0.5, 0.5 + 1e-9, 1.0, 2.0]), min_size=1),
    st.dictionaries(ids, st.integers(0, 3), min_size=1).filter(lambda gains: max(gains.values()) > 0),
)
def test_trec_eval_gives_what_is_exported_the_value_it_has_here(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[str, float], gains: dict[str, int]
) -> None:
    folder = tmp_path_factory.mktemp("trec")
    write_trec_run(folder / "run", run(q1=list(scores.items())))
    write_qrels(folder / "qrels", {"q1": gains})
    with (folder / "run").open(encoding="utf-8") as runs, (folder / "qrels").open(encoding="utf-8") as qrels:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"ndcg_cut_3", "map"})
        theirs = evaluator.evaluate(pytrec_eval.parse_run(runs))["q1"]
    # The keys of a dictionary are the ranking, in whatever order they were made up.
    assert measure("ndcg@3")(list(scores), gains) == pytest.approx(theirs["ndcg_cut_3"], abs=1e-9)
    assert measure("map")(list(scores), gains) == pytest.approx(theirs["map"], abs=1e-9)
    assert read_trec_run(folder / "run", HEADER).answers["q1"].items == tuple(scores)


@given(st.dictionaries(ids, st.dictionaries(ids, st.floats(-9, 9), min_size=1)))
def test_gains_survive_the_file(
    tmp_path_factory: pytest.TempPathFactory, qrels: dict[str, dict[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("trec") / "qrels.txt"
    write_qrels(path, qrels)
    assert read_qrels(path) == qrels


def test_whole_gains_are_written_as_such_for_trec_eval_reads_no_others(path: Path) -> None:
    write_qrels(path, {"q1": {"a": 2.0, "b": 0.5}})
    assert path.read_text(encoding="utf-8") == "q1 0 a 2\nq1 0 b 0.5\n"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 Q0 a 1 2.5", "must be 'question Q0 item rank score tag', got 5 fields: 'q1 Q0 a 1 2.5'"),
        ("q1 Q0 a 1 2.5 my tag", "must be 'question Q0 item rank score tag', got 7 fields"),
        ("q1 Q0 a 1 high x", "score must be a number, got 'high'"),
        ("q1 Q0 a 1 nan x", "score must be a finite number, got 'nan'"),
        ("q1 Q0 a 1 1e999 x", "score must be a finite number, got '1e999'"),
        ("q0 Q0 a 2 1 x", "'a' is ranked twice for question 'q0'"),
    ],
)
def test_a_line_that_is_no_run_is_named_with_the_reason(path: Path, line: str, reason: str) -> None:
    path.write_text(f"q0 Q0 a 1 2.0 x\n{line}\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_trec_run(path, HEADER)
    assert caught.value.line == 2
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 0 a", "must be 'question 0 item gain', got 3 fields: 'q1 0 a'"),
        ("q1 0 a yes", "gain must be a number, got 'yes'"),
        ("q1 0 a inf", "gain must be a finite number, got 'inf'"),
        ("q0 0 a 0", "'a' is judged twice for question 'q0'"),
    ],
)
def test_a_line_that_is_no_judgement_is_named_with_the_reason(path: Path, line: str, reason: str) -> None:
    path.write_text(f"q0 0 a 1\n{line}\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_qrels(path)
    assert caught.value.line == 2
    assert caught.value.reason.startswith(reason)


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "judged.qrels"
    path.write_text("q1 0 d2 1\nq2 0 d1 1\n")
    return path


def test_a_trec_run_is_scored_by_its_own_questions(tmp_path: Path, qrels: Path) -> None:
    path = tmp_path / "theirs.run"
    path.write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n")
    assert is_trec(path)
    found = score_file(path, ["mrr"], judged_by(qrels), run_reader(qrels))
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
        writer.append(Answer("q1", "food", (("d2", 1.0),)))
        writer.append(Answer("q2", "names", (("d1", 1.0),)))
    assert not is_trec(path)
    found = score_file(path, ["mrr"], judged_by(qrels), run_reader(qrels))
    assert found.scores.kinds == {"food": 1, "names": 1}
    assert found.scores.measures["mrr"].macro.mean == 1.0


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        is_trec(tmp_path)
