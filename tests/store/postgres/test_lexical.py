"""Scores of some memories, and what each term adds to them."""

import numpy as np

from memorata.store.postgres.lexical import Scores
from memorata.store.postgres.store import PostgresStore
from memorata.store.samples import HERE, NOW, entry, found_ids, query


def test_totals_are_added_up_part_after_part() -> None:
    """In that order, to the last bit: the same sum in another order may be another number."""
    table = np.array([[0.1, 1.0], [0.2, 0.0], [0.3, 2.0]])
    scores = Scores(np.array([3, 7]), ("a", "b", "c"), table)
    assert scores.totals.tolist() == [0.1 + 0.2 + 0.3, 3.0]
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1


def test_details_are_those_of_the_slots_that_are_asked_for() -> None:
    scores = Scores(np.array([3, 7, 9]), ("a", "b"), np.array([[1.0, 2.0, 3.0], [0.0, 5.0, 0.0]]))
    found = scores.detail(np.array([9, 7]))
    assert (found.names, found.parts.tolist()) == (("a", "b"), [[3.0, 2.0], [0.0, 5.0]])
    assert found.scores.tolist() == [3.0, 7.0]


def test_nothing_asked_or_nothing_wanted_is_nothing_found(store: PostgresStore) -> None:
    store.add([entry("a", "tea")])
    with store.view(HERE, NOW) as view:
        assert view.lexical(query("tea"), 0).slots.size == 0
        assert view.lexical(query(), 5).slots.size == 0
        assert view.lexical(query("milk"), 5).slots.size == 0


def test_a_term_of_any_length_is_found(store: PostgresStore) -> None:
    """Long ones are listed under a digest, and are no others of the same beginning."""
    long = "x" * 100_000
    store.add([entry("a", long), entry("b", long + "y"), entry("c", long[:500]), entry("d", long[:501])])
    with store.view(HERE, NOW) as view:
        for term, id_ in ((long, "a"), (long + "y", "b"), (long[:500], "c"), (long[:501], "d")):
            assert found_ids(view, view.lexical(query(term), 5)) == [id_]
