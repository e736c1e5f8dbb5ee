"""A summary is made of what was said, in its order, without saying the same thing twice."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memorata.engine.consolidation import SentenceWriter, Writer, headed
from memorata.model.memory import Memory, Source


def memory(number: int, content: str, **fields: Any) -> Memory:
    return Memory(
        id=f"m{number}", content=content, created_at=datetime(2026, 5, number, tzinfo=UTC), **fields
    )


WRITER = SentenceWriter(lambda text: text.lower().replace(".", "").replace(",", "").split())


def test_the_central_sentences_are_taken_verbatim_and_in_order() -> None:
    week = [
        memory(3, "The queue moves to PostgreSQL. Lunch was late."),
        memory(1, "The job queue loses jobs on Redis."),
        memory(2, "Jobs of the queue could live in PostgreSQL."),
        memory(4, "It rained."),
    ]
    lines = WRITER.write(week, 3).splitlines()
    assert lines == [
        "- The job queue loses jobs on Redis.",
        "- Jobs of the queue could live in PostgreSQL.",
        "- The queue moves to PostgreSQL.",
    ]


def test_what_all_memories_say_tells_nothing() -> None:
    said = (
        "Wow, that is so nice, Anna.",
        "Wow. The ferry to Rotterdam leaves at nine.",
        "Wow, the ferry was late.",
    )
    week = [memory(day, text) for day, text in enumerate(said, 1)]
    common = dict.fromkeys(["wow", "that", "is", "so", "nice", "anna", "the", "was", "at"], 1_000)
    knowing = SentenceWriter(
        WRITER._tokens, lambda words: (1_000, {word: common.get(word, 3) for word in words})
    )
    assert knowing.write(week, 1) == "- The ferry to Rotterdam leaves at nine."


def test_the_same_sentence_is_taken_once() -> None:
    assert WRITER.write([memory(n, "Green tea.") for n in (1, 2, 3)], 3) == "- Green tea."


def test_who_said_it_is_told_and_what_is_endless_is_cut() -> None:
    told = WRITER.write([memory(1, "word " * 200, source=Source("Anna"))], 1)
    assert told.startswith("- Anna: word word")
    assert told.endswith("…")
    assert len(told) < 420


def test_a_text_of_marks_alone_is_still_something() -> None:
    assert WRITER.write([memory(1, "!!!"), memory(2, "???")], 1) in ("- !!!", "- ???")


def test_the_head_tells_how_many_and_when() -> None:
    assert (
        headed([memory(1, "a"), memory(3, "b")], "x")
        == "In short, 2 memories of 2026-05-01 to 2026-05-03:\nx"
    )


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_it_is_a_writer_and_keeps_to_the_limit(limit: int) -> None:
    assert isinstance(WRITER, Writer)
    assert (
        len(WRITER.write([memory(n, f"One {n}. Two {n}.") for n in range(1, 9)], limit).splitlines()) == limit
    )
