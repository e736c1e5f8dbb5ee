from dataclasses import replace
from datetime import UTC, datetime
from time import process_time

import pytest

from memorata.engine.recall.query import parse_query
from memorata.engine.write.terms import terms_of
from memorata.model import Memory, Source
from memorata.text import ANALYSERS

SNOWBALL, PLAIN = ANALYSERS["snowball"], ANALYSERS["plain"]
SUNDAY = datetime(2023, 5, 7, tzinfo=UTC)


def test_each_field_has_its_own_words() -> None:
    memory = Memory(
        id="m1",
        content="Tea, tea and more teas",
        created_at=SUNDAY,
        tags=("hot drinks",),
        entities=("Anna Keller",),
        source=Source(speaker="Ben"),
    )
    words = terms_of(memory, SNOWBALL)
    assert words["content"] == {"tea": 3}
    assert words["tags"] == {"hot": 1, "drink": 1}
    assert words["entities"] == {"anna": 1, "keller": 1}
    assert words["names"] == {"anna keller": 1}
    assert words["speaker"] == {"ben": 1}
    assert {"7", "2023", "sunday"} <= set(words["dates"])


def test_a_name_is_one_term_however_it_is_spelt_and_its_words_are_not_counted_twice() -> None:
    memory = Memory(
        id="m1",
        content="Anna met José",
        created_at=SUNDAY,
        entities=("Anna", "José", "JOSE", "Ben Miles", "\u200b"),
    )
    words = terms_of(memory, PLAIN)
    assert words["names"] == {"anna": 1, "jose": 1, "ben miles": 1}
    assert words["entities"] == {"jose": 1, "ben": 1, "miles": 1}


def test_date_words_are_those_of_the_event() -> None:
    learnt_later = Memory(
        id="m1", content="the wedding", created_at=datetime(2024, 1, 1, tzinfo=UTC), valid_from=SUNDAY
    )
    assert terms_of(learnt_later, PLAIN)["dates"] == {"may": 1, "2023": 1, "sunday": 1}


def test_fields_that_are_empty_are_not_there() -> None:
    assert set(terms_of(Memory(id="m1", content="x", created_at=SUNDAY), PLAIN)) == {"content", "dates"}


@pytest.mark.parametrize(
    ("asked", "text", "phrases", "excluded"),
    [
        ("green tea", "green tea", (), ()),
        ('who said "green tea"?', "who said green tea ?", ("green tea",), ()),
        ("„grüner Tee“ oder «чай»", "grüner Tee oder чай", ("grüner Tee", "чай"), ()),
        ("tea -coffee -milk", "tea", (), ("coffe", "milk")),
        ("a well-known tea", "a well-known tea", (), ()),
        ('"x -y" tea', "x -y tea", ("x -y",), ()),
        ("cup -tea -team", "cup", (), ("tea", "team")),
        ('"x -tea" cup -tea', "x -tea cup", ("x -tea",), ("tea",)),
        ('"x"-tea', "x", ("x",), ("tea",)),
        ("-coffee", "", (), ("coffe",)),
        ("- tea", "- tea", (), ()),
        ('""', '""', (), ()),
        ("", "", (), ()),
        ('an open "quote', 'an open "quote', (), ()),
        ("“an open “quote” here", "“an open quote here", ("quote",), ()),
        ("««чай»", "« чай", ("чай",), ()),
        ("vad är ”grönt te”?", "vad är grönt te ?", ("grönt te",), ()),
        ("「東京」の『寿司』", "東京 の 寿司", ("東京", "寿司"), ()),
        ("“a” b “c”", "a b c", ("a", "c"), ()),
        ("an end” here", "an end” here", (), ()),
    ],
)
def test_reading_a_question(
    asked: str, text: str, phrases: tuple[str, ...], excluded: tuple[str, ...]
) -> None:
    question = parse_query(asked, SNOWBALL)
    assert (question.text, question.phrases, question.excluded) == (text, phrases, excluded)


@pytest.mark.parametrize("mark", ['"', "“", "«", "„", "”", "「", "『"])
def test_marks_that_nothing_closes_are_read_in_no_time(mark: str) -> None:
    started = process_time()
    question = parse_query(f"{mark}a " * 30_000, SNOWBALL)
    assert question.text.startswith((mark, "a a"))
    assert process_time() - started < 5


def test_an_excluded_word_is_not_looked_for() -> None:
    question = parse_query("coffee or tea -coffee", SNOWBALL)
    assert question.terms == {"tea": 1}


@pytest.mark.parametrize(
    ("asked", "memory", "term"),
    [
        ("Was trinkt Anna gern, ohne -Katzen", "Die Katzen trinken gern Milch.", "katz"),
        ("¿Qué le gusta a Ana, pero no las -flores?", "A Ana le gustan las flores.", "flor"),
        ("Są też żółte -kwiaty", "Są już kwiaty, żółte i różne.", "kwiat"),
        ("Что любит Анна -котами", "Анна пришла с котами.", "кот"),
    ],
)
def test_an_excluded_word_is_read_in_the_language_of_the_question(asked: str, memory: str, term: str) -> None:
    assert term in terms_of(Memory(id="m1", content=memory, created_at=SUNDAY), SNOWBALL)["content"]
    assert term in parse_query(asked, SNOWBALL).excluded


@pytest.mark.parametrize(
    ("asked", "text", "phrases", "terms", "together"),
    [
        ('tea -"green tea"', "tea", (), (), ("green tea",)),
        ("tea -„grüner Tee“ -«чай»", "tea", (), (), ("grüner Tee", "чай")),
        ('"black tea" -"green tea" -milk', "black tea", ("black tea",), ("milk",), ("green tea",)),
        ('-"green tea"', "", (), (), ("green tea",)),
        ('tea - "green tea"', "tea - green tea", ("green tea",), (), ()),
        ('tea-"green tea"', "tea- green tea", ("green tea",), (), ()),
        ('tea -" "', "tea -", (), (), ()),
        ('tea -"open', 'tea -"open', (), (), ()),
        ("battery -UAV-001, please", "battery please", (), (), ("UAV-001",)),
        ("news -tv -the -tea", "news", (), ("tea",), ()),
        ('news -"tv"', "news", (), (), ("tv",)),
        ("kubectl apply -f prod.yaml -n 7", "kubectl apply -f prod.yaml -n 7", (), (), ()),
        ("was it -15 or -40.5°C?", "was it -15 or -40.5°C?", (), (), ()),
        ("down -3,5%, then -7.", "down -3,5%, then -7.", (), (), ()),
        ("reports -2024 -v2", "reports", (), ("2024", "v2"), ()),
        ("喝什么 -茶", "喝什么", (), (), ("茶",)),
        ("cup -tea- -coffee…", "cup", (), ("tea", "coffe"), ()),
        ("code -C++", "code", (), (), ("C++",)),
        ("mail -anna@example.com.", "mail", (), (), ("anna@example.com",)),
        ("昼食 -回転寿司", "昼食", (), (), ("回転寿司",)),
        ("昼食 -寿司", "昼食", (), ("寿司",), ()),
        ("-UAV-1 -UAV-1", "", (), (), ("UAV-1",)),
    ],
)
def test_phrases_and_what_is_not_one_word_are_excluded_as_they_stand(
    asked: str, text: str, phrases: tuple[str, ...], terms: tuple[str, ...], together: tuple[str, ...]
) -> None:
    question = parse_query(asked, SNOWBALL)
    assert (question.text, question.phrases) == (text, phrases)
    assert (question.excluded, question.excluded_phrases) == (terms, together)


def test_words_that_no_list_has_are_told_for_they_exclude_nothing() -> None:
    assert parse_query("news -tv -the -tv, -tea", SNOWBALL).not_excluded == ("tv", "the")
    assert parse_query("rm -r -f", SNOWBALL).not_excluded == ()


def test_the_words_of_an_excluded_phrase_may_be_asked_for() -> None:
    assert parse_query('tea -"green tea"', SNOWBALL).terms == {"tea": 1}


def test_repeated_words_count_and_stop_words_do_not() -> None:
    question = parse_query("What is the tea, the tea?", SNOWBALL)
    assert question.terms == {"tea": 2}


@pytest.mark.parametrize("field", ["tags", "entities"])
def test_tags_and_names_are_found_in_the_language_of_the_content_and_by_themselves(field: str) -> None:
    german = {field: ("Katzen",), "content": "Minka schläft gern auf dem Sofa."}
    words = terms_of(Memory(id="m1", created_at=SUNDAY, **german), SNOWBALL)  # type: ignore[arg-type]
    assert words[field] == {"katz": 1, "katzen": 1}
    assert parse_query("Wo schläft die Katze?", SNOWBALL).terms.keys() & words[field].keys()
    english = {field: ("cats", "cat"), "content": "Minka sleeps on the sofa."}
    words = terms_of(Memory(id="m1", created_at=SUNDAY, **english), SNOWBALL)  # type: ignore[arg-type]
    assert words[field] == {"cat": 2}


@pytest.mark.parametrize(
    ("asked", "term"),
    [
        ("Katzen", "katz"),
        ("chevaux", "cheval"),
        ("flores", "flor"),
        ("kwiaty", "kwiaty"),
        ("Katzen -Hunde", "katz"),
    ],
)
def test_a_word_that_does_not_tell_its_language_is_also_read_in_others(asked: str, term: str) -> None:
    question = parse_query(asked, SNOWBALL)
    others = question.read_otherwise()
    assert term in others
    assert not others.keys() & {*question.terms, *question.excluded}


@pytest.mark.parametrize("asked", ["the Katzen", "Wo sind die Katzen?", "кошки", "", "Katzen " * 20, "12"])
def test_what_tells_its_language_or_is_long_is_read_once(asked: str) -> None:
    assert parse_query(asked, SNOWBALL).read_otherwise() == {}


def test_an_analyser_that_knows_its_language_reads_a_question_once() -> None:
    assert parse_query("Katzen", PLAIN).read_otherwise() == {}
    assert parse_query("Katzen", replace(SNOWBALL, language="english")).read_otherwise() == {}
