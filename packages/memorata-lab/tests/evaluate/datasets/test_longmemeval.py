import dataclasses
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata.model.errors import DatasetError, InvalidArgument
from memorata_lab.evaluate.dataset import FileDataset, Haystack
from memorata_lab.evaluate.datasets.conversations import read_longmemeval


def question(name: str = "q1", **changes: Any) -> dict[str, Any]:
    """Return a question with three sessions, the second of which is evidence."""
    return {
        "question_id": name,
        "question_type": "single-session-user",
        "question": "Which tea do I like?",
        "answer": "oolong",
        "question_date": "2023/04/12 (Wed) 06:37",
        "haystack_session_ids": ["ultrachat_7", "answer_8c07_1", "ultrachat_7"],
        "haystack_dates": ["2023/01/01 (Sun) 00:52", "2023/02/03 (Fri) 23:05", "2023/01/02 (Mon) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello to you."}],
            [
                {"role": "user", "content": "I like oolong.", "has_answer": True},
                {"role": "assistant", "content": "A fine tea.", "has_answer": False},
                {"role": "user", "content": ""},
                {"role": "assistant", "content": "Oolong it is.", "has_answer": True},
            ],
            [{"role": "user", "content": "Bye."}],
        ],
        "answer_session_ids": ["answer_8c07_1"],
        **changes,
    }


def written(folder: Path, *questions: Any) -> Path:
    path = folder / "longmemeval_s.json"
    path.write_text(json.dumps(questions))
    return path


def only(dataset: FileDataset) -> Haystack:
    (haystack,) = dataset.haystacks()
    return haystack


def test_documents_are_the_turns_with_speaker_date_session_and_place(tmp_path: Path) -> None:
    haystack = only(read_longmemeval(written(tmp_path, question())))
    assert [(d.text, d.speaker, d.position) for d in haystack.documents] == [
        ("Hello.", "user", 0),
        ("Hello to you.", "assistant", 1),
        ("I like oolong.", "user", 0),
        ("A fine tea.", "assistant", 1),
        ("Oolong it is.", "assistant", 3),
        ("Bye.", "user", 0),
    ]
    assert haystack.documents[2].when == datetime(2023, 2, 3, 23, 5, tzinfo=UTC)
    first, _, second, *_, third = (document.session for document in haystack.documents)
    assert len({first, second, third}) == 3, "one session id that occurs twice stands for two sessions"
    assert len({document.id for document in haystack.documents}) == 6


def test_labels_are_of_turns_and_of_sessions(tmp_path: Path) -> None:
    haystack = only(read_longmemeval(written(tmp_path, question())))
    (asked,) = haystack.questions
    documents = {document.id: document for document in haystack.documents}
    assert [documents[name].text for name in asked.relevant] == ["I like oolong.", "Oolong it is."]
    assert asked.relevant_sessions == {haystack.documents[2].session: 1.0}
    assert (asked.id, asked.text, asked.kind) == ("q1", "Which tea do I like?", "single-session-user")
    assert asked.when == datetime(2023, 4, 12, 6, 37, tzinfo=UTC)
    assert asked.answerable


def test_only_the_users_turns_can_be_read_and_labels_go_with_the_turns(tmp_path: Path) -> None:
    path = written(tmp_path, question())
    every, users = only(read_longmemeval(path)), only(read_longmemeval(path, turns="user"))
    assert users.documents == tuple(d for d in every.documents if d.speaker == "user")
    assert users.questions[0].relevant == {users.documents[1].id: 1.0}
    assert users.questions[0].relevant_sessions == every.questions[0].relevant_sessions


def test_nothing_of_the_labels_is_in_any_document(tmp_path: Path) -> None:
    """The documents are the same, to the last character, with the labels as they are and turned round."""
    turned = question(
        haystack_session_ids=["answer_1", "ultrachat_1", "answer_2"],
        answer_session_ids=["answer_1", "answer_2"],
    )
    for session in turned["haystack_sessions"]:
        for turn in session:
            turn["has_answer"] = not turn.get("has_answer", False)
    plain = only(read_longmemeval(written(tmp_path, question())))
    other = only(read_longmemeval(written(tmp_path, turned)))
    assert plain.documents == other.documents
    assert plain.questions[0].relevant.keys().isdisjoint(other.questions[0].relevant)
    for document in plain.documents:
        for value in dataclasses.astuple(document):
            assert "answer" not in str(value)


def test_a_question_that_cannot_be_answered_is_marked_and_has_no_labels(tmp_path: Path) -> None:
    (asked,) = only(read_longmemeval(written(tmp_path, question("q1_abs")))).questions
    assert not asked.answerable
    assert asked.relevant == asked.relevant_sessions == {}


def test_a_question_whose_evidence_is_not_in_its_history_is_dropped_and_counted(tmp_path: Path) -> None:
    dataset = read_longmemeval(written(tmp_path, question(), question("q2", answer_session_ids=["answer_9"])))
    assert [haystack.questions[0].id for haystack in dataset.haystacks()] == ["q1"]
    assert (len(dataset), dict(dataset.dropped)) == (1, {"no evidence session": 1})


def test_a_compressed_file_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval_oracle.json.gz"
    path.write_bytes(gzip.compress(json.dumps([question()]).encode()))
    assert only(read_longmemeval(path)) == only(read_longmemeval(written(tmp_path, question())))
    assert read_longmemeval(path, turns="user").name == "longmemeval/longmemeval_oracle (turns=user)"


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in question().items() if name != key}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (without("haystack_dates"), "has no 'haystack_dates'"),
        (without("question_date"), "has no 'question_date'"),
        (question(haystack_sessions={}), "haystack_sessions must be a list, got {}"),
        (question(question=7), "question must be text, got 7"),
        (
            question(question_date="tomorrow"),
            "question_date must be a date as in '2023/04/12 (Wed) 06:37', got",
        ),
        (
            question(question_date="2023/02/30 (Thu) 06:37"),
            "question_date must be a date of the calendar, got",
        ),
        (
            question(haystack_dates=["2023/01/01 (Sun) 00:52"]),
            "has 3 haystack_sessions, but 1 haystack_dates",
        ),
        (question(haystack_session_ids=[]), "has 3 haystack_sessions, but 0 haystack_session_ids"),
        (
            question(haystack_sessions=[[], [{"role": "system", "content": "x"}], []]),
            "haystack_sessions[1][0].role must be 'user' or 'assistant', got 'system'",
        ),
        (
            question(haystack_sessions=[[], [{"role": "user"}], []]),
            "haystack_sessions[1][0] has no 'content'",
        ),
        (
            question(haystack_sessions=[[{"role": "user", "content": "x", "has_answer": "yes"}], [], []]),
            "haystack_sessions[0][0].has_answer must be true or false, got 'yes'",
        ),
        ("q2", "must be an object with 'question_id', got 'q2'"),
    ],
)
def test_a_malformed_record_is_an_error_that_names_it(tmp_path: Path, bad: Any, reason: str) -> None:
    path = written(tmp_path, question("q0"), bad)
    with pytest.raises(DatasetError) as raised:
        list(read_longmemeval(path).haystacks())
    assert str(raised.value).startswith(f"{path}, line 1: record 2: {reason}")


def test_a_truncated_gzip_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "longmemeval_s.json.gz"
    path.write_bytes(gzip.compress(json.dumps([question()]).encode())[:-9])
    with pytest.raises(DatasetError, match=r"longmemeval_s\.json\.gz: the gzip file is cut short"):
        list(read_longmemeval(path).haystacks())


def test_turns_are_all_or_those_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="turns must be one of 'all', 'user', got 'assistant'"):
        read_longmemeval(written(tmp_path, question()), turns="assistant")
