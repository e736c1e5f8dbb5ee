import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from memorata.model.errors import DatasetError, InvalidArgument
from memorata_lab.evaluate.datasets.document_collections import read_beir

HEADER = "query-id\tcorpus-id\tscore\n"


def folder(
    root: Path,
    corpus: list[Any] | None = None,
    queries: list[Any] | None = None,
    test: str = HEADER + "q1\tMED-1\t2\nq1\tMED-2\t0\n",
) -> Path:
    """Write a small folder in the format of BEIR."""
    default_corpus = [
        {"_id": "MED-1", "title": "Statins", "text": "They help.", "metadata": {}},
        {"_id": "MED-2", "text": "Tea helps too."},
        {"_id": "MED-3", "title": "", "text": " "},
    ]
    default_queries = [{"_id": "q1", "text": "Do statins help?"}, {"_id": "q2", "text": "Does tea?"}]
    (root / "qrels").mkdir()
    (root / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus or default_corpus)))
    (root / "queries.jsonl").write_text("\n".join(map(json.dumps, queries or default_queries)))
    (root / "qrels" / "test.tsv").write_text(test)
    (root / "qrels" / "dev.tsv").write_text(HEADER + "q2\tMED-2\t1\n")
    return root


def test_a_folder_is_one_haystack_with_the_judged_queries_of_the_split(tmp_path: Path) -> None:
    path = folder(tmp_path)
    dataset = read_beir(path)
    (haystack,) = dataset.haystacks()
    assert [(d.title, d.text) for d in haystack.documents] == [
        ("Statins", "They help."),
        ("", "Tea helps too."),
    ]
    (asked,) = haystack.questions
    assert (asked.id, asked.text, asked.relevant) == (
        "q1",
        "Do statins help?",
        {haystack.documents[0].id: 2.0},
    )
    (dev,) = read_beir(path, split="dev").haystacks()
    assert dev.documents == haystack.documents
    assert dev.questions[0].relevant == {dev.documents[1].id: 1.0}
    assert dict(dataset.dropped) == {}
    assert not any("MED" in document.id for document in haystack.documents)


def test_the_hash_is_of_the_three_files_that_are_read(tmp_path: Path) -> None:
    path = folder(tmp_path)
    test, dev = read_beir(path).sha256, read_beir(path, split="dev").sha256
    assert test != dev
    (path / "qrels" / "dev.tsv").write_text(HEADER + "q2\tMED-1\t1\n")
    assert read_beir(path).sha256 == test
    assert read_beir(path, split="dev").sha256 != dev


def test_compressed_files_and_a_split_without_header_are_read_as_well(tmp_path: Path) -> None:
    path = folder(tmp_path, test="q1\tMED-1\t1\n")
    (plain,) = read_beir(path).haystacks()
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        file = path / name
        (path / f"{name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    (packed,) = read_beir(path).haystacks()
    assert packed == plain
    assert len(plain.questions) == 1


def test_questions_without_relevant_documents_or_text_are_dropped_and_counted(tmp_path: Path) -> None:
    judged = HEADER + "q1\tMED-1\t0\nq1\tMED-3\t1\nq2\tMED-2\t1\nq9\tMED-2\t1\n"
    dataset = read_beir(folder(tmp_path, test=judged))
    (haystack,) = dataset.haystacks()
    assert [asked.id for asked in haystack.questions] == ["q2"]
    assert dict(dataset.dropped) == {"no relevant document": 1, "no such query": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"corpus": [{"_id": "a", "text": "x"}, {"text": "y"}]},
            "corpus.jsonl, line 2: record 2: has no '_id'",
        ),
        (
            {"corpus": [{"_id": "a", "text": "x"}, {"_id": "a", "text": "y"}]},
            "corpus.jsonl, line 2: record 2: is the second document with the _id 'a'",
        ),
        (
            {"queries": [{"_id": "q1", "text": None}]},
            "queries.jsonl, line 1: record 1: text must be text, got None",
        ),
        ({"test": HEADER + "q1 MED-1 1"}, "qrels/test.tsv, line 2: expected query id, document id and gain"),
        ({"test": HEADER + "q1\tMED-1\thigh"}, "qrels/test.tsv, line 2: expected a gain, got 'high'"),
        ({"test": HEADER + "q1\tMED-1\tnan"}, "qrels/test.tsv, line 2: expected a gain, got 'nan'"),
    ],
)
def test_a_malformed_file_is_an_error_that_names_the_line(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DatasetError) as raised:
        list(read_beir(folder(tmp_path, **changes)).haystacks())
    assert str(raised.value).startswith(f"{tmp_path}/{message}")


def test_a_folder_that_is_not_beir_and_a_split_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"is not a BEIR folder: it has no qrels/test\.tsv"):
        read_beir(tmp_path)
    path = folder(tmp_path)
    with pytest.raises(InvalidArgument, match="split must be one of 'dev', 'test', got 'train'"):
        read_beir(path, split="train")
    (path / "queries.jsonl").unlink()
    with pytest.raises(DatasetError, match=r"queries\.jsonl: no such file"):
        read_beir(path)
