"""Labelled questions in a file: about memories of the database, or about documents of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.engine import Engine
from recollect.learn.labelled_file import labelled_material
from recollect.model.errors import DatasetError, MemoryNotFound

QUERY = {"query": {"id": "q1", "text": "what of thingav?"}}


def written(folder: Path, *lines: Any) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_judged_documents_are_memories_of_the_database(engine: Engine, tmp_path: Path) -> None:
    path = written(tmp_path, QUERY, {"qrel": {"query": "q1", "document": "thingav", "gain": 2}})
    with labelled_material(engine, path) as material:
        (question,) = material.questions
        assert question.query == "what of thingav?"
        assert dict(material.gains[question.id]) == {"thingav": 2.0}


def test_documents_of_the_file_are_asked_apart(engine: Engine, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"document": {"id": "d1", "text": "All about thingav."}},
        {"document": {"id": "d2", "text": "All about thingbv."}},
        QUERY,
        {"qrel": {"query": "q1", "document": "d1"}},
    )
    with labelled_material(engine, path) as material:
        (question,) = material.questions
        assert len(question.ids) == 2
        assert dict(material.gains[question.id]) == {"m1": 1.0}
    assert engine.store.namespaces() == {"default": 40}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([{"other": 1}], "has neither 'document' nor 'query' nor 'qrel'"),
        ([QUERY, QUERY], "is the second query with the id 'q1'"),
        (
            [{"qrel": {"query": "q9", "document": "thingav"}}],
            "judges the query 'q9', which is not in the file",
        ),
    ],
)
def test_a_line_that_cannot_be_is_named(
    engine: Engine, tmp_path: Path, lines: list[Any], expected: str
) -> None:
    with pytest.raises(DatasetError, match=expected), labelled_material(engine, written(tmp_path, *lines)):
        pass


def test_missing_files_and_memories_are_named(engine: Engine, tmp_path: Path) -> None:
    with (
        pytest.raises(DatasetError, match="no such file"),
        labelled_material(engine, tmp_path / "none.jsonl"),
    ):
        pass
    path = written(tmp_path, QUERY, {"qrel": {"query": "q1", "document": "nobody"}})
    with pytest.raises(MemoryNotFound, match="nobody"), labelled_material(engine, path):
        pass
