"""Words: runs of letters, digits, underscores and marks; bigrams where a script has no spaces."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.text.tokens import is_unspaced, sentences, words

TABLE = [
    ("", []),
    (" \t\n", []),
    ("The quick, brown fox.", ["the", "quick", "brown", "fox"]),
    ("UAV-001 battery degraded to 15.2%!", ["uav", "001", "battery", "degraded", "to", "15", "2"]),
    ("don't", ["don", "t"]),
    ("don’t", ["don", "t"]),
    ("snake_case __init__", ["snake_case", "__init__"]),
    ("naïve café", ["naïve", "café"]),
    ("cafe\u0301", ["café"]),  # a letter and its accent compose
    ("ﬁne ＡＢＣ１２３ x²", ["fine", "abc123", "x2"]),  # ligature, full width, superscript: NFKC
    ("Straße STRASSE", ["straße", "strasse"]),  # lowered, not folded
    ("İstanbul ISTANBUL", ["istanbul", "istanbul"]),
    ("J\u030cani", ["ǰani"]),  # the capital has no composed form, the small letter has
    ("Я боюсь, ёлка!", ["я", "боюсь", "ёлка"]),
    ("हिन्दी में लिखो", ["हिन्दी", "में", "लिखो"]),  # vowel signs and virama stay inside
    ("தமிழ்", ["தமிழ்"]),
    ("שָׁלוֹם עולם", [unicodedata.normalize("NFKC", "שָׁלוֹם"), "עולם"]),
    ("السلام عليكم", ["السلام", "عليكم"]),
    ("می\u200cخواهم", ["میخواهم"]),  # a zero-width non-joiner does not part a word
    ("co\u00adoperate", ["cooperate"]),
    ("手", ["手"]),
    ("手机", ["手机"]),
    ("手机很好", ["手机", "机很", "很好"]),
    ("iPhone手机", ["iphone", "手机"]),
    ("2024年5月", ["2024", "年", "5", "月"]),
    ("東京タワーへ", ["東京", "京タ", "タワ", "ワー", "ーへ"]),
    ("ｶﾀｶﾅ", ["カタ", "タカ", "カナ"]),  # half width becomes full width
    ("我，你", ["我", "你"]),  # punctuation ends a run
    ("𠮷野家", ["𠮷野", "野家"]),
    ("학교에서", ["학교", "교에", "에서"]),
    ("ที่นี่", ["ที่นี่"]),  # two characters with their marks: one pair
    ("ราคา๑๐๐บาท", ["รา", "าค", "คา", "๑๐๐", "บา", "าท"]),  # Thai digits are a number
    ("hi 👋🏽 there ❤️", ["hi", "there"]),
    ("1️⃣ first", ["1", "first"]),
    ("a\x00b", ["a", "b"]),
    ("lone \ud800 surrogate\udfff", ["lone", "surrogate"]),
    ("\u0301abc", ["abc"]),  # a mark without a letter is no word
]


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_worked(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_underscores_can_separate() -> None:
    assert words("snake_case", underscores=False) == ["snake", "case"]
    assert words("größe＿x", underscores=False) == ["größe", "x"]


@pytest.mark.parametrize("bad", [None, 3, b"bytes", ["list"]])
def test_only_strings(bad: object) -> None:
    with pytest.raises(InvalidArgument, match="text must be a string"):
        words(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="token must be a string"):
        is_unspaced(bad)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="underscores must be True or False"):
        words("a", underscores=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("手机", True),
        ("학교", True),
        ("ที่", True),
        ("phone", False),
        ("рука", False),
        ("๑๐๐", False),
        ("", False),
    ],
)
def test_is_unspaced(token: str, expected: bool) -> None:
    assert is_unspaced(token) is expected


def unspaced(character: str) -> bool:
    """Whether a character belongs to a script the tokeniser pairs, asked of its Unicode name."""
    scripts = (
        "CJK",
        "HIRAGANA",
        "KATAKANA",
        "BOPOMOFO",
        "THAI",
        "LAO",
        "KHMER",
        "MYANMAR",
        "HANGUL",
        "IDEOGRAPHIC",
    )
    return unicodedata.name(character, "").startswith(scripts) and unicodedata.category(character) != "Nd"


def slow_words(text: str) -> list[str]:
    """Read `text` character by character, as the docstring says it."""
    kept = "".join(
        c for c in unicodedata.normalize("NFKC", text) if c not in "\u00ad\u200c\u200d\ufe0f\ufeff"
    )
    text = unicodedata.normalize("NFKC", kept.replace("İ", "i").lower())
    found: list[str] = []
    run: list[str] = []  # the characters, marks attached, of the run being read
    paired = False

    def close() -> None:
        if paired and len(run) > 1:
            found.extend(run[i] + run[i + 1] for i in range(len(run) - 1))
        elif run:
            found.append("".join(run))
        run.clear()

    for character in text:
        if unicodedata.category(character) in ("Mn", "Mc"):
            if run:
                run[-1] += character
        elif character.isalnum() or character == "_":
            if run and unspaced(character) != paired:
                close()
            paired = unspaced(character)
            run.append(character)
        else:
            close()
    close()
    return found


alphabet = st.sampled_from(
    "aZ09_ -'.éßİΣς\u0301\u0327\u200d\u00adяЁі手机東あカーｶ々학교ที่ำ๑नि्ाש\u05b8سم👋\ufe0f\x00²½ﬁ"
)
some_text = st.text(st.one_of(alphabet, alphabet, st.characters(max_codepoint=0x24F)), max_size=40)


@given(some_text)
def test_same_as_reading_character_by_character(text: str) -> None:
    assert words(text) == slow_words(text)


@given(st.text(st.characters(), max_size=60))
def test_any_string_is_safe_and_its_words_are_its_words(text: str) -> None:
    found = words(text)
    assert found == words(text)
    for token in found:
        assert token
        assert words(token) == [token] or is_unspaced(token)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_and_unicode_paths_agree(text: str) -> None:
    # One character of another script sends the whole text down the general path.
    assert words(text + " ж")[:-1] == words(text)


@given(st.text(st.characters(max_codepoint=127)), st.booleans())
def test_the_words_of_plain_text_are_runs_of_letters_digits_and_underscores(
    text: str, underscores: bool
) -> None:
    wanted = r"[a-z0-9_]+" if underscores else r"[a-z0-9]+"
    assert words(text, underscores=underscores) == re.findall(wanted, text.lower())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("Tea", ["Tea"]),
        ("Tea. Milk.", ["Tea.", "Milk."]),
        ("Really?! Yes… Perhaps.", ["Really?!", "Yes…", "Perhaps."]),
        ("He said “no.” She left.", ["He said “no.”", "She left."]),
        ("It costs 2.50 a kilo. Cheap!", ["It costs 2.50 a kilo.", "Cheap!"]),
        ("See example.org. It is good.", ["See example.org.", "It is good."]),
        ("Mrs. Albers and J. Weiss came.", ["Mrs. Albers and J. Weiss came."]),
        ("We wait, e.g. On Sundays.", ["We wait, e.g. On Sundays."]),
        ("one. two", ["one. two"]),
        ("Tea.\nMr. Smith came. Fr. Teske, too.", ["Tea.", "Mr. Smith came.", "Fr. Teske, too."]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("Buy:\n- milk\n* tea\n• salt", ["Buy:", "milk", "tea", "salt"]),
        ("Der Kater schläft. Über ihm tickt es.", ["Der Kater schläft.", "Über ihm tickt es."]),
        ("Чай готов. Ёлка стоит.", ["Чай готов.", "Ёлка стоит."]),
        ("茶を飲む。水も飲む。", ["茶を飲む。", "水も飲む。"]),
        ("¿Vienes? ¡Claro!", ["¿Vienes?", "¡Claro!"]),
        ("... !!! ---", []),
    ],
)
def test_a_text_is_cut_where_a_thought_ends(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@given(st.text())
def test_no_letter_is_lost_or_moved(text: str) -> None:
    kept = "".join("".join(each for each in piece if each.isalnum()) for piece in sentences(text))
    assert kept == "".join(each for each in text if each.isalnum())


@pytest.mark.parametrize("text", [None, 1, b"x"])
def test_what_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(InvalidArgument, match="text"):
        sentences(text)  # type: ignore[arg-type]


def test_a_long_text_takes_no_longer_than_it_should() -> None:
    assert len(sentences("Mr. " * 20_000)) == 1
    assert len(sentences("Tea. " * 20_000)) == 20_000
