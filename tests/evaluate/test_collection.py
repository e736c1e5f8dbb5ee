from memorata.evaluate.collection import opaque


def test_an_opaque_id_is_stable_and_tells_nothing_of_what_it_stands_for() -> None:
    assert opaque("session", "q1", "answer_1") == opaque("session", "q1", "answer_1")
    assert "answer" not in opaque("session", "q1", "answer_1")


def test_different_things_have_different_ids_even_when_their_parts_join_to_the_same_text() -> None:
    assert opaque("turn", "ab", "c") != opaque("turn", "a", "bc")
    assert opaque("turn", "a") != opaque("session", "a")
