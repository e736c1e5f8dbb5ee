import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.folding import folded


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
