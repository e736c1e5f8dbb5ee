"""Sentences that hold beyond their conversation, told apart from those that do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text import standing_sentences as module
from memorata.text.standing_sentences import is_unfinished, standing

INSTRUCTIONS = (
    "Always answer in German.",
    "Please never commit to main.",
    "From now on, use tabs.",
    "Thanks. Going forward, ping me on Slack first.",
    "You should always run the linter.",
    "- Never store passwords in the repository",
    "Bitte immer auf Deutsch antworten.",
    "Ab sofort nur noch vegetarisch.",
    "Désormais, réponds en français.",
    "A partir de ahora responde en español.",
    "D'ora in poi usa il Lei.",
    "De agora em diante, fale comigo em português.",
    "Voortaan graag in het Nederlands.",
    "Впредь отвечай по-русски.",
    "以后请用中文回答。",
    "今後は日本語で答えてください。",
    "앞으로는 한국어로 대답해 줘.",
)
PREFERENCES = (
    "I prefer tea to coffee.",
    "I really hate loud restaurants.",
    "My favourite colour is green.",
    "I'm allergic to peanuts.",
    "I'd rather sit by the window.",
    "I don't eat meat.",
    "The user likes short answers.",
    "Ich mag keinen Koriander.",
    "Je préfère le train.",
    "Me gusta el té verde.",
    "Preferisco il treno.",
    "Gosto de café forte.",
    "Ik hou van regen.",
    "Я не люблю кофе.",
    "我不吃香菜",
    "私は納豆が苦手です。",
    "저는 매운 음식을 좋아해요.",
)
NEITHER = (
    "Never mind.",
    "Never been to Rome, have you seen it?",
    "I would like to book a table.",
    "Do I prefer tea?",
    "Anna moved to Rome in May.",
    "She always comes late.",
    "The train leaves at nine.",
    "It was never finished.",
    "Wir treffen uns immer freitags?",
    "I like" + " very" * 1_000 + " long texts.",
)


@pytest.mark.parametrize("text", INSTRUCTIONS)
def test_instructions(text: str) -> None:
    assert standing(text) == "instruction"


@pytest.mark.parametrize("text", PREFERENCES)
def test_preferences(text: str) -> None:
    assert standing(text) == "preference"


@pytest.mark.parametrize("text", NEITHER)
def test_what_holds_for_its_moment_only(text: str) -> None:
    assert standing(text) is None


def test_what_is_still_to_be_done() -> None:
    assert is_unfinished("TODO: renew the certificate")
    assert is_unfinished("We still need to call the plumber.")
    assert not is_unfinished("The plumber came.")


WORDS = [word for text in (*INSTRUCTIONS, *PREFERENCES, *NEITHER[:-1]) for word in text.split()]
PIECES = st.sampled_from([word + after for word in WORDS for after in (" ", ". ")])


@given(st.lists(PIECES, max_size=12).map("".join))
def test_looking_for_cues_first_changes_nothing(text: str) -> None:
    expected = None
    if not text.rstrip().endswith(("?", "？")):
        if module._INSTRUCTION.search(text):
            expected = "instruction"
        elif module._PREFERENCE.search(text):
            expected = "preference"
    assert standing(text) == expected
