import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata.evaluate.collection import Question
from memorata.evaluate.datasets.jsonl import Jsonl
from memorata.model.errors import DatasetError

DOCUMENT = {"document": {"id": "a", "text": "I moved to Lisbon."}}
QUERY = {"query": {"id": "q1", "text": "Where do I live?"}}
QREL = {"qrel": {"query": "q1", "document": "a"}}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_lines_may_come_in_any_order(tmp_path: Path) -> None:
    (first,) = Jsonl(written(tmp_path, DOCUMENT, QUERY, QREL)).haystacks()
    (second,) = Jsonl(written(tmp_path, QREL, QUERY, DOCUMENT)).haystacks()
    assert first == second
    assert first.questions == (Question("q1", "Where do I live?", relevant={first.documents[0].id: 1.0}),)


def test_documents_and_queries_may_have_all_that_an_evaluation_knows(tmp_path: Path) -> None:
    document = {
        "id": 7,
        "text": "I moved.",
        "title": "News",
        "when": "2024-03-01T10:00:00+01:00",
        "speaker": "Ann",
        "session": "answer-session",
        "position": 2,
    }
    query = {"id": 1, "text": "Where?", "kind": "place", "when": "2024-04-01"}
    qrel = {"query": 1, "document": 7, "gain": 2}
    (haystack,) = Jsonl(
        written(tmp_path, {"document": document}, {"query": query}, {"qrel": qrel})
    ).haystacks()
    (one,), (asked,) = haystack.documents, haystack.questions
    assert (one.text, one.title, one.speaker, one.position) == ("I moved.", "News", "Ann", 2)
    assert one.when == datetime(2024, 3, 1, 9, tzinfo=UTC)
    assert "answer" not in one.session
    assert (asked.kind, asked.when) == ("place", datetime(2024, 4, 1, tzinfo=UTC))
    assert (asked.relevant, asked.relevant_sessions) == ({one.id: 2.0}, {one.session: 2.0})


def test_queries_without_a_relevant_document_are_dropped_unless_they_have_no_answer(tmp_path: Path) -> None:
    unanswerable = {"query": {"id": "q2", "text": "Who am I?", "answerable": False}}
    dataset = Jsonl(written(tmp_path, DOCUMENT, QUERY, unanswerable))
    (haystack,) = dataset.haystacks()
    assert haystack.questions == (Question("q2", "Who am I?", answerable=False),)
    assert dict(dataset.dropped) == {"no relevant document": 1}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"doc": {}}, "has neither 'document' nor 'query' nor 'qrel'"),
        (DOCUMENT, "is the second document with the id 'a'"),
        (QUERY, "is the second query with the id 'q1'"),
        ({"document": {"id": "b"}}, "document has no 'text'"),
        ({"document": {"id": "b", "text": " "}}, "document has no text that is not blank"),
        ({"document": {"id": "b", "text": "x", "when": "soon"}}, "document.when must be a date as in"),
        (
            {"document": {"id": "b", "text": "x", "position": 1.5}},
            "document.position must be a whole number, got 1.5",
        ),
        ({"query": "where?"}, "query must be an object with 'id', got 'where?'"),
        ({"qrel": {"query": "q9", "document": "a"}}, "judges the query 'q9', which is not in the file"),
        ({"qrel": {"query": "q1", "document": "z"}}, "judges the document 'z', which is not in the file"),
        (
            {"qrel": {"query": "q1", "document": "a", "gain": "high"}},
            "qrel.gain must be a number, got 'high'",
        ),
        (
            {"qrel": {"query": "q1", "document": "a", "gain": True}},
            "qrel.gain must be a whole number, got True",
        ),
        (
            {"qrel": {"query": "q1", "document": "a", "gain": float("nan")}},
            "qrel.gain must be a finite number, got nan",
        ),
    ],
)
def test_a_malformed_line_is_an_error_that_names_it(tmp_path: Path, bad: Any, reason: str) -> None:
    path = written(tmp_path, DOCUMENT, QUERY, bad)
    with pytest.raises(DatasetError) as raised:
        list(Jsonl(path).haystacks())
    assert str(raised.value).startswith(f"{path}, line 3: record 3: {reason}")


def test_a_pair_that_is_judged_twice_differently_is_named(tmp_path: Path) -> None:
    again = {"qrel": {"query": "q1", "document": "a", "gain": 3}}
    with pytest.raises(DatasetError, match="line 4: query 'q1' and document 'a' are judged 3, and 1 before"):
        list(Jsonl(written(tmp_path, DOCUMENT, QUERY, QREL, again)).haystacks())
