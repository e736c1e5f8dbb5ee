"""The words that a name can be told by, alone."""

import pytest

from memorata.model.errors import InvalidArgument
from memorata.text.name_words import may_name, name_words


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
    assert may_name(text, names)


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
    assert not may_name(text, names)


def test_names_are_texts() -> None:
    with pytest.raises(InvalidArgument, match="names must be a list of strings"):
        name_words("Anna")
    with pytest.raises(InvalidArgument, match="text"):
        may_name(5, ["Anna"])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="language"):
        name_words(["Anna"], "klingon")
