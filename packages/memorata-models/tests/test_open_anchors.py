import pytest

from memorata.engine.roles import open_anchors
from memorata.engine.settings import Settings
from memorata.model import InvalidArgument
from memorata.text import RuleAnchors
from memorata_models.chat import ChatAnchors


def test_rules_and_models_by_name() -> None:
    assert isinstance(open_anchors("rules"), RuleAnchors)
    found = open_anchors("chat:qwen:4b@http://127.0.0.1:11434/v1", "sk-1")
    assert isinstance(found, ChatAnchors)
    assert found.name.startswith("chat:qwen:4b@")


@pytest.mark.parametrize("name", ["", "chat", "chat:m", "chat:@http://x", "rule", "chat:m@"])
def test_another_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="anchors must be 'rules' or 'chat:MODEL@ADDRESS'"):
        open_anchors(name)


def test_an_address_must_be_one() -> None:
    with pytest.raises(InvalidArgument, match="address must be"):
        open_anchors("chat:m@nowhere")


def test_settings_refuse_it_at_once_and_never_show_the_key() -> None:
    with pytest.raises(InvalidArgument, match="anchors must be"):
        Settings(anchors="guess")
    settings = Settings(anchors="chat:m@http://127.0.0.1:9/v1", anchors_key="sk-secret", db=":memory:")
    assert "sk-secret" not in repr(settings)
    with pytest.raises(InvalidArgument, match="not shown"):
        Settings(anchors_key=5)
