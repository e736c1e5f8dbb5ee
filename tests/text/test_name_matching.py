"""Names that are words: where they name somebody, and where they do not."""

import pytest

from memorata.text.name_matching import NameMatcher, is_also_word

NAMED = [
    ("May", "I met May yesterday."),
    ("May", "May likes tea."),
    ("May", "Dr. May is in."),
    ("Will", "Will drinks tea."),
    ("Will", "I saw Will at noon."),
    ("Will", "Yesterday Will came."),
    ("Will", "Will's tea is cold."),
    ("Will", "Anna and Will were here."),
    ("Mark", "Mark came late."),
    ("Mark", "Please mark it, Mark."),
    ("Rose", "She told Rose about it."),
    ("The Who", "We heard The Who in Leeds."),
    ("Will Hart", "will hart was here"),
    ("Anna", "anna likes tea"),
    ("Marigold", "In the evening marigold, of all people, sang."),
    ("李娜", "昨天李娜喝了茶。"),
]
ORDINARY = [
    ("May", "Bob moved to Lisbon in May."),
    ("May", "May I come in?"),
    ("May", "I may go."),
    ("May", "In MAY all was well."),
    ("May", "The May issue is out."),
    ("May", "It was on 3 May, at noon."),
    ("May", "We met on the evening of May 5."),
    ("Will", "Will you come?"),
    ("Will", "I will."),
    ("Will", "WILL YOU COME?"),
    ("Will", "Will always love you."),
    ("Will", "How Will We Ever Pay It?"),
    ("Will", "The Will was read."),
    ("Will", "Then Will Smith came by."),
    ("Mark", "Mark my words."),
    ("Mark", "Mark items as done."),
    ("Mark", "I will mark it."),
    ("Mark", "Das kostet zwei Mark, und das ist viel."),
    ("Rose", "The rose is red."),
    ("the", "The cat sat on the mat."),
    ("The Who", "I asked the who and the why."),
    ("Anna", "Hannah likes tea."),
]


@pytest.mark.parametrize(("name", "text"), NAMED)
def test_a_name_counts_where_somebody_is_named(name: str, text: str) -> None:
    assert NameMatcher([name]).matches(text)


@pytest.mark.parametrize(("name", "text"), ORDINARY)
def test_an_ordinary_word_names_nobody(name: str, text: str) -> None:
    assert not NameMatcher([name]).matches(text)


def test_all_names_of_somebody_count() -> None:
    matcher = NameMatcher(["Will", "Will Hart", "Willy"])
    assert matcher.also_words == {"will"}
    assert matcher.matches("willy was here")
    assert not matcher.matches("will it rain?")


@pytest.mark.parametrize("word", ["will", "may", "mark", "the", "nobody", "x", "apple", "der", "hola"])
def test_ordinary_words(word: str) -> None:
    assert is_also_word(word)


@pytest.mark.parametrize("name", ["anna", "kelpline", "marigold", "anna may", "", "李"])
def test_other_names(name: str) -> None:
    assert not is_also_word(name)
