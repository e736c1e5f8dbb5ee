import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.tokens import contains_any, folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "ANNA"),
        ("José", "Jose"),
        ("Jose\u0301", "José"),
        ("Straße", "STRASSE"),
        ("Łódź", "Lodz"),
        ("İstanbul", "istanbul"),
        ("Семён", "Семен"),
        ("O’Neill", "O'Neill"),
        ("Jean‑Luc", "jean-luc"),
        ("Bank  of\nEngland ", "bank of england"),
        ("ＡＢＣ", "abc"),
        ("Mül\u00adler", "muller"),
    ],
)
def test_spellings_of_one_name(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(("one", "other"), [("мой", "мои"), ("が", "か"), ("कि", "क"), ("Anna", "Anne")])
def test_different_names_stay_different(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@given(st.text())
def test_folding_again_changes_nothing(name: str) -> None:
    assert folded(folded(name)) == folded(name)


def test_a_name_stands_in_a_text_as_words_of_its_own() -> None:
    assert contains_any("Zoë, of all people", {"zoe"})
    assert contains_any("with O’Neill.", {"o'neill"})
    assert contains_any("(c++) is fine", {"c++"})
    assert not contains_any("Annabel", {"anna"})
    assert not contains_any("", {"anna"})
    assert not contains_any("Anna", set())
    assert not contains_any("Anna", {""})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("王伟喜欢喝茶。", "王伟"),
        ("昨日東京に行った", "東京"),
        ("민수는 차를 좋아한다", "민수"),
        ("คุณสมศรีชอบชา", "สมศรี"),
        # A name with capitals in a text that has no spaces.
        ("Annaは茶が好き。", "anna"),
        ("昨天Anna喝茶", "anna"),
        # What goes on in one place may stand alone in the next, even where the two overlap.
        ("ba a a", "a a"),
    ],
)
def test_a_name_stands_in_a_text_that_has_no_spaces(text: str, name: str) -> None:
    assert contains_any(text, {folded(name)})


@given(st.text("ab c_1", max_size=12), st.text("ab ", max_size=3))
def test_a_name_stands_where_no_letter_is_beside_it(text: str, name: str) -> None:
    bare, within = folded(name), folded(text)
    places = [at for at in range(len(within)) if bare and within.startswith(bare, at)]
    alone = [
        at for at in places if not any(side.isalnum() or side == "_" for side in _beside(within, at, bare))
    ]
    assert contains_any(text, {bare}) == bool(alone)


def _beside(text: str, at: int, name: str) -> str:
    return text[at - 1 : at] + text[at + len(name) : at + len(name) + 1]
