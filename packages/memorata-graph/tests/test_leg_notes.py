import numpy as np

from memorata.index.candidates import NO_CANDIDATES
from memorata_graph.legs import leg_detail


def test_notes_are_told_for_the_slots_asked_about_and_no_others() -> None:
    detail = leg_detail({1: {"a": 0.5, "b": 0.25}, 2: {"b": 1.0}, 3: {"c": 2.0}})
    told = detail(np.array([2, 1]))
    assert told.names == ("b", "a")
    assert told.scores.tolist() == [1.0, 0.75]


def test_nothing_is_nothing() -> None:
    assert NO_CANDIDATES.slots.size == NO_CANDIDATES.scores.size == 0
