import pytest
import tokenizers

from memorata.model.errors import EmbedderError, ModelCorrupt
from memorata_models.tokens import LibraryTokeniser, piece_tokeniser


def test_special_tokens_surround_the_text(tiny_tokenizer: bytes) -> None:
    tokens = LibraryTokeniser(tiny_tokenizer)
    assert tokens.ids(["red blue", ""]) == [[2, 4, 6, 3], [2, 3]]
    assert tokens.special_count == 2


def test_a_static_model_reads_none(tiny_tokenizer: bytes) -> None:
    tokens = LibraryTokeniser(tiny_tokenizer, special=False)
    assert tokens.ids(["red blue", ""]) == [[4, 6], []]
    assert tokens.special_count == 0


def test_truncation_and_padding_of_the_file_are_ignored(tiny_tokenizer: bytes) -> None:
    assert b'"max_length":4' in tiny_tokenizer.replace(b" ", b"")
    assert LibraryTokeniser(tiny_tokenizer).ids(["red " * 9])[0] == [2, *[4] * 9, 3]


def test_silent_tokens_are_the_special_and_the_unknown(tiny_tokenizer: bytes) -> None:
    assert LibraryTokeniser(tiny_tokenizer).special_ids == {0, 1, 2, 3}


def test_a_text_is_cut_where_its_tokens_end(tiny_tokenizer: bytes) -> None:
    parts = LibraryTokeniser(tiny_tokenizer).cut("red  green\nblue red, what", size=2, overlap=1)
    assert parts == ["red  green", "green\nblue", "blue red,", "red, what"]


def test_a_pair_says_which_token_is_whose(tiny_pair_tokenizer: bytes) -> None:
    one, other = LibraryTokeniser(tiny_pair_tokenizer).pairs("red", ["green blue", ""])
    assert (one.ids, one.type_ids) == ([2, 4, 3, 5, 6, 3], [0, 0, 0, 1, 1, 1])
    assert (other.ids, other.type_ids) == ([2, 4, 3, 3], [0, 0, 0, 1])
    assert (len(one), len(other)) == (6, 4)


def test_passages_fit_with_whatever_stands_around_them(tiny_tokenizer: bytes) -> None:
    tokens = LibraryTokeniser(tiny_tokenizer)

    def read(parts: list[str]) -> list[list[int]]:
        return tokens.ids(["query " + part for part in parts])

    parts, rows = tokens.passages("red green blue red green", 4, 6, read)
    # [CLS] query … [SEP] leave three of six tokens, so that parts of four are cut once more.
    assert parts == ["red green", "blue red", "green"]
    assert rows == [[2, 7, 4, 5, 3], [2, 7, 6, 4, 3], [2, 7, 5, 3]]


def test_a_word_that_a_tokenizer_has_no_token_for_is_the_embedder_s_failure() -> None:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"red": 0}))
    tokens = LibraryTokeniser(words.to_str().encode())
    assert tokens.ids(["red"]) == [[0]]
    with pytest.raises(EmbedderError, match="the tokenizer could not read a text"):
        tokens.ids(["purple"])


def test_a_file_that_is_no_tokenizer_is_corrupt() -> None:
    for content in (b"{}", b"<html>", b"\xff"):
        with pytest.raises(ModelCorrupt, match="tokenizer cannot be read"):
            LibraryTokeniser(content)


def test_pieces_are_as_few_as_can_be_and_an_unknown_character_is_left_out() -> None:
    pieces = ["▁", "▁live", "▁li", "ve", "l", "我", "我的", "手机", "的"]
    tokens = piece_tokeniser("\n".join(pieces).encode())
    read = [[tokens.text(number) for number in row] for row in tokens.ids(["live, love", "我的龘手机"])]
    assert read[0][0] == "▁live"
    assert "ve" in read[0]
    assert [piece for piece in read[1] if piece in pieces] == ["▁", "我的", "手机"]
