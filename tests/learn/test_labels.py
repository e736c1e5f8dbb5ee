import math
from typing import Any

import pytest

from memorata.learn.labels import LEAST_PAIRS, labelled_pairs
from memorata.model.errors import InvalidArgument, NotEnoughData


def test_pairs_come_back_as_arrays() -> None:
    similar, labels = labelled_pairs([0.5, -1], [True, False], least=2)
    assert similar.tolist() == [0.5, -1.0]
    assert labels.tolist() == [True, False]


def test_five_rows_are_too_few_and_it_says_how_many_more() -> None:
    with pytest.raises(NotEnoughData, match=r"5 labelled pairs .* at least 20 .* 15 more") as caught:
        labelled_pairs([0.1, 0.2, 0.3, 0.4, 0.5], [True, False, True, False, True])
    assert (caught.value.found, caught.value.needed) == (5, LEAST_PAIRS)


@pytest.mark.parametrize(("label", "missing"), [(True, "not relevant"), (False, "relevant")])
def test_labels_of_one_kind_are_refused_naming_the_other(label: bool, missing: str) -> None:
    with pytest.raises(NotEnoughData, match=f"0 pairs labelled {missing} .* 1 more"):
        labelled_pairs([0.5] * 30, [label] * 30)


@pytest.mark.parametrize(
    ("similarity", "relevant", "least"),
    [
        ([0.5, math.nan], [True, False], 2),
        ([0.5, 1.1], [True, False], 2),
        ([0.5, 0.4], [1, 0], 2),
        ([0.5], [True, False], 2),
        ([0.5, 0.4], [True, False], 1),
        ("ab", [True, False], 2),
        ([0.5, 0.4], None, 2),
    ],
)
def test_what_is_no_pair_is_refused(similarity: Any, relevant: Any, least: Any) -> None:
    with pytest.raises(InvalidArgument):
        labelled_pairs(similarity, relevant, least=least)
