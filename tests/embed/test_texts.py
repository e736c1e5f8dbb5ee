import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.texts import checked_text, checked_texts, well_formed
from memorata.model.errors import InvalidArgument

ANY = st.text(st.characters())  # surrogates included


@given(ANY)
def test_a_well_formed_text_can_be_encoded(text: str) -> None:
    well_formed(text).encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_without_broken_pairs_is_left_alone(text: str) -> None:
    assert well_formed(text) == text


def test_two_halves_that_belong_together_are_joined() -> None:
    assert well_formed("\ud83d\ude00!") == "😀!"


def test_the_text_at_fault_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"texts\[1\] must be a string, got 7"):
        checked_texts(["one", 7])  # type: ignore[list-item]


@pytest.mark.parametrize("texts", ["abc", b"abc", None, {"a"}, 3])
def test_only_a_list_of_texts_is_one(texts: object) -> None:
    with pytest.raises(InvalidArgument, match="texts must be a list of strings"):
        checked_texts(texts)  # type: ignore[arg-type]


def test_one_text_is_checked_too() -> None:
    assert checked_text("a\ud800") == "a\ufffd"
    with pytest.raises(InvalidArgument, match="text must be a string"):
        checked_text(None)  # type: ignore[arg-type]
