"""Nothing that a text may repeat or contradict is missing among those that share its opening."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.openings import concern
from memorata.index.openings import Openings

WORDS = [
    "Anna",
    "Bob",
    "my",
    "dog",
    "likes",
    "doesn't",
    "like",
    "tea",
    "lives",
    "in",
    "Rome",
    "Paris",
    "the",
    "ok",
]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


def shared(known: Openings, text: str) -> list[int]:
    found = known.sharing(text)
    assert found is not None
    return sorted(int(slot) for slots in found for slot in slots)


def test_a_subject_or_the_first_letters_are_shared() -> None:
    known = Openings()
    known.add(["Anna likes tea", "my dog barks", None])
    known.add(["Annabel swims", "My dogs sleep"])
    assert len(known) == 5
    assert shared(known, "Anna lives in Rome") == [0]
    assert shared(known, "Our dog is called Rex") == [1, 4]
    assert shared(known, "The cat is called Rex") == []


def test_what_is_short_may_be_the_beginning_of_anything() -> None:
    known = Openings()
    known.add(["Go on", "Go", "No"])
    assert known.sharing("Yes") is None
    assert shared(known, "Went on to London, go") == []
    assert shared(known, "Go on to London") == [0, 1]


def test_a_slot_without_a_memory_is_shared_by_nobody() -> None:
    known = Openings()
    known.add([None, "", "!"])
    # A text without words is the beginning of none: nothing goes on from nothing.
    assert shared(known, "Anna likes tea") == []


@given(st.lists(st.none() | texts, max_size=12), texts, st.integers(0, 12))
def test_nothing_is_missed(said: list[str | None], new: str, cut: int) -> None:
    known = Openings()
    known.add(said[:cut])
    known.add(said[cut:])
    sharing = known.sharing(new)
    if sharing is None:
        return
    meant = {slot for slot, old in enumerate(said) if old is not None and concern(old, new)}
    assert meant <= set(np.concatenate(sharing).tolist())


@pytest.mark.parametrize("text", ["\ud83c half a pair of signs", "ёлка в лесу стоит"])
def test_any_letters_have_a_checksum(text: str) -> None:
    known = Openings()
    known.add([text])
    assert shared(known, text) == [0]
