import gzip
from pathlib import Path

import pytest

from memorata.model.errors import DatasetError
from memorata_lab.evaluate.datasets.document_collections import read_smart

DOCUMENTS = """.I 1
.T
shear flow .
.A
ting-yili
.B
j. ae. scs. 1958
.W
shear flow past
  a flat plate .
.I 2
.T
.A
.B
.W
.I 3
.T
heat .
.W
heat in slabs .
.W
and more .
"""
QUERIES = ".I 001\r\n.W\r\nwhat of shear\r\nflow .\r\n.I 004\r\n.W\r\nwhat of heat .\r\n"


def folder(
    root: Path, documents: str = DOCUMENTS, queries: str = QUERIES, qrels: str = "1 1 2 \n2 3  -1"
) -> Path:
    """Write a small folder in the form of Cranfield."""
    (root / "cran.all.1400.gz").write_bytes(gzip.compress(documents.encode()))
    (root / "cran.qry").write_bytes(queries.encode())
    (root / "cranqrel").write_text(qrels)
    (root / "cranqrel.readme").write_text("How it was judged.")
    return root


def test_documents_have_title_and_text_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    (haystack,) = read_smart(folder(tmp_path)).haystacks()
    assert [(d.title, d.text) for d in haystack.documents] == [
        ("shear flow .", "shear flow past a flat plate ."),
        ("heat .", "heat in slabs . and more ."),
    ]


def test_judgements_number_the_queries_by_place_and_not_by_their_own_number(tmp_path: Path) -> None:
    dataset = read_smart(folder(tmp_path, qrels="1 1 4\n2 3 1\n2 1 -1\n"))
    (haystack,) = dataset.haystacks()
    first, second = haystack.documents
    assert [(asked.id, asked.text, asked.relevant) for asked in haystack.questions] == [
        ("1", "what of shear flow .", {first.id: 1.0}),
        ("2", "what of heat .", {second.id: 1.0}),
    ]
    assert dataset.name == f"smart/{tmp_path.name}"


@pytest.mark.parametrize(("grade", "relevant"), [(-1, 0), (0, 0), (1, 1), (2, 1), (3, 1), (4, 1), (5, 0)])
def test_relevance_is_binary(tmp_path: Path, grade: int, relevant: int) -> None:
    dataset = read_smart(folder(tmp_path, qrels=f"1 1 {grade}\n2 3 1\n"))
    (haystack,) = dataset.haystacks()
    assert len(haystack.questions) == 1 + relevant
    assert dict(dataset.dropped) == ({} if relevant else {"no relevant document": 1})


def test_a_judgement_of_an_empty_document_is_no_label(tmp_path: Path) -> None:
    dataset = read_smart(folder(tmp_path, qrels="1 1 2\n1 2 3\n2 2 1\n"))
    (haystack,) = dataset.haystacks()
    assert [len(asked.relevant) for asked in haystack.questions] == [1]
    assert dict(dataset.dropped) == {"no relevant document": 1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"documents": "shear flow .\n"},
            "cran.all.1400.gz, line 1: expected '.I' and a number, got 'shear flow .'",
        ),
        (
            {"documents": ".I 1\nshear\n"},
            "cran.all.1400.gz, line 2: expected a section such as '.W', got 'shear'",
        ),
        ({"documents": ".I 1\n.W\nx\n.I 1\n"}, "cran.all.1400.gz, line 4: the second document with .I 1"),
        ({"queries": ""}, "cran.qry: holds no records"),
        (
            {"qrels": "1 1 2\n1 3\n"},
            "cranqrel, line 2: expected query, document and a grade of -1 or 0 to 5, got",
        ),
        ({"qrels": "1 1 9\n"}, "cranqrel, line 1: expected query, document and a grade of -1 or 0 to 5, got"),
        ({"qrels": "3 1 1\n"}, "cranqrel, line 1: expected one of the 2 queries by its place, got 3"),
        (
            {"qrels": "1 1 1\n1 1 -1\n"},
            "cranqrel, line 2: query '1' and document '1' are judged 0, and 1 before",
        ),
    ],
)
def test_a_malformed_file_is_an_error_that_names_the_line(
    tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(DatasetError) as raised:
        list(read_smart(folder(tmp_path, **changes)).haystacks())
    assert str(raised.value).startswith(f"{tmp_path}/{message}")


def test_a_folder_must_have_one_file_of_each_kind(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="nowhere: no such folder"):
        read_smart(tmp_path / "nowhere")
    with pytest.raises(
        DatasetError, match=r"expected one file of documents, named as 'cran\.all\.1400', found none"
    ):
        read_smart(tmp_path)
    path = folder(tmp_path)
    (path / "med.qry").write_text(QUERIES)
    with pytest.raises(DatasetError, match=r"expected one file of queries.* found cran\.qry, med\.qry"):
        read_smart(path)
