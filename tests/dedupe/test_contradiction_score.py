"""What is another value of one thing, and what is another thing, in several languages."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.dedupe.claims import claims
from memorata.dedupe.contradiction import Cue, contradiction
from memorata.dedupe.contradiction_score import FEATURES, NOTED, assess, features
from memorata.dedupe.contradiction_signs import may_contradict, signs
from memorata.model.errors import InvalidArgument

CHANGES = [
    ("Anna lives in Rome", "Anna lives in Paris now"),
    ("The server is at 10.0.0.5", "The server is at 10.0.0.7"),
    ("My laptop has 16 GB of RAM", "My laptop has 32 GB of RAM"),
    ("Anna uses Vim", "Anna uses Zed now"),
    ("My boss is Karl", "My new boss is Petra"),
    ("Anna works at Google", "Anna works at Meta"),
    ("Anna has two children", "Anna has three children"),
    ("Anna is single", "Anna is married"),
    ("Anna is vegetarian", "Anna ate a steak"),
    ("Anna prefers tea", "Anna never drinks tea"),
    ("Anna loves olives", "Anna can't stand olives"),
    ("Anna likes crime novels", "Anna no longer likes crime novels"),
    ("Uta mag Regen", "Uta mag keinen Regen"),
    ("Uta wohnt in Bremen", "Uta ist nach Ulm gezogen"),
    ("Uta ist ledig", "Uta hat letzte Woche geheiratet"),
    ("Rocío vive en Lima", "Rocío se mudó a Cádiz"),
    ("Odile habite à Nancy", "Odile habite désormais à Lille"),
    ("Odile ne boit pas de café", "Odile prend trois cafés chaque matin"),
    ("赵敏住在杭州。", "赵敏搬到了昆明。"),
    ("王芳单身。", "王芳上周结婚了。"),
    ("Nora's son, Ben, plays the cello", "Ben gave up the cello"),
    ("I have read 40 pages of the novel", "I have read 80 pages of the novel now"),
    ("I have been learning Greek for 3 weeks", "I have been learning Greek for 5 weeks"),
    ("I tested the parser", "I have never tested the parser"),
    ("我学德语两年了。", "我学德语三年半了。"),
    ("何伟在一家医院当医师。", "何伟退休了。"),
    ("我是广东的", "我是福建的"),
    ("我在上学", "我工作了"),
    ("我来自河南", "我是河北的"),
]
"""Pairs of which the second, as a correction, takes the place of the first."""

OTHERS = [
    ("Anna lives in Rome", "Bob lives in Paris now"),
    ("Anna lives in Rome", "Anna visited Paris"),
    ("Anna lived in Rome as a student", "Anna lives in Paris now"),
    ("The printer is at 10.0.0.5", "The router is at 10.0.0.7"),
    ("The server is at 10.0.0.5", "The backup server is at 10.0.0.7"),
    ("My laptop has 16 GB of RAM", "My desktop has 32 GB of RAM"),
    ("Invoice 4711 costs 30 euros", "Invoice 4712 costs 40 euros"),
    ("My boss is Karl", "My boss is strict"),
    ("My sister lives in Rome", "My brother lives in Paris"),
    ("Anna has two children", "Anna has three dogs"),
    ("Anna has a cat", "Anna's cat is white"),
    ("Anna speaks French", "Anna speaks German"),
    ("Farid does not like football", "Farid's son plays football"),
    ("Uta spricht Polnisch", "Uta spricht Dänisch"),
    ("Sylvie fumait autrefois", "Sylvie ne fume plus"),
    ("刘洋有一个哥哥。", "刘洋有一个妹妹。"),
    ("Anna used to smoke", "Anna does not smoke any more"),
    ("I avoid planes due to the noise", "I dislike trains due to the crowds"),
    ("I avoid hotels that aren't quiet", "I avoid noisy hotels"),
    ("Mara studies law", "Mara's younger sister Ida studies music"),
    ("Lisa has not eaten figs", "Lisa eats bread"),
    ("We adopted a dog called Rex", "We had to cancel Rome, Rex is ill"),
    ("My favourite colour is blue", "My favourite film is Alien"),
    ("Our hotel has 40 rooms", "Our hotel has 40 lamps and 60 rooms"),
    ("我同事今年37岁。", "我同事的电话是13600000000。"),
    ("我是做推广的", "我在一家网店做推广"),
    ("我辞职了", "我同事在青岛工作"),
    ("我养猫两年了", "我现在养猫两年了"),
]

OPINIONS = [
    ("I prefer window seats", "I prefer short answers"),
    ("I like jazz", "I hate olives"),
    ("I avoid silicones", "I do not use silicones"),
    ("I prefer hotels", "I avoid hotels with a casino"),
    ("I avoid restaurants without a garden", "I like restaurants with a garden"),
    ("I strongly dislike spicy food", "I do not like spicy food"),
    ("I'm allergic to peanuts", "I cannot eat peanuts"),
    ("I follow a halal diet", "I am on a low-sodium diet"),
    ("I prefer vegetarian restaurants", "I like chicken soup"),
    ("Ich mag Kaffee", "Ich trinke lieber Tee"),
    ("Je préfère le train", "J'évite le sucre"),
]
"""Pairs that are both true: what is liked, preferred and avoided may be many things."""


@pytest.mark.parametrize(("older", "newer"), CHANGES)
def test_another_value_of_the_same_attribute_supersedes(older: str, newer: str) -> None:
    assert assess(older, newer).supersedes


@pytest.mark.parametrize(("older", "newer"), CHANGES)
def test_the_signs_of_both_do_not_rule_it_out(older: str, newer: str) -> None:
    assert contradiction(older, newer) is not None or may_contradict(signs(older), signs(newer))


@pytest.mark.parametrize(("older", "newer"), OTHERS)
def test_another_thing_and_another_subject_do_not(older: str, newer: str) -> None:
    assert not assess(older, newer).supersedes


@pytest.mark.parametrize(("older", "newer"), OPINIONS)
def test_opinions_of_other_things_are_not_noted(older: str, newer: str) -> None:
    assert assess(older, newer).score < NOTED
    assert assess(newer, older).score < NOTED


def test_pairs_labelled_by_hand_are_told_apart() -> None:
    lines = Path(__file__).with_name("labelled_contradictions.tsv").read_text("utf-8").splitlines()
    pairs = [line.split("\t") for line in lines]
    sure = [(label, assess(older, newer).supersedes) for label, older, newer in pairs]
    assert sure.count(("yes", True)) / sum(label == "yes" for label, _ in sure) >= 0.9
    assert sure.count(("yes", True)) / sum(found for _, found in sure) >= 0.95


@pytest.mark.parametrize(
    ("older", "newer", "cue", "reason"),
    [
        ("Uta ist Vegetarierin", "Uta hat ein Schnitzel gegessen", Cue.OPPOSITE, "denies a kind of thing"),
        ("Odile adore la neige", "Odile déteste la neige", Cue.OPPOSITE, "likes what the other dislikes"),
        ("Our standup is at 9:30", "Our standup is at 10:00", Cue.NUMBER, "the number differs"),
        ("Rocío vive en Lima", "Rocío vive ahora en Cádiz", Cue.CHANGE, "tells of a change"),
        ("Anna lives in Rome", "Anna lives in Paris", Cue.VALUE, "another residence"),
    ],
)
def test_a_hint_says_why(older: str, newer: str, cue: Cue, reason: str) -> None:
    hint = assess(older, newer).hint
    assert hint is not None
    assert hint.cue is cue
    assert reason in hint.reason


def test_the_speaker_is_who_says_i() -> None:
    pair = "Desmond lives in Leith", "I live in Portobello now"
    assert assess(*pair, speakers=("", "Desmond Achebe")).supersedes
    assert not assess(*pair, speakers=("", "Hanne Vik")).supersedes


def test_a_long_text_says_more_than_one_thing_and_is_not_superseded() -> None:
    more = "The weather is fine. We had soup. The train was late. Nobody called."
    assessment = assess(f"Anna lives in Rome. {more}", "Anna lives in Paris now")
    assert assessment.hint is not None
    assert not assessment.supersedes


def test_the_same_text_and_no_text_contradict_nothing() -> None:
    assert assess("Anna lives in Rome", "Anna lives in Rome").score == 0.0
    assert assess("", "Anna lives in Rome").score == 0.0
    with pytest.raises(InvalidArgument):
        assess(3, "tea")  # type: ignore[arg-type]


def test_code_and_questions_claim_nothing() -> None:
    told = claims("I use Flask. What is it? ```python\nanna = 3\n```")
    assert [clause.words[:3] for clause in told.clauses] == [("i", "use", "flask")]


WORDS = [
    "Anna", "Bob", "my", "I", "is", "lives", "in", "Rome", "Paris", "900", "never", "not", "now", "the",
    "has", "no", "3", "likes", "我", "住在", "不", "岁", ",", ".", "?",
]  # fmt: skip
texts = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join)


@given(texts, texts)
def test_any_texts_have_features_of_the_same_length_and_a_probability(older: str, newer: str) -> None:
    assert all(len(row) == len(FEATURES) for row in features(older, newer))
    assessment = assess(older, newer)
    assert 0.0 <= assessment.score <= 1.0
    assert (assessment.hint is not None) == (assessment.score >= NOTED)
