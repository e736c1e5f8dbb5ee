"""Who is asked, how, and what it said: the part that all who ask a language model share."""

from typing import Any

import pytest

from memorata.model.errors import InvalidArgument, ServiceAnswerInvalid
from memorata_models import chat as chat_service
from memorata_models.chat import ChatService, answer_json, message


def test_material_goes_as_json_after_the_prompt_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []

    def post(*given: Any) -> dict[str, int]:
        sent.append(given)
        return {"said": 1}

    monkeypatch.setattr(chat_service, "post_json", post)
    service = ChatService("small", "http://127.0.0.1:9/v1", "secret", None)
    assert service.ask_about("Read.", ["Grüße"]) == {"said": 1}
    ((address, body, headers, patience),) = sent
    assert (address, headers) == (
        "http://127.0.0.1:9/v1/chat/completions",
        {"Authorization": "Bearer secret"},
    )
    assert body == {
        "model": "small",
        "temperature": 0,
        "response_format": {"type": "json_object"},
        "messages": [{"role": "system", "content": "Read."}, {"role": "user", "content": '["Grüße"]'}],
    }
    assert patience is service.retry


def test_the_name_changes_with_the_model_and_with_the_prompt() -> None:
    one, other = (ChatService(model, "http://127.0.0.1:9/v1", None, None) for model in ("a", "b"))
    assert len({one.name("x"), one.name("y"), other.name("x")}) == 3
    assert one.name("x").startswith("chat:a@")


@pytest.mark.parametrize("answer", [None, {}, {"choices": []}, {"choices": [{"message": {}}]}])
def test_an_answer_without_a_message_is_refused(answer: object) -> None:
    with pytest.raises(ServiceAnswerInvalid, match="without a message"):
        message(answer)


@pytest.mark.parametrize(("content", "wrong"), [(5, "where text was expected"), ("no", "in JSON")])
def test_a_message_that_is_no_json_is_refused(content: object, wrong: str) -> None:
    with pytest.raises(ServiceAnswerInvalid, match=wrong):
        answer_json({"choices": [{"message": {"content": content}}]})


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="address"):
        ChatService("small", "nowhere", None, None)
