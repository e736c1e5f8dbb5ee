"""Records: where they stand, and ids that stay."""

from memorata.exchange.record import Record, is_declaration, stable_id, text_id


def test_a_record_says_where_it_stands() -> None:
    assert Record(7).place == "line 7"
    assert Record(7, where="conversation 7").place == "conversation 7"


def test_ids_are_the_same_for_ever() -> None:
    assert stable_id("mem0", "1") == "6dad0119-150f-5ea3-bac6-2d816e7e9795"
    assert text_id("a.txt", {"content": "tea"}, 1) == "e0a6f0b8-c99e-5cf5-894d-27be6a22aec0"
    assert text_id("a.txt", {"content": "tea"}, 2) != text_id("a.txt", {"content": "tea"}, 1)


def test_a_memory_may_have_a_kind_without_being_a_declaration() -> None:
    assert is_declaration({"kind": "relation"})
    assert not is_declaration({"kind": "entity", "content": "x"})
    assert not is_declaration({"kind": "else"})
