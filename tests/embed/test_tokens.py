import pytest

from recollect.embed.tokens import Tokens
from recollect.model.errors import ModelCorrupt


def test_special_tokens_surround_the_text(tiny_tokenizer: bytes) -> None:
    tokens = Tokens(tiny_tokenizer)
    assert tokens.numbers(["red blue", ""]) == [[2, 4, 6, 3], [2, 3]]
    assert tokens.special_count == 2


def test_a_static_model_reads_none(tiny_tokenizer: bytes) -> None:
    tokens = Tokens(tiny_tokenizer, special=False)
    assert tokens.numbers(["red blue", ""]) == [[4, 6], []]
    assert tokens.special_count == 0


def test_truncation_and_padding_of_the_file_are_ignored(tiny_tokenizer: bytes) -> None:
    assert b'"max_length":4' in tiny_tokenizer.replace(b" ", b"")
    assert Tokens(tiny_tokenizer).numbers(["red " * 9])[0] == [2, *[4] * 9, 3]


def test_silent_tokens_are_the_special_and_the_unknown(tiny_tokenizer: bytes) -> None:
    assert Tokens(tiny_tokenizer).silent() == {0, 1, 2, 3}


def test_a_text_is_cut_where_its_tokens_end(tiny_tokenizer: bytes) -> None:
    parts = Tokens(tiny_tokenizer).cut("red  green\nblue red, what", size=2, overlap=1)
    assert parts == ["red  green", "green\nblue", "blue red,", "red, what"]


def test_a_file_that_is_no_tokenizer_is_corrupt() -> None:
    for content in (b"{}", b"<html>", b"\xff"):
        with pytest.raises(ModelCorrupt, match="tokenizer cannot be read"):
            Tokens(content)
