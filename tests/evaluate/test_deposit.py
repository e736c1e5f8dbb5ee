"""What the engine is given of a haystack: texts and times under ids of our own, and nothing else."""

from datetime import UTC, datetime

import pytest

from memorata.evaluate.collection import Document, Haystack, Question
from memorata.evaluate.deposit import UNDATED, deposit, text
from memorata.model.errors import InvalidArgument

MAY = datetime(2023, 5, 7, tzinfo=UTC)
JUNE = datetime(2023, 6, 1, tzinfo=UTC)
TURNS = (
    Document("gold-1", "I like tea.", when=MAY, speaker="Anna", session="answer-a", position=0),
    Document("gold-2", "I sail.", when=JUNE, speaker="Bob", session="answer-b", position=0),
    Document("gold-3", "Green tea.", when=MAY, speaker="Anna", session="answer-a", position=1),
    Document("gold-4", "A note."),
)
HAYSTACK = Haystack("h", TURNS, (Question("q", "tea?", relevant={"gold-1": 1.0}),))


def test_documents_become_memories_in_their_order() -> None:
    given = deposit(HAYSTACK)
    assert [memory.id for memory in given.memories] == ["m1", "m2", "m3", "m4"]
    assert [memory.source.session for memory in given.memories] == ["s1", "s2", "s1", ""]
    assert [memory.source.position for memory in given.memories] == [0, 0, 1, None]
    assert [memory.source.speaker for memory in given.memories] == ["Anna", "Bob", "Anna", ""]
    assert [memory.created_at for memory in given.memories] == [MAY, JUNE, MAY, UNDATED]


def test_the_way_back_is_known() -> None:
    given = deposit(HAYSTACK)
    assert given.documents == {"m1": "gold-1", "m2": "gold-2", "m3": "gold-3", "m4": "gold-4"}
    assert given.sessions == {"m1": "answer-a", "m2": "answer-b", "m3": "answer-a", "m4": ""}


def test_the_clock_stands_at_the_last_document() -> None:
    assert deposit(HAYSTACK).moment == JUNE
    assert deposit(Haystack("h", (Document("d", "x"),), ())).moment == UNDATED


def test_no_memory_holds_an_id_or_a_label_of_the_set() -> None:
    written = repr(deposit(HAYSTACK).memories)
    assert "gold" not in written
    assert "answer" not in written


def test_ids_that_occur_twice_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="haystack h must be documents with ids of their own"):
        deposit(Haystack("h", (Document("d", "x"), Document("d", "y")), ()))


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ("", "Rain fell.", "Rain fell."),
        ("Weather", "Rain fell.", "Weather\nRain fell."),
        ("rain", "Rain fell.", "Rain fell."),
        ("Weather", " ", "Weather"),
    ],
)
def test_a_title_is_read_with_the_text(title: str, body: str, expected: str) -> None:
    assert text(Document("d", body, title=title)) == expected
