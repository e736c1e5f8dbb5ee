import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.fingerprint import fingerprint, folded, is_closing_punctuation, normalised
from memorata.model.errors import InvalidArgument

ANY_TEXT = st.text(st.characters(exclude_categories=()))
"""Every code point, lone surrogates included."""


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Alice likes tea.", "alice likes tea"),
        ("ALICE LIKES TEA", "alice likes tea"),
        ("  Alice \t likes\n\ntea  ", "alice likes tea"),
        ("Alice\u00a0likes\u2003tea\u3000", "alice likes tea"),
        ("Alice likes tea?! …", "alice likes tea"),
        ("Alice likes tea ) .", "alice likes tea"),
        ("Ａｌｉｃｅ ｌｉｋｅｓ ｔｅａ！", "alice likes tea"),
        ("她喜欢茶。", "她喜欢茶"),
        ("هل تحب الشاي؟", "هل تحب الشاي"),
        ("«Чай»", "«чай"),
        ("Straße", "strasse"),
        ("ΟΔΟΣ", "οδοσ"),
        ("ﬁne", "fine"),
        ("cafe\u0301", "café"),
        ("No. 5, please.", "no. 5, please"),
        ("", ""),
        (" \n\t ", ""),
    ],
)
def test_the_dress_of_a_text_is_taken_off(content: str, expected: str) -> None:
    assert normalised(content) == expected


@pytest.mark.parametrize(
    "content", ["i write c#", "it grew by 5%", "blood type o-", "a_", "src/", "c++", "f*", "5‰"]
)
def test_signs_that_say_something_stay(content: str) -> None:
    assert normalised(content + "!") == content


@pytest.mark.parametrize("content", ["!!!", "???", ".", "! ?", "¿?", "。"])
def test_a_text_of_punctuation_keeps_it(content: str) -> None:
    assert normalised(content) == content


def test_texts_of_different_punctuation_are_different_texts() -> None:
    assert len({fingerprint(content) for content in ("!!!", "???", "!", "", "?!")}) == 5


@given(ANY_TEXT)
def test_the_normal_form_is_its_own_normal_form(content: str) -> None:
    assert normalised(normalised(content)) == normalised(content)


@pytest.mark.untraced
def test_the_normal_form_of_every_character_is_its_own_normal_form() -> None:
    once = normalised("x".join(map(chr, range(sys.maxunicode + 1))))
    is_stable = normalised(once) == once  # by name, as a failure would otherwise print a million characters
    assert is_stable


@given(ANY_TEXT)
def test_folding_twice_is_folding_once(content: str) -> None:
    assert folded(folded(content)) == folded(content)


@given(ANY_TEXT)
def test_it_agrees_with_taking_one_character_off_at_a_time(content: str) -> None:
    kept = "#%&*@/\\_-‰‱′‵"
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", content).casefold())
    spaced = " ".join(plain.split())
    slow = spaced
    while slow and (
        slow.endswith(" ") or (unicodedata.category(slow[-1])[0] == "P" and slow[-1] not in kept)
    ):
        slow = slow[:-1]
    assert normalised(content) == (slow or spaced)


@given(
    st.text(st.characters(categories=["Lu", "Ll", "Nd"]), min_size=1),
    st.sampled_from([".", " !", "…", "。", '"']),
)
def test_what_only_ends_differently_has_the_same_fingerprint(content: str, ending: str) -> None:
    assert fingerprint(content) == fingerprint(f"  {content}{ending}\n")


@pytest.mark.parametrize(
    "content", ["\ud800", "a\udfffb", "\x00", "a\x00b", "👩‍👩‍👧", "❤️", "🇮🇹", "\ufeff", "\U0010ffff"]
)
def test_strange_characters_have_fingerprints_of_their_own(content: str) -> None:
    assert len(fingerprint(content)) == 32
    assert fingerprint(content) != fingerprint("")
    assert fingerprint(content) != fingerprint(content + content)


def test_the_fingerprint_is_the_published_hash_of_the_normal_form() -> None:
    # b2sum --length=128 of the bytes "alice likes tea"; stored fingerprints depend on it never changing.
    assert fingerprint("Alice likes tea.") == "4ec2c9f199f3d614b68a6e445d68de86"


def test_a_long_tail_of_punctuation_is_quick() -> None:
    assert normalised("a" + " !" * 200_000) == "a"


@pytest.mark.parametrize("character", list(".,;:!?…)]}»”’。、！؟—"))
def test_closing_punctuation(character: str) -> None:
    assert is_closing_punctuation(character)


@pytest.mark.parametrize("character", list("a1 #%+=$€\u0301"))
def test_what_is_not_closing_punctuation(character: str) -> None:
    assert not is_closing_punctuation(character)


@pytest.mark.parametrize("content", [None, 3, b"tea", ["tea"], float("nan")])
def test_only_text_has_a_fingerprint(content: str) -> None:
    for function in (folded, normalised, fingerprint):
        with pytest.raises(InvalidArgument, match="content must be a string"):
            function(content)
