"""The closed lists of words."""

from memorata.dedupe import cue_words
from memorata.dedupe.fingerprint import folded


def test_every_word_is_in_the_form_in_which_it_is_looked_for() -> None:
    lists = [value for name, value in vars(cue_words).items() if name.isupper() and not name.startswith("_")]
    words = [word for each in lists for word in each]
    assert len(words) > 500
    assert [word for word in words if folded(word) != word and word != "ß"] == []
    assert [word for word in words if "ё" in word or " " in word] == []


def test_fillers_carry_no_claim() -> None:
    claimed = cue_words.FILLERS - cue_words.LIGHT
    assert claimed == {"просто", "именно"}


def test_opposites_go_both_ways() -> None:
    for word, against in cue_words.OPPOSITES.items():
        assert word not in against
        assert all(word in cue_words.OPPOSITES[other] for other in against)
