"""Runs with what they are worth: labels found, curves counted, like put with like."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorata.model.errors import DatasetError
from memorata_lab.evaluate.dataset import Question, labels_name, write_labels
from memorata_lab.evaluate.run_file import Answer, RunHeader, RunWriter, machine, write_machine
from memorata_lab.evaluate.tables import ScoredRun, score_file, sections

HEADER = RunHeader(
    "tea", "0123456789", {"name": "bm25"}, "", "turn", "0.1", 0, datetime(2026, 5, 7, tzinfo=UTC)
)
ASKED = (
    Question("q1", "", "food", relevant={"d1": 1.0}),
    Question("q2", "", "food", relevant={"d2": 1.0}),
    Question("q3", "", "names", relevant={"d9": 1.0}),
    Question("q4", "", "names", answerable=False),
)
ANSWERS = (
    Answer("q1", "food", (("d1", 2.0), ("d2", 1.0)), 1.0, 2.0),
    Answer("q2", "food", (("d1", 2.0), ("d2", 1.0)), 3.0, 2.0),
    Answer("q3", "names", (("d1", 2.0), ("d2", 1.0)), 2.0, 2.0),
    Answer("q4", "names", (), 2.0, None, True),
)


def written(folder: Path, name: str = "bm25", **changes: object) -> Path:
    header = replace(HEADER, recipe={"name": name}, **changes)  # type: ignore[arg-type]
    path = folder / f"{header.embedder}{header.granularity}{name}.jsonl"
    with RunWriter(path, header) as writer:
        for answer in ANSWERS:
            writer.append(answer)
    write_labels(
        folder / labels_name(header.dataset, header.sha256),
        [replace(each, relevant_sessions=each.relevant) for each in ASKED],
    )
    return path


def found(folder: Path, name: str = "bm25", **changes: object) -> ScoredRun:
    return score_file(written(folder, name, **changes), ["mrr"])


def test_a_run_is_scored_with_the_labels_beside_it(tmp_path: Path) -> None:
    run = found(tmp_path)
    assert run.name == "bm25"
    assert run.scores.measures["mrr"].micro.mean == pytest.approx((1 + 0.5 + 0) / 3)
    # Of three questions, one is answered by the first result and two by the first two.
    assert run.curve == ((1, 1 / 3), (2, 2 / 3))
    assert run.machine is None


def test_its_machine_is_read_if_it_is_there(tmp_path: Path) -> None:
    path, here = written(tmp_path), machine([2.0])
    write_machine(path, here)
    assert score_file(path, ["mrr"]).machine == here


def test_without_labels_the_message_says_which_are_missing(tmp_path: Path) -> None:
    path = written(tmp_path)
    (tmp_path / labels_name("tea", "0123456789")).unlink()
    with pytest.raises(DatasetError, match=r"tea-01234567\.labels\.jsonl"):
        score_file(path, ["mrr"])


def test_like_is_put_with_like(tmp_path: Path) -> None:
    runs = [found(tmp_path), found(tmp_path, granularity="session"), found(tmp_path, "vector")]
    assert [(each.granularity, [run.name for run in each.runs]) for each in sections(runs)] == [
        ("turn", ["bm25", "vector"]),
        ("session", ["bm25"]),
    ]


def test_runs_of_one_recipe_are_told_apart(tmp_path: Path) -> None:
    runs = [found(tmp_path, "fast", embedder=name) for name in ("arctic", "static")]
    (section,) = sections(runs)
    assert [run.name for run in section.runs] == ["fast · arctic", "fast · static"]
    (tmp_path / "other").mkdir()
    twice = [found(tmp_path, "slow"), found(tmp_path / "other", "slow")]
    (section,) = sections(twice)
    assert len({run.name for run in section.runs}) == 2


def test_plain_words_are_the_baseline_of_others(tmp_path: Path) -> None:
    plain = found(tmp_path)
    (alone,) = sections([plain])
    assert alone.baseline is None
    (both,) = sections([found(tmp_path, "vector"), plain])
    assert both.baseline is both.runs[1]


def test_the_best_comes_first(tmp_path: Path) -> None:
    good = found(tmp_path, "good")
    measured = good.scores.measures["mrr"]
    less = replace(measured, micro=replace(measured.micro, mean=0.1))
    poor = replace(good, name="poor", scores=replace(good.scores, measures={"mrr": less}))
    (section,) = sections([poor, good])
    assert [run.name for run in section.best_first().runs] == ["good", "poor"]


def test_the_facts_say_what_was_left_out(tmp_path: Path) -> None:
    (section,) = sections([found(tmp_path)])
    assert section.facts[0] == "3 of 4 questions are measured; 1 without an answer"
    assert "code 0.1" in section.facts
