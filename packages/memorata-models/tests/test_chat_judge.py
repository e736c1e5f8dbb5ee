"""What of a model's answer about contradictions can be used."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.model.errors import InvalidArgument, ServiceAnswerInvalid
from memorata.model.memory import Memory
from memorata_models import chat as chat_service
from memorata_models.chat import JUDGE_PROMPT, ChatJudge, Ruling, rulings

DAY = datetime(2026, 5, 7, tzinfo=UTC)


def answer(said: object) -> dict[str, Any]:
    content = said if isinstance(said, str) else json.dumps(said)
    return {"choices": [{"message": {"content": content}}]}


def pair(number: int) -> tuple[Memory, Memory]:
    one, other = (Memory(id="m", content=f"{text} {number}", created_at=DAY) for text in ("old", "new"))
    return one, other


def test_pairs_are_asked_about_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def post(address: str, body: Any, headers: Any, patience: Any) -> Any:
        pairs = json.loads(body["messages"][1]["content"])
        asked.append((address, body["model"], body["messages"][0]["content"], headers, pairs))
        return answer(
            {"pairs": [{"verdict": "compatible", "reason": each["newer"]["text"]} for each in pairs]}
        )

    monkeypatch.setattr(chat_service, "post_json", post)
    monkeypatch.setattr(chat_service, "_PAIRS_PER_REQUEST", 2)
    judge = ChatJudge("wise", "http://localhost:1/v1", api_key="k")
    assert judge.name == "chat:wise"
    ruled = judge([pair(number) for number in range(3)])
    assert ruled == [Ruling(False, f"new {number}") for number in range(3)]
    assert [len(each[4]) for each in asked] == [2, 1]
    assert asked[0][:4] == (
        *("http://localhost:1/v1/chat/completions", "wise", JUDGE_PROMPT),
        {"Authorization": "Bearer k"},
    )
    assert asked[0][4][0]["older"] == {"text": "old 0", "time": DAY.isoformat()}


def test_verdicts_are_read_and_reasons_kept_short() -> None:
    said = [
        {"verdict": verdict, "reason": " a  b " * 300} for verdict in ("contradicts", "compatible", "unsure")
    ]
    found = rulings(answer("```json\n" + json.dumps({"pairs": said}) + "\n```"), 3)
    assert [each.contradicts for each in found] == [True, False, None]
    assert found[0].reason.startswith("a b a b")
    assert len(found[0].reason) == 500


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"choices": []},
        {"choices": [{"message": {"content": 5}}]},
        answer("no"),
        answer([]),
        answer({"pairs": []}),
        answer({"pairs": [{"verdict": "maybe", "reason": "x"}]}),
        answer({"pairs": [{"verdict": "contradicts"}]}),
        answer({"pairs": [{"verdict": "contradicts", "reason": " "}]}),
        answer({"pairs": ["contradicts"]}),
    ],
)
def test_any_other_answer_is_refused(said: object) -> None:
    with pytest.raises(ServiceAnswerInvalid):
        rulings(said, 1)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="address"):
        ChatJudge("m", "nowhere")
