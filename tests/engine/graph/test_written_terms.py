"""Stems as the text that has them writes them."""

from memorata.engine.graph.communities import written


def test_a_stem_is_the_beginning_of_its_word() -> None:
    said = "Mira is allergic to walnuts; the appointment is in December."
    assert written(["allerg", "appoint", "decemb", "mira", "walnut"], said) == {
        "allerg": "allergic",
        "appoint": "appointment",
        "decemb": "December",
        "mira": "Mira",
        "walnut": "walnuts",
    }


def test_the_last_letter_of_a_stem_may_be_another() -> None:
    assert written(["happi", "citi"], "Happy in the city.") == {"happi": "Happy", "citi": "city"}


def test_a_word_belongs_to_the_longest_term_it_begins_with() -> None:
    assert written(["port", "porto"], "Porto has ports.") == {"port": "ports", "porto": "Porto"}


def test_the_most_frequent_word_is_taken_then_the_shortest_then_the_first() -> None:
    assert written(["prune"], "prunes pruned pruned")["prune"] == "pruned"
    assert written(["prune"], "prunes prune")["prune"] == "prune"
    assert written(["prune"], "prunes pruned")["prune"] == "pruned"


def test_what_the_text_does_not_have_is_left_out() -> None:
    assert written(["tea", "x"], "Coffee.") == {}
    assert written([], "Coffee.") == {}
    assert written(["tea"], "") == {}


def test_other_scripts_are_words_too() -> None:
    assert written(["ключ", "квартир"], "Ключи от квартиры") == {"ключ": "Ключи", "квартир": "квартиры"}
