"""Where a sentence ends, and where it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.text.sentences import sentences


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
