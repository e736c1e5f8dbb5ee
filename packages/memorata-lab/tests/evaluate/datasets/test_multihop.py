import json
from pathlib import Path
from typing import Any

import pytest

from memorata.model.errors import DatasetError, InvalidArgument
from memorata_lab.evaluate.datasets.document_collections import read_multihop


def paragraph(title: str, text: str, supporting: Any = False) -> dict[str, Any]:
    return {"idx": 0, "title": title, "paragraph_text": text, "is_supporting": supporting}


def musique(name: str = "2hop__1_2", **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "question": "Where was the painter of the Scream born?",
        "paragraphs": [
            paragraph("The Scream", "Painted by Munch.", True),
            paragraph("Oslo", "A city."),
            paragraph("Edvard Munch", f"Born in Ådalsbruk, says {name}.", True),
        ],
        "answerable": True,
        **changes,
    }


def hotpot(name: str = "5a8b", **changes: Any) -> dict[str, Any]:
    return {
        "_id": name,
        "question": "Which is older?",
        "type": "comparison",
        "level": "hard",
        "context": [["Oslo", ["A city.", " In Norway."]], ["Bergen", ["Older."]], ["Rome", ["Oldest."]]],
        "supporting_facts": [["Oslo", 0], ["Oslo", 1], ["Rome", 0]],
        **changes,
    }


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def array(folder: Path, *records: Any) -> Path:
    path = folder / "set.json"
    path.write_text(json.dumps(records))
    return path


def test_the_paragraphs_of_all_questions_are_pooled_and_equal_ones_taken_once(tmp_path: Path) -> None:
    dataset = read_multihop(lines(tmp_path, musique("2hop__1_2"), musique("2hop__3_4")))
    (haystack,) = dataset.haystacks()
    assert [document.title for document in haystack.documents] == [
        "The Scream",
        "Oslo",
        "Edvard Munch",
        "Edvard Munch",
    ]
    scream, _, one, other = (document.id for document in haystack.documents)
    assert [set(asked.relevant) for asked in haystack.questions] == [{scream, one}, {scream, other}]
    assert len(dataset) == 1


def test_each_question_can_have_its_own_paragraphs(tmp_path: Path) -> None:
    dataset = read_multihop(lines(tmp_path, musique("2hop__1_2"), musique("2hop__3_4")), pooled=False)
    assert [(len(h.documents), len(h.questions)) for h in dataset.haystacks()] == [(3, 1), (3, 1)]
    assert dataset.name == "multihop/set (pooled=False)"


def test_the_kind_is_the_number_of_hops_by_decomposition_or_by_id(tmp_path: Path) -> None:
    decomposed = musique("2hop__9", question_decomposition=[{}, {}, {}])
    (haystack,) = read_multihop(lines(tmp_path, decomposed, musique("4hop1__1_2_3_4"))).haystacks()
    assert [asked.kind for asked in haystack.questions] == ["3 hops", "4 hops"]


def test_hotpot_and_2wiki_name_their_supporting_paragraphs_by_title(tmp_path: Path) -> None:
    (haystack,) = read_multihop(array(tmp_path, hotpot())).haystacks()
    assert [(d.title, d.text) for d in haystack.documents] == [
        ("Oslo", "A city. In Norway."),
        ("Bergen", "Older."),
        ("Rome", "Oldest."),
    ]
    (asked,) = haystack.questions
    assert asked.relevant == {haystack.documents[0].id: 1.0, haystack.documents[2].id: 1.0}
    assert (asked.id, asked.kind) == ("5a8b", "comparison")


@pytest.mark.parametrize("pooled", [True, False])
def test_a_question_without_its_supporting_paragraphs_is_dropped(tmp_path: Path, pooled: bool) -> None:
    path = array(tmp_path, hotpot("a"), hotpot("b", supporting_facts=[["Paris", 0]]))
    dataset = read_multihop(path, pooled=pooled)
    assert [asked.id for haystack in dataset.haystacks() for asked in haystack.questions] == ["a"]
    assert dict(dataset.dropped) == {"no supporting paragraph": 1}


def test_unanswerable_twins_are_kept_apart_and_dropped_where_the_pool_could_answer_them(
    tmp_path: Path,
) -> None:
    path = lines(tmp_path, musique(), musique(answerable=False))
    first, second = (haystack.questions[0] for haystack in read_multihop(path, pooled=False).haystacks())
    assert (first.id, first.answerable) == ("2hop__1_2", True)
    assert (second.id, second.answerable, second.relevant) == ("2hop__1_2_unanswerable", False, {})
    pooled = read_multihop(path)
    assert dict(pooled.dropped) == {"unanswerable": 1}


def test_documents_do_not_depend_on_the_labels(tmp_path: Path) -> None:
    turned = musique()
    for item in turned["paragraphs"]:
        item["is_supporting"] = not item["is_supporting"]
    (one,) = read_multihop(lines(tmp_path, musique())).haystacks()
    (other,) = read_multihop(lines(tmp_path, turned)).haystacks()
    assert one.documents == other.documents
    assert one.questions[0].relevant.keys().isdisjoint(other.questions[0].relevant)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"id": "x", "question": "?"}, "has neither 'paragraphs' (MuSiQue) nor 'context'"),
        (musique("x"), "has no 'question_decomposition', and its id 'x' does not begin as '2hop'"),
        (musique(paragraphs=[{"title": "Oslo"}]), "paragraphs[0] has no 'paragraph_text'"),
        (
            musique(paragraphs=[paragraph("Oslo", "x", 1)]),
            "paragraphs[0].is_supporting must be true or false, got 1",
        ),
        (hotpot(context=[["Oslo"]]), "context[0] must have at least 2 items, got 1"),
        (hotpot(context=[["Oslo", "A city."]]), "context[0][1] must be a list, got 'A city.'"),
        (hotpot(supporting_facts=["Oslo"]), "supporting_facts[0] must be a list, got 'Oslo'"),
    ],
)
def test_a_malformed_record_is_an_error_that_names_it(tmp_path: Path, bad: Any, reason: str) -> None:
    path = lines(tmp_path, musique(), bad)
    with pytest.raises(DatasetError) as raised:
        list(read_multihop(path).haystacks())
    assert str(raised.value).startswith(f"{path}, line 2: record 2: {reason}")


def test_a_line_that_is_not_json_is_named(tmp_path: Path) -> None:
    path = lines(tmp_path, musique("2hop__1"), musique("2hop__2"))
    path.write_text(path.read_text() + "\nnot JSON\n")
    with pytest.raises(DatasetError, match=r"set\.jsonl, line 3: expected a JSON record, got 'not JSON'"):
        list(read_multihop(path).haystacks())


def test_pooled_is_a_flag(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="pooled must be True or False, got 1"):
        read_multihop(lines(tmp_path, musique()), pooled=1)  # type: ignore[arg-type]
