import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.folding import folded, stands_in


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
    assert stands_in("Zoë, of all people", {"zoe"})
    assert stands_in("with O’Neill.", {"o'neill"})
    assert stands_in("(c++) is fine", {"c++"})
    assert not stands_in("Annabel", {"anna"})
    assert not stands_in("", {"anna"})
    assert not stands_in("Anna", set())
    assert not stands_in("Anna", {""})
