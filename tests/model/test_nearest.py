"""The name somebody may have meant."""

from memorata.model.nearest import nearest


def test_the_likeliest_name_is_asked_about() -> None:
    assert nearest("vektor", ["words", "vectors", "vector"]) == " (did you mean vector?)"


def test_nothing_is_asked_where_nothing_is_alike() -> None:
    assert nearest("qqq", ["words", "vector"]) == ""
    assert nearest("qqq", []) == ""
