"""Words of a clause: their roots, and numbers of Chinese with what they count."""

import pytest

from memorata.dedupe.claim_tokens import claim_root, tokens_in
from memorata.dedupe.claims import claims


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("一年半", "1.5 年"),
        ("半年多", "0.5 年"),
        ("二十四岁", "24 岁"),
        ("三个月", "3 个月"),
        ("每星期一天", "每星期 1 天"),
        ("星期一", "星期一"),
        ("第一次", "第 一 次"),
        ("三年级", "三 年 级"),
    ],
)
def test_a_number_of_chinese_is_read_with_what_it_counts(text: str, words: str) -> None:
    assert " ".join(token.text for token in tokens_in(text)) == words


@pytest.mark.parametrize(
    "forms", ["citation citations", "need needs", "implement implements implemented implementing"]
)
def test_forms_of_a_word_have_one_root(forms: str) -> None:
    assert len({claim_root(form) for form in forms.split()}) == 1


def test_a_pronoun_is_whom_the_clause_before_is_about() -> None:
    first, second = claims("Hanne's mill was flooded; she is working from home.").clauses
    assert first.subject == second.subject == "hanne"


def test_what_claims_nothing_is_left_out() -> None:
    (clause,) = claims("Oh! By the way, Anna has moved with all of her many books to Rome. Yes.").clauses
    assert clause.subject == "anna"


def test_what_is_done_in_chinese_is_no_subject() -> None:
    assert claims("写了半年多了").clauses[0].subject == ""


def test_who_notes_what_ended_is_the_speaker() -> None:
    assert claims("Sold the car to Anna", "Bea Roth").clauses[0].subject == "bea"


def test_a_place_alone_is_where_somebody_is_from() -> None:
    assert claims("安徽，你呢？").clauses[0].attributes == {"origin"}
    assert "origin" not in claims("我在安徽").clauses[0].attributes
