import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memorata.model.errors import DatasetError, InvalidArgument
from memorata_lab.evaluate.dataset import FileDataset, Haystack
from memorata_lab.evaluate.datasets.conversations import read_locomo


def turn(name: str, text: str, **more: Any) -> dict[str, Any]:
    return {"dia_id": name, "speaker": "Ann", "text": text, **more}


def asking(evidence: Any, category: Any = 4) -> dict[str, Any]:
    return {"question": "What did Ann buy?", "answer": "a kite", "evidence": evidence, "category": category}


def sample(*qa: Any, **changes: Any) -> dict[str, Any]:
    """Return a conversation of three sessions, the tenth after the second, and a date without a session."""
    conversation = {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_10_date_time": "12:09 am on 3 July, 2023",
        "session_10": [turn("D10:1", "Rain today.")],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1", "I bought a kite.", blip_caption="a red kite", img_url=["x"], query="kite"),
            {"dia_id": "D1:2", "speaker": "Ben", "text": "Lovely!"},
        ],
        "session_2_date_time": "12:30 pm on 25 May, 2023",
        "session_2": [turn("D2:1", "It flew.")],
        "session_11_date_time": "1:00 pm on 9 August, 2023",
        **changes,
    }
    return {"sample_id": "conv-1", "conversation": conversation, "qa": list(qa)}


def written(folder: Path, *samples: Any) -> Path:
    path = folder / "locomo.json"
    path.write_text(json.dumps(samples))
    return path


def only(dataset: FileDataset) -> Haystack:
    (haystack,) = dataset.haystacks()
    return haystack


def evidence_found(folder: Path, evidence: list[str]) -> list[str]:
    """Return the texts that this evidence of a question leads to."""
    haystack = only(read_locomo(written(folder, sample(asking(evidence))), captions=False))
    documents = {document.id: document.text for document in haystack.documents}
    return [documents[name] for asked in haystack.questions for name in asked.relevant]


def test_documents_are_the_turns_in_the_order_of_the_sessions_numbers(tmp_path: Path) -> None:
    haystack = only(read_locomo(written(tmp_path, sample(asking(["D1:1"])))))
    assert [(d.text, d.speaker, d.position) for d in haystack.documents] == [
        ("I bought a kite. (shares a photo: a red kite)", "Ann", 0),
        ("Lovely!", "Ben", 1),
        ("It flew.", "Ann", 0),
        ("Rain today.", "Ann", 0),
    ]
    one, same, two, ten = (document.session for document in haystack.documents)
    assert one == same
    assert len({one, two, ten}) == 3
    assert len({document.id for document in haystack.documents}) == 4


def test_dates_know_midnight_from_noon(tmp_path: Path) -> None:
    haystack = only(read_locomo(written(tmp_path, sample(asking(["D1:1"])))))
    assert [document.when for document in haystack.documents[1:]] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        datetime(2023, 5, 25, 12, 30, tzinfo=UTC),
        datetime(2023, 7, 3, 0, 9, tzinfo=UTC),
    ]


def test_a_question_is_asked_after_the_last_session_that_took_place(tmp_path: Path) -> None:
    (asked,) = only(read_locomo(written(tmp_path, sample(asking(["D1:1"]))))).questions
    assert asked.when == datetime(2023, 7, 3, 1, 9, tzinfo=UTC)


def test_captions_can_be_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, sample(asking(["D1:1"])))
    assert only(read_locomo(path, captions=False)).documents[0].text == "I bought a kite."
    assert read_locomo(path, captions=False).name == "locomo/locomo (captions=False)"


def test_a_turn_that_is_only_a_photo_is_its_caption_or_nothing(tmp_path: Path) -> None:
    path = written(
        tmp_path, sample(session_2=[turn("D2:1", "", blip_caption="a cloud"), turn("D2:2", "Oh.")])
    )
    assert only(read_locomo(path)).documents[2].text == "(shares a photo: a cloud)"
    assert [(d.text, d.position) for d in only(read_locomo(path, captions=False)).documents[2:3]] == [
        ("Oh.", 1)
    ]


@pytest.mark.parametrize(
    ("evidence", "texts"),
    [
        (["D1:1"], ["I bought a kite."]),
        (["D1:1", "D2:1"], ["I bought a kite.", "It flew."]),
        (["D1:1; D2:1"], ["I bought a kite.", "It flew."]),
        (["D1:1 D2:1"], ["I bought a kite.", "It flew."]),
        (["D:10:1"], ["Rain today."]),
        (["D10:01"], ["Rain today."]),
        (["D1:1", "D1:1"], ["I bought a kite."]),
        (["D1:2", "D", "D9:9"], ["Lovely!"]),
    ],
)
def test_malformed_evidence_counts_as_far_as_it_names_turns(
    tmp_path: Path, evidence: list[str], texts: list[str]
) -> None:
    assert evidence_found(tmp_path, evidence) == texts


def test_questions_have_ids_kinds_and_session_labels(tmp_path: Path) -> None:
    qa = [asking(["D1:1", "D1:2", "D2:1"], 1), asking([], 3), asking(["D9:9"]), asking(["D2:1"], 5)]
    dataset = read_locomo(written(tmp_path, sample(*qa)))
    haystack = only(dataset)
    first, last = haystack.questions
    assert [(q.id, q.kind, q.answerable) for q in (first, last)] == [
        ("conv-1:1", "1 multi-hop", True),
        ("conv-1:4", "5 adversarial", True),
    ]
    assert first.relevant_sessions == {haystack.documents[0].session: 1.0, haystack.documents[2].session: 1.0}
    assert dict(dataset.dropped) == {"no evidence": 2}
    assert len(dataset) == 1


def test_documents_do_not_depend_on_the_questions(tmp_path: Path) -> None:
    one = only(read_locomo(written(tmp_path, sample(asking(["D1:1"])))))
    other = only(read_locomo(written(tmp_path, sample(asking(["D2:1"], 2)))))
    assert one.documents == other.documents


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"sample_id": "c", "qa": []}, "has no 'conversation'"),
        ({"sample_id": "c", "conversation": [], "qa": []}, "conversation must be an object with 'session_1'"),
        ({"sample_id": "c", "conversation": {"speaker_a": "Ann"}, "qa": []}, "conversation has no turns"),
        (
            sample(session_2_date_time="in May"),
            "conversation.session_2_date_time must be a date as in '1:56 pm",
        ),
        (
            sample(session_2_date_time="1:56 pm on 8 Mai, 2023"),
            "conversation.session_2_date_time must be a date",
        ),
        (
            sample(session_2_date_time="1:56 pm on 31 June, 2023"),
            "conversation.session_2_date_time must be a date of",
        ),
        (sample(session_2_date_time=None), "conversation.session_2_date_time must be text, got None"),
        (sample(session_3=[]), "conversation has no 'session_3_date_time'"),
        (sample(session_2="gone"), "conversation.session_2 must be a list, got 'gone'"),
        (
            sample(session_2=[turn("2-1", "x")]),
            "conversation.session_2[0].dia_id must be as in 'D1:3', got '2-1'",
        ),
        (
            sample(session_2=[turn("D1:1", "x")]),
            "conversation.session_2[0] is the second turn with the dia_id 'D1:1'",
        ),
        (sample(session_2=[{"dia_id": "D2:1", "text": "x"}]), "conversation.session_2[0] has no 'speaker'"),
        (sample(asking(["D1:1"], 6)), "qa[0].category must be a category from 1 to 5, got 6"),
        (sample(asking(["D1:1"], "4")), "qa[0].category must be a whole number, got '4'"),
        (sample(asking([1])), "qa[0].evidence[0] must be text, got 1"),
        (sample({"evidence": [], "category": 1}), "qa[0] has no 'question'"),
    ],
)
def test_a_malformed_record_is_an_error_that_names_it(tmp_path: Path, bad: Any, reason: str) -> None:
    path = written(tmp_path, bad)
    with pytest.raises(DatasetError) as raised:
        list(read_locomo(path).haystacks())
    assert str(raised.value).startswith(f"{path}, line 1: record 1: {reason}")


def test_captions_is_a_flag(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="captions must be True or False, got 'no'"):
        read_locomo(written(tmp_path, sample()), captions="no")  # type: ignore[arg-type]
