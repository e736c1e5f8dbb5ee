from hypothesis import given
from hypothesis import strategies as st

from memorata.text.roots import ROOT, roots
from memorata.text.tokens import words


def test_forms_of_a_word_share_their_root() -> None:
    assert roots("люблю") == roots("любишь") == ["люб"]
    assert roots("я трону") == ["я", "тро"]


def test_other_scripts_have_none() -> None:
    assert roots("I like tea") == roots("お茶") == roots("") == []
    assert roots("чай Earl Grey") == ["чай"]


@given(st.text())
def test_a_root_begins_a_word_of_the_text(text: str) -> None:
    every = words(text)
    for root in roots(text):
        assert 1 <= len(root) <= ROOT
        assert any(word.startswith(root) for word in every)
