"""Answers stay within their budget, show whole memories, and say what was left out."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from memorata.engine.recall.recaller import tokens
from memorata.mcp.answers import LEAST_BUDGET, Row, memory_row, plain, told, whole
from memorata.mcp.delimited import row
from memorata.model.memory import Memory, Source

WHEN = datetime(2026, 5, 7, 18, 30, tzinfo=UTC)


def rows(*sizes: int, id_: str = "m") -> list[Row]:
    ids = [f"{id_}{number}" for number in range(len(sizes))]
    return [Row(row({"id": id, "content": "x" * size}), id) for id, size in zip(ids, sizes, strict=True)]


@given(st.lists(st.integers(0, 3_000), max_size=60), st.integers(LEAST_BUDGET, 5_000), st.integers(1, 120))
def test_an_answer_stays_within_its_budget_and_counts_everything(
    sizes: list[int], budget: int, length: int
) -> None:
    given_rows = rows(*sizes, id_="é" * length)
    said = told(f"{len(sizes)} memories.", given_rows, budget).text
    assert tokens(said) <= budget
    shown = [each for each in given_rows if f"\n{each.text}\n" in said]
    left_out = [line for line in said.splitlines() if "left out to stay within" in line]
    missing = len(sizes) - len(shown)
    assert (left_out == []) == (missing == 0)
    if missing:
        assert left_out[0].split()[0] == str(missing)


def test_a_long_memory_does_not_hide_the_short_ones_and_is_named() -> None:
    said = told("3 memories.", rows(9_000, 3, 4), 400).text.splitlines()
    assert said[1] == "1 was left out to stay within 400 tokens: ask with a larger budget, or more narrowly."
    assert json.loads(said[4]) == {"id": "m1", "content": "xxx"}
    assert json.loads(said[-2])["left_out"][0]["id"] == "m0"


def test_without_rows_there_are_only_our_words() -> None:
    assert told("Nothing.", [], 200).text == "Nothing."
    assert plain("Done.").text == "Done."


def test_one_memory_is_shown_whole_whatever_it_costs() -> None:
    assert "x" * 200_000 in whole("One memory.", rows(200_000)).text


def test_a_memory_is_told_with_what_is_known_of_it() -> None:
    memory = Memory(
        id="m1",
        content="Anna likes tea",
        created_at=WHEN,
        tags=("drinks",),
        source=Source(speaker="Anna", session="s1"),
    )
    assert json.loads(memory_row(memory, 0.123456).text) == {
        "id": "m1",
        "content": "Anna likes tea",
        "when": "2026-05-07T18:30+00:00",
        "category": "fact",
        "tags": ["drinks"],
        "speaker": "Anna",
        "session": "s1",
        "score": 0.1235,
    }


def test_the_least_budget_has_room_for_a_sentence() -> None:
    tea = Row(row({"id": "0" * 36, "content": "Anna prefers green tea"}))
    assert "green tea" in told("1 memory.", [tea], LEAST_BUDGET).text
