"""ChatGPT's conversations: the branch that was shown, who said what when, and what is left out."""

import json
from typing import Any

from memorata.extend.transfer import Record
from memorata_agents.importers.chats import chatgpt as records


def message(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    said = {"author": {"role": role}, "content": {"content_type": "text", "parts": list(parts)}}
    return said | more


def node(parent: str | None, said: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"parent": parent, "message": said, "children": []}


TRIP: dict[str, Any] = {
    "conversation_id": "c1",
    "title": "A trip",
    "create_time": 1_700_000_000.0,
    "current_node": "e",
    "mapping": {
        "root": node(None),
        "a": node("root", message("system", "")),
        "b": node("a", message("user", "Where to?", id="m-b", create_time=1_700_000_010.25)),
        "old": node("b", message("assistant", "To Rome.")),
        "c": node("b", message("assistant", "search()", recipient="browser")),
        "d": node("c", message("tool", "a page")),
        "e": node("d", message("assistant", "To Lisbon,", {"asset": "map"}, "by train.")),
    },
}


def found(value: Any) -> list[Record]:
    return list(records(json.dumps(value).encode()).records)


def taken(value: Any) -> list[dict[str, Any]]:
    return [record.fields for record in found(value) if record.fields]


def test_the_branch_that_was_shown_comes_in_with_who_said_it_and_when() -> None:
    question, answer = taken([TRIP])
    assert question == {
        "id": question["id"],
        "content": "Where to?",
        "category": "message",
        "tier": "episodic",
        "source": {"speaker": "user", "session": "c1", "position": 0, "link": "https://chatgpt.com/c/c1"},
        "metadata": {"title": "A trip"},
        "created_at": "2023-11-14T22:13:30.250000+00:00",
    }
    assert answer["content"] == "To Lisbon,\nby train."
    assert answer["source"] == {
        "speaker": "assistant", "session": "c1", "position": 1, "link": "https://chatgpt.com/c/c1",
    }  # fmt: skip
    assert answer["created_at"] == "2023-11-14T22:13:20+00:00"


def test_what_is_skipped_is_told_with_its_reason() -> None:
    said = [(record.place, record.skipped) for record in found([TRIP]) if record.skipped]
    assert said == [
        ('conversation 1 "A trip", message a', "a message of the system"),
        ('conversation 1 "A trip", message c', "a message to a tool"),
        ('conversation 1 "A trip", message d', "a message of the tool"),
        ('conversation 1 "A trip", message old', "a message on a branch that is not shown"),
    ]
    reasons = {
        "a hidden message": message("user", "x", metadata={"is_visually_hidden_from_conversation": True}),
        "an empty message, or one of images alone": message("user", {"asset": 1}, " "),
        "a message that is no text (thoughts)": {
            "author": {"role": "assistant"}, "content": {"content_type": "thoughts"},
        },
        "a message without a role": {"content": {}},
    }  # fmt: skip
    for reason, each in reasons.items():
        assert [record.skipped for record in found([{"mapping": {"a": node(None, each)}}])] == [reason]


def test_what_was_spoken_has_been_written_down() -> None:
    spoken = message("user", {"content_type": "audio_transcription", "text": "Hello there."}, {"asset": 1})
    spoken["content"]["content_type"] = "multimodal_text"
    [record] = taken([{"mapping": {"a": node(None, spoken)}}])
    assert record["content"] == "Hello there."
    assert "created_at" not in record
    assert record["source"]["link"] == ""


def test_without_an_end_the_latest_one_is_taken() -> None:
    mapping = {
        "b": node(None, message("user", "Where to?")),
        "early": node("b", message("assistant", "Rome.", create_time=1.0)),
        "late": node("b", message("assistant", "Lisbon.", create_time=2.0)),
        "mad": node("b", message("assistant", "Nowhere.", create_time=float("1e300"))),
    }
    for end in (None, "nobody", 3):
        said = taken([{"id": "c", "current_node": end, "mapping": mapping}])
        assert [each["content"] for each in said] == ["Where to?", "Lisbon."]


def test_ids_stay_when_the_conversation_goes_on_and_the_file_has_others() -> None:
    longer = {
        **TRIP,
        "mapping": {**TRIP["mapping"], "f": node("e", message("user", "Thanks."))},
        "current_node": "f",
    }
    other = {**TRIP, "conversation_id": "c2"}
    ids = [each["id"] for each in taken([TRIP])]
    assert [each["id"] for each in taken([other, longer])][2:4] == ids
    assert not set(ids) & {each["id"] for each in taken([other])}


def test_a_single_conversation_is_a_file_too() -> None:
    assert taken(TRIP) == taken([TRIP]) == taken({"conversations": [TRIP]})


def test_conversations_that_cannot_be_read_are_reported_and_the_rest_goes_on() -> None:
    circle = {
        "mapping": {"a": node("b", message("user", "x")), "b": node("a")},
        "current_node": "a",
        "title": 5,
    }
    said = [
        (record.place, record.problem)
        for record in found([3, {"title": "x"}, circle, TRIP])
        if record.problem
    ]
    assert said == [
        ("conversation 1", "not a conversation: it has no mapping"),
        ("conversation 2", "not a conversation: it has no mapping"),
        ("conversation 3", "its messages lead back to where they began"),
    ]
    assert len(taken([3, circle, TRIP])) == 2
    assert found(3)[0].problem == "not a list of conversations"


def test_values_of_another_kind_keep_no_other_message_out() -> None:
    mapping: dict[str, Any] = {
        "a": {"parent": {"id": "root"}, "message": ["nothing"]},
        "b": node("a", message("user", "Where to?")),
        "c": {
            "parent": ["b"],
            "message": {**message("user"), "content": {"content_type": "text", "parts": 5}},
        },
        "d": node("b", {**message("assistant"), "content": {"content_type": "text", "parts": "To Lisbon."}}),
    }
    said = taken([{"id": "c", "mapping": mapping}, TRIP])
    assert [each["content"] for each in said][:2] == ["Where to?", "To Lisbon."]
    assert len(said) == 4


def test_a_file_that_was_cut_short_says_so() -> None:
    data = json.dumps([TRIP]).encode()
    [record] = records(data[: len(data) // 2]).records
    assert "the file may be cut short, and nothing of it was read" in record.problem


def test_an_example_of_records() -> None:
    file = b"""[{"id": "c1", "title": "Tea", "current_node": "b", "mapping": {
        "a": {"parent": null, "message": null},
        "b": {"parent": "a", "message": {"id": "m1", "author": {"role": "user"}, "create_time": 1.5,
              "content": {"content_type": "text", "parts": ["I like tea."]}}}}}]"""
    assert (
        [(record.fields["content"], record.fields["source"]["session"]) for record in records(file).records]
    ) == [("I like tea.", "c1")]
