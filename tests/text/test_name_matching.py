"""Names that are words: where they name somebody, and where they do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.text.known_names import (
    NameMatcher,
    _edits,
    alias_of,
    is_also_word,
    may_mention,
    name_words,
)

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


def test_particles_initials_and_common_words_tell_of_nobody() -> None:
    assert name_words(["Ludwig van Beethoven"], "dutch") == {"ludwig", "beethoven"}
    assert name_words(["J. R. R. Tolkien", "JR"]) == {"tolkien"}
    assert name_words(["Will May"]) == frozenset()
    assert name_words([]) == frozenset()


def test_words_are_folded_and_parted_at_whatever_is_no_letter() -> None:
    assert name_words(["Anna-Zoë  O'BRIEN"]) == {"anna", "zoe", "brien"}
    assert name_words(["Анна Берг"], "russian") == {"анна", "берг"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where does BERG live?", ["Anna Berg"]),
        ("Is that Berg's bicycle?", ["Anna Berg"]),
        ("Was mag Álvarez?", ["Jose Alvarez"]),
        ("what about annie", ["Anna Berg", "Annie"]),
        ("Ella asked for tea, what else?", ["Ella Fitz"]),
        ("What was it that Will said?", ["Will"]),
    ],
)
def test_any_word_of_any_name_gives_somebody_away(text: str, names: list[str]) -> None:
    assert may_mention(text, names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where is the iceberg?", ["Anna Berg"]),
        ("¿Qué es lo que ella no come?", ["Ella Fitz"]),
        ("What will it be, and when?", ["Will Hart"]),
        ("What happened in May?", ["May Hart"]),
        ("What is it?", []),
        ("", ["Anna Berg"]),
    ],
)
def test_common_words_and_parts_of_words_do_not(text: str, names: list[str]) -> None:
    assert not may_mention(text, names)


def test_names_are_texts() -> None:
    with pytest.raises(InvalidArgument, match="names must be a list of strings"):
        name_words("Anna")
    with pytest.raises(InvalidArgument, match="text"):
        may_mention(5, ["Anna"])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="language"):
        name_words(["Anna"], "klingon")


@pytest.mark.parametrize(
    ("word", "names", "meant"),
    [
        ("Mel", ["Melanie", "Caroline"], "Melanie"),
        ("Jo", ["Joanna", "Nate"], "Joanna"),
        ("Ann", ["Anna", "Annette"], ""),  # either
        ("May", ["Maya"], ""),  # a month
        ("Pryia", ["Priya Raman"], "Priya"),
        ("Ramen", ["Priya Raman"], "Raman"),
        ("Carolin", ["Caroline"], "Caroline"),
        ("Bob", ["Rob"], ""),  # begins otherwise, and is short
        ("Elizabetta", ["Elisabeta"], "Elisabeta"),  # two letters of nine
        ("小明", ["小明明"], ""),
        ("", ["Anna"], ""),
    ],
)
def test_whom_a_nickname_or_a_misspelt_name_stands_for(word: str, names: list[str], meant: str) -> None:
    assert alias_of(word, names) == meant


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_edits_as_counted_by_trying(first: str, second: str) -> None:
    """Up to two edits, against all words that so many edits make."""

    def edited(word: str) -> set[str]:
        cut = [(word[:at], word[at:]) for at in range(len(word) + 1)]
        made = {a + b[1:] for a, b in cut if b} | {a + c + b for a, b in cut for c in "abc"}
        made |= {a + c + b[1:] for a, b in cut if b for c in "abc"}
        return made | {a + b[1] + b[0] + b[2:] for a, b in cut if len(b) > 1}

    if first == second:
        assert _edits(first, second) == 0
    elif second in edited(first):
        assert _edits(first, second) == 1
    else:
        assert _edits(first, second) >= 2
