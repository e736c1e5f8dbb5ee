"""Labelled queries in a file: about memories of the database, or about documents of its own."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.learn.labelled_file import labelled_training_set
from memorata.model.errors import DatasetError, MemoryNotFound

QUERY = {"query": {"id": "q1", "text": "what of thingav?"}}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_judged_documents_are_memories_of_the_database(engine: Engine, tmp_path: Path) -> None:
    path = written(tmp_path, QUERY, {"qrel": {"query": "q1", "document": "thingav", "gain": 2}})
    with labelled_training_set(engine, path) as training:
        (question,) = training.questions
        assert question.query == "what of thingav?"
        assert dict(training.gains[question.id]) == {"thingav": 2.0}


def test_documents_of_the_file_are_asked_apart(engine: Engine, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"document": {"id": "d1", "text": "All about thingav."}},
        {"document": {"id": "d2", "text": "All about thingbv."}},
        QUERY,
        {"qrel": {"query": "q1", "document": "d1"}},
    )
    with labelled_training_set(engine, path) as training:
        (question,) = training.questions
        assert len(question.ids) == 2
        assert dict(training.gains[question.id]) == {"m1": 1.0}
    assert engine.store.namespaces() == {"default": 40}


def test_a_question_is_asked_when_the_file_says_and_only_if_it_has_an_answer(
    engine: Engine, tmp_path: Path
) -> None:
    moment = datetime(2024, 3, 1, 9, tzinfo=UTC)
    lines = [
        {"query": {"id": "q1", "text": "what of thingav?", "when": moment.isoformat()}},
        {"query": {"id": "q2", "text": "what of thingbv?", "answerable": False}},
        {"qrel": {"query": "q1", "document": "thingav"}},
    ]
    with labelled_training_set(engine, written(tmp_path, *lines)) as training:
        assert [(each.id, each.at) for each in training.recalls] == [("labelled:q1", moment)]
    document = {"document": {"id": "thingav", "text": "All about thingav."}}
    with labelled_training_set(engine, written(tmp_path, document, *lines)) as training:
        assert [(each.id, each.at) for each in training.recalls] == [("labelled:q1", moment)]


def test_documents_are_read_as_the_database_reads(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"document": {"id": "d1", "text": "The dogs."}},
        {"query": {"id": "q1", "text": "dog"}},
        {"qrel": {"query": "q1", "document": "d1"}},
    )
    for name, found in (("snowball", 1), ("plain", 0)):
        with (
            open_engine(":memory:", embedder=None, recipe="bm25", analyser_name=name) as engine,
            labelled_training_set(engine, path) as training,
        ):
            assert [len(each.ids) for each in training.recalls] == [found]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([{"other": 1}], "has neither 'document' nor 'query' nor 'qrel'"),
        ([QUERY, QUERY], "is the second query with the id 'q1'"),
        (
            [{"qrel": {"query": "q9", "document": "thingav"}}],
            "judges the query 'q9', which is not in the file",
        ),
        (
            [QUERY, *({"qrel": {"query": "q1", "document": "thingav", "gain": gain}} for gain in (1, 2))],
            "query 'q1' and document 'thingav' are judged 2, and 1 before",
        ),
        (
            [QUERY, {"qrel": {"query": "q1", "document": "thingav", "gain": float("nan")}}],
            "line 2: record 2: qrel.gain must be a finite number, got nan",
        ),
        ([{"query": {"id": "q1", "text": "tea?", "when": "soon"}}], "query.when must be a date"),
    ],
)
def test_a_line_that_cannot_be_is_named(
    engine: Engine, tmp_path: Path, lines: list[Any], expected: str
) -> None:
    with (
        pytest.raises(DatasetError, match=expected),
        labelled_training_set(engine, written(tmp_path, *lines)),
    ):
        pass


def test_missing_files_and_memories_are_named(engine: Engine, tmp_path: Path) -> None:
    with (
        pytest.raises(DatasetError, match="no such file"),
        labelled_training_set(engine, tmp_path / "none.jsonl"),
    ):
        pass
    path = written(tmp_path, QUERY, {"qrel": {"query": "q1", "document": "nobody"}})
    with pytest.raises(MemoryNotFound, match="nobody"), labelled_training_set(engine, path):
        pass
