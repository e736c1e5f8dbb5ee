import itertools

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from memorata.embed.tokens import Tokeniser, character_passages, piece_tokeniser, windows
from memorata.model.errors import EmbedderError, InvalidArgument, ModelCorrupt


def test_special_tokens_surround_the_text(tiny_tokenizer: bytes) -> None:
    tokens = Tokeniser(tiny_tokenizer)
    assert tokens.ids(["red blue", ""]) == [[2, 4, 6, 3], [2, 3]]
    assert tokens.special_count == 2


def test_a_static_model_reads_none(tiny_tokenizer: bytes) -> None:
    tokens = Tokeniser(tiny_tokenizer, special=False)
    assert tokens.ids(["red blue", ""]) == [[4, 6], []]
    assert tokens.special_count == 0


def test_truncation_and_padding_of_the_file_are_ignored(tiny_tokenizer: bytes) -> None:
    assert b'"max_length":4' in tiny_tokenizer.replace(b" ", b"")
    assert Tokeniser(tiny_tokenizer).ids(["red " * 9])[0] == [2, *[4] * 9, 3]


def test_silent_tokens_are_the_special_and_the_unknown(tiny_tokenizer: bytes) -> None:
    assert Tokeniser(tiny_tokenizer).special_ids == {0, 1, 2, 3}


def test_a_text_is_cut_where_its_tokens_end(tiny_tokenizer: bytes) -> None:
    parts = Tokeniser(tiny_tokenizer).cut("red  green\nblue red, what", size=2, overlap=1)
    assert parts == ["red  green", "green\nblue", "blue red,", "red, what"]


def test_a_pair_says_which_token_is_whose(tiny_pair_tokenizer: bytes) -> None:
    one, other = Tokeniser(tiny_pair_tokenizer).pairs("red", ["green blue", ""])
    assert (one.ids, one.type_ids) == ([2, 4, 3, 5, 6, 3], [0, 0, 0, 1, 1, 1])
    assert (other.ids, other.type_ids) == ([2, 4, 3, 3], [0, 0, 0, 1])
    assert (len(one), len(other)) == (6, 4)


def test_passages_fit_with_whatever_stands_around_them(tiny_tokenizer: bytes) -> None:
    tokens = Tokeniser(tiny_tokenizer)

    def read(parts: list[str]) -> list[list[int]]:
        return tokens.ids(["query " + part for part in parts])

    parts, rows = tokens.passages("red green blue red green", 4, 6, read)
    # [CLS] query … [SEP] leave three of six tokens, so that parts of four are cut once more.
    assert parts == ["red green", "blue red", "green"]
    assert rows == [[2, 7, 4, 5, 3], [2, 7, 6, 4, 3], [2, 7, 5, 3]]


def test_a_word_that_a_tokenizer_has_no_token_for_is_the_embedder_s_failure() -> None:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"red": 0}))
    tokens = Tokeniser(words.to_str().encode())
    assert tokens.ids(["red"]) == [[0]]
    with pytest.raises(EmbedderError, match="the tokenizer could not read a text"):
        tokens.ids(["purple"])


def test_a_file_that_is_no_tokenizer_is_corrupt() -> None:
    for content in (b"{}", b"<html>", b"\xff"):
        with pytest.raises(ModelCorrupt, match="tokenizer cannot be read"):
            Tokeniser(content)


def no_words() -> np.typing.NDArray[np.intp]:
    return np.array([], dtype=np.intp)


def test_without_word_boundaries_windows_are_full() -> None:
    assert windows(10, no_words(), size=4, overlap=2) == [(0, 4), (2, 6), (4, 8), (6, 10)]


def test_what_fits_is_one_window() -> None:
    assert windows(4, no_words(), size=4, overlap=2) == [(0, 4)]
    assert windows(0, no_words(), size=4, overlap=2) == []


def test_a_window_that_ends_where_a_word_begins_is_full() -> None:
    assert windows(10, np.arange(10), size=4, overlap=1) == [(0, 4), (3, 7), (6, 10)]


def test_a_word_start_too_near_the_beginning_would_waste_the_window() -> None:
    assert windows(8, np.array([0, 1]), size=6, overlap=0) == [(0, 6), (6, 8)]


@given(st.data(), st.integers(0, 200), st.integers(1, 30))
def test_windows_cover_everything_and_move_on(data: st.DataObject, count: int, size: int) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    starts = data.draw(st.sets(st.integers(0, max(0, count - 1))))
    found = windows(count, np.array(sorted(starts), dtype=np.intp), size, overlap)
    assert {unit for start, end in found for unit in range(start, end)} == set(range(count))
    assert all(0 < end - start <= size for start, end in found)
    for (start, end), (next_start, next_end) in itertools.pairwise(found):
        assert start < next_start <= end < next_end
        assert end - next_start <= overlap


@given(st.text(alphabet="ab \n", max_size=300), st.integers(2, 40))
def test_every_character_is_in_a_passage(text: str, size: int) -> None:
    found = character_passages(text, size, size // 4)
    assert all(len(passage) <= size for passage in found)
    position = 0
    for passage in found:
        # Each passage begins at or before where the text was last read to.
        at = next(start for start in range(position, -1, -1) if text.startswith(passage, start))
        position = max(position, at + len(passage))
    assert position == len(text)


def test_cuts_fall_between_words() -> None:
    text = " ".join(["word"] * 100)
    for passage in character_passages(text, 33, 10):
        assert set(passage.split()) == {"word"}


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (4, 3), (4, -1), (1.5, 0)])
def test_impossible_windows_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InvalidArgument):
        windows(10, no_words(), size, overlap)


def test_pieces_are_as_few_as_can_be_and_an_unknown_character_is_left_out() -> None:
    pieces = ["▁", "▁live", "▁li", "ve", "l", "我", "我的", "手机", "的"]
    tokens = piece_tokeniser("\n".join(pieces).encode())
    read = [[tokens.text(number) for number in row] for row in tokens.ids(["live, love", "我的龘手机"])]
    assert read[0][0] == "▁live"
    assert "ve" in read[0]
    assert [piece for piece in read[1] if piece in pieces] == ["▁", "我的", "手机"]
