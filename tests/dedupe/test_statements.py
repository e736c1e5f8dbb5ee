"""Which texts may be one statement: looked up, against reading every pair."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.contradiction import contradiction
from memorata.dedupe.pairs import denial_pairs, paraphrase_keys, statement_pairs
from memorata.dedupe.wording import extends, same_statement, wording
from memorata.model.errors import InvalidArgument

TEMPLATES = st.builds(
    lambda *parts: " ".join(part for part in parts if part),
    st.sampled_from(["Note 1:", "note 2:", "Note 12", ""]),
    st.sampled_from(["Anna", "ANNA", "Bob"]),
    st.sampled_from(["", "really", "never", "just"]),
    st.sampled_from(["paid the bill", "paid bill", "paid the-bill", "lives in Rome", "moved to Paris"]),
    st.sampled_from(["", "on Monday", "on Monday evening", "until Monday", "2 3", "23", "!"]),
)


def slow(texts: list[str]) -> list[list[int]]:
    return [
        [a, b]
        for a, b in combinations(range(len(texts)), 2)
        if same_statement(texts[a], texts[b]) or extends(texts[a], texts[b]) or extends(texts[b], texts[a])
    ]


@given(st.lists(TEMPLATES | st.text(max_size=8), max_size=25))
def test_the_pairs_are_those_that_reading_every_pair_gives(texts: list[str]) -> None:
    assert statement_pairs(texts, largest=100).tolist() == slow(texts)


def test_texts_of_one_template_make_no_pairs_and_their_repeats_do() -> None:
    notes = [f"Note {number}: Anna paid the bill of the harbour cafe on Monday" for number in range(2_000)]
    repeats = [note.replace("paid", "really paid") for note in notes[::100]]
    assert statement_pairs(notes).size == 0
    assert statement_pairs(notes + repeats).tolist() == [[100 * place, 2_000 + place] for place in range(20)]


def test_of_one_statement_in_hundreds_of_dresses_each_has_a_few_neighbours() -> None:
    fillers = permutations(["really", "very", "just", "indeed", "also"], 4)
    dressed = [f"Anna {' '.join(each)} likes tea" for each in fillers]
    pairs = statement_pairs(dressed, largest=3)
    assert len(pairs) == 119 + 118 + 117
    further = [f"Anna likes tea with {name}" for name in ("milk", "honey")]
    more = statement_pairs([*dressed, *further], largest=3)
    assert len(more) == len(pairs) + 2 * 3


def test_reading_is_told() -> None:
    told: list[int] = []
    statement_pairs([f"Note {number}" for number in range(4_500)], progress=told.append)
    assert told == [0, 2_000, 4_000, 4_500]


@given(st.lists(st.tuples(TEMPLATES, st.booleans()), max_size=20))
def test_whatever_a_correction_denies_is_among_the_pairs(said: list[tuple[str, bool]]) -> None:
    texts = [text for text, _ in said]
    found = denial_pairs(texts, np.array([flag for _, flag in said], np.bool_)).tolist()
    assert found == sorted(found)
    assert all(a < b and (said[a][1] or said[b][1]) for a, b in found)
    for a, b in combinations(range(len(texts)), 2):
        denied = contradiction(texts[a], texts[b]) or contradiction(texts[b], texts[a])
        if denied and (said[a][1] or said[b][1]):
            assert [a, b] in found


def test_many_corrections_share_what_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    rents = [f"The rent is {number} euros" for number in range(300)]
    every = np.ones(300, np.bool_)
    assert len(denial_pairs(rents, every)) == 300 * 299 // 2
    with monkeypatch.context() as patched:
        patched.setattr("memorata.dedupe.pairs._MAX_GISTS", 900)
        assert len(denial_pairs(rents, every, largest=2)) == 299 + 298 + 297
    monkeypatch.setattr("memorata.dedupe.pairs._MAX_DENIALS", 300)
    # Each with the one before it and the one after it; the first and the last with two on one side.
    assert len(denial_pairs(rents, every, largest=2)) == 299 + 2


@given(st.lists(TEMPLATES, max_size=15))
def test_paraphrases_have_the_same_numbers_and_negation(texts: list[str]) -> None:
    keys = paraphrase_keys(texts).tolist()
    for a, b in combinations(range(len(texts)), 2):
        one, other = wording(texts[a]), wording(texts[b])
        same = sorted(one.numbers) == sorted(other.numbers) and one.negated == other.negated
        assert (keys[a] == keys[b]) == same


@pytest.mark.parametrize("bad", ["tea", [5], None])
def test_texts_are_texts(bad: Any) -> None:
    with pytest.raises(InvalidArgument, match="texts"):
        statement_pairs(bad)
    with pytest.raises(InvalidArgument, match="texts"):
        denial_pairs(bad, np.zeros(1, np.bool_))
    with pytest.raises(InvalidArgument, match="texts"):
        paraphrase_keys(bad)


def test_bad_bounds_and_flags_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="largest"):
        statement_pairs(["tea"], largest=1)
    with pytest.raises(InvalidArgument, match="largest"):
        denial_pairs(["tea"], np.zeros(1, np.bool_), largest=0)
    for flags in ([True], np.zeros(2, np.bool_), np.zeros(1)):
        with pytest.raises(InvalidArgument, match="denying"):
            denial_pairs(["tea"], flags)  # type: ignore[arg-type]
