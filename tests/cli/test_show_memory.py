"""How a memory looks in a few words."""

from datetime import UTC, datetime

from memorata.cli.show_memory import byline, details, embedder_name, plain_line, short_id
from memorata.model.memory import Memory, Source
from memorata.model.place import Place

DAY = datetime(2026, 5, 7, 18, 30, tzinfo=UTC)


def test_the_byline_says_who_what_when_and_which() -> None:
    memory = Memory(id="m1", content="x", created_at=DAY, tags=("tea",), source=Source(speaker="A\x1bnna"))
    assert byline(memory) == "A\\x1bnna · fact · 7 May 2026 · #tea · id m1"
    assert byline(memory, dated=False) == "A\\x1bnna · fact · #tea · id m1"


def test_a_line_for_a_pipe_never_breaks() -> None:
    memory = Memory(id="m1", content="one\ntwo\tthree\r\x85four", created_at=DAY)
    assert plain_line(memory) == "m1\t2026-05-07\tone two three four"


def test_only_a_uuid_is_shortened() -> None:
    assert short_id("01a1e116-a535-77da-93a8-87dda5a72137") == "87dda5a72137"
    assert short_id("chat-2026-05-07-0001") == "chat-2026-05-07-0001"


def test_details_leave_out_what_is_not_set() -> None:
    plain = dict(details(Memory(id="m1", content="x", created_at=DAY), ""))
    assert plain["learnt"] == "2026-05-07 18:30 UTC"
    assert not {"tags", "place", "replaces", "position"} & set(plain)
    placed = Memory(
        id="m1", content="x", created_at=DAY, place=Place(1, 2, "Here"), source=Source(position=0)
    )
    shown = dict(details(placed, "forgotten"))
    assert (shown["place"], shown["position"], shown["state"]) == ("1, 2 Here", "0", "forgotten")


def test_without_an_embedder_it_says_so() -> None:
    assert embedder_name("") == "none, words only"
