import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata.model.errors import DatasetError
from memorata_lab.evaluate.dataset import Question
from memorata_lab.evaluate.datasets.document_collections import read_facts, read_jsonl

DOCUMENT = {"document": {"id": "a", "text": "I moved to Lisbon."}}
QUERY = {"query": {"id": "q1", "text": "Where do I live?"}}
QREL = {"qrel": {"query": "q1", "document": "a"}}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_lines_may_come_in_any_order(tmp_path: Path) -> None:
    (first,) = read_jsonl(written(tmp_path, DOCUMENT, QUERY, QREL)).haystacks()
    (second,) = read_jsonl(written(tmp_path, QREL, QUERY, DOCUMENT)).haystacks()
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
    (haystack,) = read_jsonl(
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
    dataset = read_jsonl(written(tmp_path, DOCUMENT, QUERY, unanswerable))
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
        list(read_jsonl(path).haystacks())
    assert str(raised.value).startswith(f"{path}, line 3: record 3: {reason}")


def test_a_pair_that_is_judged_twice_differently_is_named(tmp_path: Path) -> None:
    again = {"qrel": {"query": "q1", "document": "a", "gain": 3}}
    with pytest.raises(DatasetError, match="line 4: query 'q1' and document 'a' are judged 3, and 1 before"):
        list(read_jsonl(written(tmp_path, DOCUMENT, QUERY, QREL, again)).haystacks())


def test_the_answer_to_each_question_is_the_fact_on_its_line(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv.gz"
    text = "Я пью чай\tчто ты пьёшь?\n\nI run.\tDo you run?\nI run.\tWho runs?\n"
    path.write_bytes(gzip.compress(text.encode()))
    dataset = read_facts(path)
    (haystack,) = dataset.haystacks()
    tea, run = haystack.documents
    assert (tea.text, run.text) == ("Я пью чай", "I run.")
    assert [(asked.id, asked.text, asked.relevant) for asked in haystack.questions] == [
        ("1", "что ты пьёшь?", {tea.id: 1.0}),
        ("3", "Do you run?", {run.id: 1.0}),
        ("4", "Who runs?", {run.id: 1.0}),
    ]
    assert (dataset.name, len(dataset), dict(dataset.dropped)) == ("facts/facts", 1, {})


@pytest.mark.parametrize("line", ["no tab", "a fact\t", "\ta question?", "a fact\ta question?\tmore"])
def test_a_line_that_is_not_a_fact_and_a_question_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text(f"I run.\tWho runs?\nI swim.\tWho swims?\n{line}\n")
    with pytest.raises(
        DatasetError, match=r"facts\.tsv, line 3: expected a fact, a tab and a question, got "
    ):
        list(read_facts(path).haystacks())


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "facts.tsv"
    path.write_text("\n")
    with pytest.raises(DatasetError, match=r"facts\.tsv: holds no records"):
        list(read_facts(path).haystacks())
