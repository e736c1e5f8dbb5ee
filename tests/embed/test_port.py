import pytest

from memorata.embed.port import Embedder, Prompts


def test_prompts_are_empty_unless_a_model_needs_them() -> None:
    assert Prompts() == Prompts(query="", document="")


def test_prompts_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Prompts().query = "query: "  # type: ignore[misc]


def test_something_without_the_names_is_no_embedder() -> None:
    assert not isinstance(object(), Embedder)
