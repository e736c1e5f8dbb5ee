import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.text.capitalised_names import capitalised_names, quoted_titles


def found(text: str, language: str = "english") -> list[str]:
    return [text[start:end] for start, end in capitalised_names(text, language)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I met Anna Keller and Ben", ["Anna Keller", "Ben"]),
        ("the Bank of England said", ["Bank of England"]),
        ("the Lord of the Rings", ["Lord of the Rings"]),
        ("painted by van Gogh", ["van Gogh"]),
        ("by Ludwig van Beethoven", ["Ludwig van Beethoven"]),
        ("the van Anna drove", ["Anna"]),
        ("by J. R. R. Tolkien", ["J. R. R. Tolkien"]),
        ("for Johnson & Johnson", ["Johnson & Johnson"]),
        ("with Jean-Luc O'Neill", ["Jean-Luc O'Neill"]),
        ("my friend Anna's Toyota", ["Anna", "Toyota"]),
        ("dear Dr. Smith", ["Smith"]),
        ("The Beatles and The Doors", ["Beatles", "Doors"]),
        ("in Paris, Texas", ["Paris", "Texas"]),
        ("on Monday Anna left", ["Anna"]),
        ("on Monday and in May", []),
        ("a Berlin-based firm", ["Berlin"]),
        ("New York is big", ["New York"]),
        ("Visited Rome", ["Rome"]),
        ("for the US Navy", ["US Navy"]),
    ],
)
def test_runs_of_capitals(text: str, names: list[str]) -> None:
    assert found(text) == names


def test_a_long_run_is_read_in_one_go() -> None:
    assert found("we saw " + "May " * 5_000) == []
    assert len(found("we saw " + "Anna " * 5_000)) == 1


def test_capitals_everywhere_say_nothing() -> None:
    assert found("WE ARE IN PARIS NOW") == []
    assert found("How To Live In Paris With A Cat") == []


def test_particles_are_prepositions_in_their_own_language() -> None:
    assert found("de hoofdstad van Nederland", "dutch") == ["Nederland"]
    assert found("la capital de Francia", "spanish") == ["Francia"]


def test_measures_are_no_names_in_german() -> None:
    assert found("ich trinke eine Tasse Kaffee", "german") == []
    assert found("ich sah Angela Merkel", "german") == ["Angela Merkel"]


@given(st.text(alphabet="Aa.'’-& \n“”Ωя", max_size=60), st.sampled_from(["english", "german", "none"]))
def test_spans_hold_letters(text: str, language: str) -> None:
    for start, end in capitalised_names(text, language):
        assert 0 <= start < end <= len(text)
        assert any(map(str.isalpha, text[start:end]))


def titles(text: str) -> list[str]:
    return [text[start:end] for start, end in quoted_titles(text)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('read "War and Peace" now', "War and Peace"),
        ("les «Trois Mousquetaires»", "Trois Mousquetaires"),
        ("das Lied „Alle Vögel“", "Alle Vögel"),
        ("看了「進撃の巨人」", "進撃の巨人"),
        ("读《红楼梦》", "红楼梦"),
        ("«שלום»", "שלום"),
        ("«ვეფხი»", "ვეფხი"),
        ("「ﺏﺏ」", "ﺏﺏ"),
        ("「豈豈」", "豈豈"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert titles(text) == [title]


@pytest.mark.parametrize(
    "text",
    [
        'she said "Come in."',
        'the "best" one',
        'a "Very interesting Day"',
        "他说「我不去了，谢谢」",
        '""',
        '"  "',
        "«тест»",
        "「ｆｆ」",
    ],
)
def test_what_people_say_is_no_title(text: str) -> None:
    assert titles(text) == []
