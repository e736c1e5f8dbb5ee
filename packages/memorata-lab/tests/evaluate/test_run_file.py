"""What a run cost its machine, kept beside it."""

import errno
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.lexical import LexicalEmbedder
from memorata.model import InvalidArgument
from memorata.model.errors import DatasetError
from memorata_lab.evaluate.run_file import (
    TIMED,
    Answer,
    Run,
    RunHeader,
    RunWriter,
    embedding_times,
    machine,
    machine_path,
    read_machine,
    read_run,
    write_machine,
)

HEADER = RunHeader(
    dataset="locomo",
    sha256="9f8e",
    recipe={"name": "balanced", "weights": (0.7, 0.3)},
    embedder="static",
    granularity="turn",
    code="0.1.0",
    seed=0,
    created=datetime(2026, 5, 7, 12, tzinfo=UTC),
)
FIRST = Answer("q1", "multi-hop", (("t-1", 0.9), ("t-7", 0.4)), 1.8, 0.9, False)
SECOND = Answer("q2", "", (), 2.5, None, True)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
numbers = st.floats(allow_nan=False, allow_infinity=False)
answers = st.builds(
    Answer,
    question=words,
    kind=words,
    ranking=st.dictionaries(words, numbers, max_size=4).map(lambda scores: tuple(scores.items())),
    milliseconds=st.none() | numbers.map(abs),
    top=st.none() | numbers,
    abstained=st.booleans(),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def write(path: Path, *answered: Answer, header: RunHeader = HEADER) -> None:
    with RunWriter(path, header) as writer:
        for each in answered:
            writer.append(each)


def test_a_run_is_read_as_it_was_written(path: Path) -> None:
    write(path, FIRST, SECOND)
    assert read_run(path) == Run(HEADER, {"q1": FIRST, "q2": SECOND})


def test_nobody_else_writes_a_run_meanwhile(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl")
    with RunWriter(path, HEADER) as writer:
        writer.append(FIRST)
        with pytest.raises(DatasetError, match=r"run.jsonl: is being written by another evaluation"):
            RunWriter(path, HEADER)
        # Nor does anybody start it over under the hands of whoever writes it.
        with pytest.raises(DatasetError, match="is being written by another evaluation"):
            RunWriter(path, HEADER, again=True)
        writer.append(SECOND)
    write(path)
    assert list(read_run(path).answers) == ["q1", "q2"]

    def without_locks(file: object, how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", without_locks)
    write(path)
    assert list(read_run(path).answers) == ["q1", "q2"]


def test_a_run_may_be_started_over(path: Path) -> None:
    write(path, FIRST)
    other = replace(HEADER, seed=7)
    with RunWriter(path, other, again=True) as writer:
        assert writer.finished == frozenset()
        writer.append(SECOND)
    assert read_run(path) == Run(other, {"q2": SECOND})


def test_the_file_is_json_lines_a_header_and_a_line_for_each_question(path: Path) -> None:
    write(path, FIRST)
    header, line = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert header == {
        "memorata_run": 1,
        "dataset": "locomo",
        "sha256": "9f8e",
        "recipe": {"name": "balanced", "weights": [0.7, 0.3]},
        "embedder": "static",
        "granularity": "turn",
        "code": "0.1.0",
        "seed": 0,
        "created": "2026-05-07T12:00:00+00:00",
    }
    assert line == {
        "question": "q1",
        "kind": "multi-hop",
        "ranking": [["t-1", 0.9], ["t-7", 0.4]],
        "milliseconds": 1.8,
        "top": 0.9,
        "abstained": False,
    }


def test_the_ids_of_a_ranking_are_in_its_order() -> None:
    assert FIRST.items == ("t-1", "t-7")
    assert SECOND.items == ()


@given(st.lists(answers, unique_by=lambda answered: answered.question, max_size=4))
def test_any_answers_survive_the_file(tmp_path_factory: pytest.TempPathFactory, run: list[Answer]) -> None:
    path = tmp_path_factory.mktemp("runs") / "run.jsonl"
    write(path, *run)
    assert list(read_run(path).answers.values()) == run


def test_every_answer_is_in_the_file_before_the_next_question(path: Path) -> None:
    with RunWriter(path, HEADER) as writer:
        writer.append(FIRST)
        assert read_run(path).answers == {"q1": FIRST}


def test_a_run_goes_on_where_it_was_whenever_that_was(path: Path) -> None:
    write(path, FIRST)
    later = replace(HEADER, created=datetime(2026, 5, 8, tzinfo=UTC))
    with RunWriter(path, later) as writer:
        assert writer.finished == {"q1"}
        writer.append(SECOND)
        assert writer.finished == {"q1", "q2"}
    assert read_run(path) == Run(HEADER, {"q1": FIRST, "q2": SECOND})


def test_a_run_cut_off_at_any_byte_goes_on_and_ends_as_if_nothing_had_happened(path: Path) -> None:
    write(path, FIRST, SECOND)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with RunWriter(path, HEADER) as writer:
            finished = writer.finished
            for answered in (FIRST, SECOND):
                if answered.question not in finished:
                    writer.append(answered)
        # A question counts as finished once its line has its end.
        assert len(finished) == max(0, whole[:cut].count(b"\n") - 1)
        assert path.read_bytes() == whole


def test_a_question_is_answered_once(path: Path) -> None:
    write(path, FIRST)
    with RunWriter(path, HEADER) as writer, pytest.raises(InvalidArgument, match="question must be one that"):
        writer.append(FIRST)


def test_another_run_is_refused_with_what_differs_and_left_as_it_is(path: Path) -> None:
    write(path, FIRST)
    path.write_bytes(path.read_bytes() + b'{"question": "q')
    before = path.read_bytes()
    other = replace(HEADER, seed=1, recipe={"name": "fast"})
    with pytest.raises(DatasetError) as caught:
        RunWriter(path, other)
    assert caught.value.line == 1
    assert "its recipe is {'name': 'balanced', 'weights': [0.7, 0.3]}, not {'name': 'fast'}" in str(
        caught.value
    )
    assert "its seed is 0, not 1" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"Dear diary", b"# notes\nof mine\n", b"\xff\xfe\n", b"[]\n", b'{"a": 1}']
)
def test_a_file_that_is_not_a_run_is_never_written_over(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"run\.jsonl, line 1: (not|must be a JSON object)"):
        RunWriter(path, HEADER)
    assert path.read_bytes() == content


def test_a_damaged_line_in_the_middle_is_reported_not_repaired(path: Path) -> None:
    write(path, FIRST, SECOND)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1][:20], lines[2], b""]))
    before = path.read_bytes()
    with pytest.raises(DatasetError, match=r"line 2: not JSON"):
        RunWriter(path, HEADER)
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be written: No such file or directory"):
        RunWriter(tmp_path / "nowhere" / "run.jsonl", HEADER)


def test_a_file_by_someone_else_may_say_no_more_than_questions_and_rankings(path: Path) -> None:
    write(path)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"question": "q1", "ranking": [["t-1", 1], ["t-2", 3.5]]}\n\n')
        file.write('{"question": "q2", "ranking": [], "top": null}')
    first, second = read_run(path).answers.values()
    assert first == Answer("q1", ranking=(("t-1", 1.0), ("t-2", 3.5)), milliseconds=None, top=3.5)
    assert (second.top, second.abstained) == (None, False)


def answer_line(**changes: Any) -> str:
    return json.dumps({"question": "q1", "ranking": [["t-1", 1.0]]} | changes)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"question": "q1", "rank', "not JSON: "),
        ("[1, 2]", "must be a JSON object, got [1, 2]"),
        ("{}", "'question', 'ranking' is missing"),
        ('{"question": "q1"}', "'ranking' is missing"),
        (answer_line(milisecond=1), "'milisecond' is unknown; known are question, kind, ranking"),
        (answer_line(question=5), "question must be a string, got 5"),
        (answer_line(question="\ud83c"), "question must be text without half surrogate pairs"),
        (answer_line(kind=None), "kind must be a string, got None"),
        (answer_line(ranking="t-1"), "ranking must be a list of pairs"),
        (answer_line(ranking={"t-1": 1}), "ranking must be a list of pairs"),
        (answer_line(ranking=[["t-1"]]), "ranking[0] must be a pair of id and score"),
        (answer_line(ranking=["t-1"]), "ranking[0] must be a pair of id and score"),
        (answer_line(ranking=[["a", 1], ["a", 0]]), "ranking[1] must be an item that was not ranked before"),
        (answer_line(ranking=[[1, 1]]), "ranking[0][0] must be a string"),
        (answer_line(ranking=[["a", "1"]]), "ranking[0][1] must be a finite number"),
        (answer_line(ranking=[["a", True]]), "ranking[0][1] must be a finite number"),
        (answer_line(ranking=[["a", 10**400]]), "ranking[0][1] must be a finite number"),
        ('{"question": "q1", "ranking": [["a", 1e999]]}', "ranking[0][1] must be a finite number, got inf"),
        ('{"question": "q1", "ranking": [["a", NaN]]}', "not JSON: NaN is not a number of JSON"),
        (answer_line(milliseconds=-1), "milliseconds must be a number of at least 0"),
        (answer_line(top="high"), "top must be a finite number"),
        (answer_line(abstained=0), "abstained must be True or False"),
        ("[" * 100_000, "not JSON: "),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_the_reason(path: Path, line: str, reason: str) -> None:
    write(path, SECOND)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(DatasetError) as caught:
        read_run(path)
    assert (caught.value.path, caught.value.line) == (str(path), 3)
    assert caught.value.reason.startswith(reason)


def test_a_question_answered_twice_is_named(path: Path) -> None:
    write(path, FIRST)
    path.write_text(path.read_text(encoding="utf-8") + answer_line() + "\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"line 3: question 'q1' was answered before"):
        read_run(path)


def test_a_file_that_is_not_there_or_empty_is_named(path: Path) -> None:
    with pytest.raises(DatasetError, match=r"run\.jsonl: cannot be read \(No such file"):
        read_run(path)
    path.touch()
    with pytest.raises(DatasetError, match=r"run\.jsonl: empty: the header of a run is missing"):
        read_run(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda header: header.pop("memorata_run"), "not the header of a run: 'memorata_run' is missing"),
        (lambda header: header.update(memorata_run=2), "a run of version 2; this Memorata reads 1"),
        (lambda header: header.update(memorata_run=True), "a run of version True; this Memorata reads 1"),
        (lambda header: header.pop("sha256"), "'sha256' is missing"),
        (lambda header: header.update(colour="red"), "'colour' is unknown; known are dataset, sha256"),
        (lambda header: header.update(recipe="bm25"), "recipe must be a mapping that JSON can hold"),
        (lambda header: header.update(seed=-1), "seed must be a whole number of at least 0"),
        (lambda header: header.update(created="yesterday"), "created is not a time in ISO 8601"),
        (lambda header: header.update(created=5), "created is not a time in ISO 8601"),
        (
            lambda header: header.update(created="2026-05-07T12:00"),
            "created must be a datetime with a time zone",
        ),
    ],
)
def test_a_header_that_cannot_be_used_is_named_with_the_reason(
    path: Path, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    header = HEADER.as_dict()
    change(header)
    path.write_text(json.dumps(header) + "\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_run(path)
    assert caught.value.line == 1
    assert caught.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"dataset": 5}, "dataset"),
        ({"recipe": {"k": float("nan")}}, "recipe"),
        ({"recipe": {"k": object()}}, "recipe"),
        ({"recipe": [1]}, "recipe"),
        ({"seed": 0.5}, "seed"),
        ({"created": datetime(2026, 5, 7)}, "created"),
    ],
)
def test_a_header_checks_what_it_is_given(change: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        replace(HEADER, **change)
    assert caught.value.argument == argument


def test_percentiles_are_of_the_times_given() -> None:
    found = machine([float(number) for number in range(1, 102)])
    assert (found.embedding_p50, found.embedding_p95) == (51.0, 96.0)
    assert machine().embedding_p50 is None


def test_memory_is_more_than_an_interpreter_needs() -> None:
    peak = machine().peak_megabytes
    assert peak is None or 10 < peak < 1e6


def test_a_few_different_questions_are_timed() -> None:
    times = embedding_times(LexicalEmbedder(), ["a", "a", "", *map(str, range(100))])
    assert len(times) == TIMED
    assert min(times) > 0
    assert embedding_times(LexicalEmbedder(), []) == []


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = tmp_path / "set.bm25.jsonl"
    assert read_machine(run) is None
    found = machine([1.0])
    write_machine(run, found)
    assert read_machine(run) == found


@pytest.mark.parametrize("text", ["", "[]", '{"python": "3"}', '{"speed": 1}'])
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, text: str) -> None:
    run = tmp_path / "set.bm25.jsonl"
    machine_path(run).write_text(text)
    with pytest.raises(DatasetError, match="not the machine of a run"):
        read_machine(run)
