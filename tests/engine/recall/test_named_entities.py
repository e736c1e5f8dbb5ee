from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import memorata
from memorata.engine.recall.query import RecallContext, named_terms, parse_query, possible_entities
from memorata.text import ANALYSERS

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
SNOWBALL = ANALYSERS["snowball"]


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        ("James?", {"james": ("jame",)}),
        ("Anna Keller", {"anna": ("anna",), "anna keller": ("anna", "keller"), "keller": ("keller",)}),
        # Neither begins nor ends with what the analyser leaves out, but may hold it.
        (
            "the bank of England",
            {"bank": ("bank",), "bank of england": ("bank", "england"), "england": ("england",)},
        ),
        ("What is it?", {}),
        ("", {}),
    ],
)
def test_runs_of_words_may_be_names(asked: str, runs: dict[str, tuple[str, ...]]) -> None:
    assert possible_entities(parse_query(asked, SNOWBALL), SNOWBALL) == runs


def test_a_name_has_at_most_four_words() -> None:
    runs = possible_entities(parse_query("alpha bravo charlie delta echo", SNOWBALL), SNOWBALL)
    assert "alpha bravo charlie delta" in runs
    assert "alpha bravo charlie delta echo" not in runs


def test_words_are_read_in_the_language_of_the_question() -> None:
    query = parse_query("¿Qué le gusta pintar a Carmen?", SNOWBALL)
    assert possible_entities(query, SNOWBALL)["carmen"] == ("carm",)


def test_terms_name_what_is_mentioned(context: Callable[..., RecallContext]) -> None:
    made = context(
        [
            {"content": "James paints", "entities": ["James"]},
            {"content": "a call", "entities": ["Anna Keller"]},
        ],
        "Does James, or Anna Keller, paint?",
    )
    query = replace(made.query, entities=possible_entities(made.query, SNOWBALL))
    terms = tuple(query.terms)
    assert named_terms(terms, query, made.view) == ["jame", "anna", "keller"]
    # Without the runs, only what is a term of its own or of an entity that stands not in the text.
    assert named_terms(terms, made.query, made.view) == ["anna", "keller"]


@pytest.mark.parametrize(
    ("rare", "common"), [("Anna", "Ben"), ("James", "Charles"), ("Anna Keller", "Ben Miles")]
)
def test_rare_names_weigh_more_whatever_their_form(rare: str, common: str) -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        for number in range(20):
            memory.remember(f"{common} had tea number {number}")
        memory.remember(f"Yesterday {rare} had tea")
        asked = f"tea {common} {rare}"
        plain, boosted = (
            memory.recall(asked, recipe={"base": "bm25", "entity_weight": weight}).hits
            for weight in (0.0, 3.4)
        )
    assert rare in plain[0].memory.content
    assert boosted[0].score > 10 * plain[0].score
    assert boosted[1].score == pytest.approx(plain[1].score)
