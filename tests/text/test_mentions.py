import pytest

from memorata.model import InvalidArgument
from memorata.text.entities import RuleExtractor
from memorata.text.mentions import EntityExtractor, Extraction, Mention, apart


def test_a_mention_is_as_long_as_its_span() -> None:
    assert Mention("Anna", "name", 3, 7).end == 7
    with pytest.raises(InvalidArgument, match=r"end must be start \+ the length of the text \(4\), got 8"):
        Mention("Anna", "name", 3, 8)


def test_a_kind_is_one_of_the_list() -> None:
    with pytest.raises(InvalidArgument, match="kind must be one of"):
        Mention("Anna", "lady", 0, 4)


def test_nothing_read_is_nothing_and_no_failure() -> None:
    assert Extraction() == Extraction((), (), "")


def test_the_longest_find_stays_and_of_equals_the_first() -> None:
    found = apart("Anna Keller ran", [(5, 11, "name"), (12, 15, "known"), (12, 15, "name"), (0, 11, "name")])
    assert [(mention.text, mention.kind) for mention in found] == [("Anna Keller", "name"), ("ran", "known")]


def test_the_rules_are_an_extractor() -> None:
    assert isinstance(RuleExtractor(), EntityExtractor)
